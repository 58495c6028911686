// Row: mistakes: options: a threshold of no metric
export const options = { thresholds: { nobody: ['count>1'] } };

export default function () {}
