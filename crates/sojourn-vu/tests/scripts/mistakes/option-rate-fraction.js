// Row: mistakes: options: a fraction of a rate
export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', duration: '1s', rate: 0.5, preAllocatedVUs: 1 },
  },
};

export default function () {}
