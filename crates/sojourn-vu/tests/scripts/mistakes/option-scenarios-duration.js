// Row: mistakes: options: duration and scenarios
export const options = { duration: '1s', scenarios: { a: { executor: 'per-vu-iterations' } } };

export default function () {}
