// Row: mistakes: exec names a function that is not there: exit code 104
export const options = { scenarios: { one: { executor: 'per-vu-iterations', exec: 'nobody' } } };

export default function () {}
