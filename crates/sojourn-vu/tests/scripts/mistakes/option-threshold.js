// Row: mistakes: options: a threshold that does not parse
export const options = { thresholds: { iterations: ['count is 1'] } };

export default function () {}
