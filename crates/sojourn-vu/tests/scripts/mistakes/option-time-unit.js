// Row: mistakes: options: a unit that is none
export const options = { summaryTimeUnit: 'minutes' };

export default function () {}
