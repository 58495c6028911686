// Row: 8.3 ramping-arrival-rate: the integral of the rate says how many
export const options = {
  scenarios: {
    all: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      timeUnit: '1s',
      preAllocatedVUs: 5,
      stages: [
        { duration: '2s', target: 40 },
        { duration: '1s', target: 40 },
        { duration: '0s', target: 10 },
        { duration: '1s', target: 0 },
      ],
    },
  },
  thresholds: { iterations: ['count>=84', 'count<=86'] },
};

export default function () {}
