// Row: mistakes: options: an executor that is none
export const options = { scenarios: { a: { executor: 'ramping' } } };

export default function () {}
