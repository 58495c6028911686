// Row: mistakes: options: no stages
export const options = { scenarios: { a: { executor: 'ramping-vus' } } };

export default function () {}
