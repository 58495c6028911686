// Row: mistakes: options: maxVUs below preAllocatedVUs
export const options = {
  scenarios: {
    a: {
      executor: 'constant-arrival-rate',
      duration: '1s',
      rate: 1,
      preAllocatedVUs: 5,
      maxVUs: 2,
    },
  },
};

export default function () {}
