// Row: 8.3 undefined is as good as absent; a tag and a variable are empty
export const options = {
  tags: { a: undefined, b: null },
  iterations: undefined,
  hosts: { nowhere: undefined },
  thresholds: { iterations: undefined },
  scenarios: {
    all: {
      executor: 'per-vu-iterations',
      vus: undefined,
      tags: { c: undefined, d: null },
      env: { E: undefined, F: null },
    },
  },
};

export default function () {
  console.log(JSON.stringify([__ENV.E, __ENV.F]));
}
