// Row: 8.3 --no-thresholds
// Args: --no-thresholds
export const options = { thresholds: { iterations: ['count>100'], unknown_metric: ['rate>1'] } };

export default function () {}
