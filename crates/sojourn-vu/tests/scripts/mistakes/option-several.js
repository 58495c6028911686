// Row: mistakes: options: several at once
export const options = {
  scenarios: { a: { executor: 'constant-vus' }, b: { executor: 'ramping-vus', startTime: '-1s' } },
};

export default function () {}
