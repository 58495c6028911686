// Row: mistakes: options: no preAllocatedVUs
export const options = {
  scenarios: { a: { executor: 'constant-arrival-rate', duration: '1s', rate: 1 } },
};

export default function () {}
