// Row: mistakes: options: iterations and scenarios
export const options = { iterations: 1, scenarios: { a: { executor: 'per-vu-iterations' } } };

export default function () {}
