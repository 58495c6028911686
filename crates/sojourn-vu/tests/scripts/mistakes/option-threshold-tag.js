// Row: mistakes: options: a tag without a value
export const options = { thresholds: { 'iterations{a}': ['count>0'] } };

export default function () {}
