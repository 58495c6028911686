// Row: mistakes: options: a brace that is left open
export const options = { thresholds: { 'iterations{a:b': ['count>0'] } };

export default function () {}
