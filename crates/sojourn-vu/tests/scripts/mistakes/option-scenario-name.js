// Row: mistakes: options: a name of a scenario
export const options = { scenarios: { 'a b': { executor: 'per-vu-iterations' } } };

export default function () {}
