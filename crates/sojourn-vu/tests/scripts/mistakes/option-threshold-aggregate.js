// Row: mistakes: options: an aggregate of another type
export const options = { thresholds: { iterations: ['p(95)<1'] } };

export default function () {}
