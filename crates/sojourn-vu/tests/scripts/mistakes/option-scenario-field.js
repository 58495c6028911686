// Row: mistakes: options: an unknown field of a scenario
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vu: 1 } } };

export default function () {}
