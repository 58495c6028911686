// Row: mistakes: options: a text instead of a list
export const options = { thresholds: { iterations: 'count>1' } };

export default function () {}
