// Row: mistakes: options: a number instead of a text
export const options = { thresholds: { iterations: [5] } };

export default function () {}
