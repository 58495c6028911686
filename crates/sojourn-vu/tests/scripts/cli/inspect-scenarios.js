// Row: 8.11 inspect --execution-requirements of several scenarios
// Command: inspect
// Args: --execution-requirements
export const options = {
  scenarios: {
    ramp: {
      executor: 'ramping-vus',
      stages: [
        { duration: '10s', target: 20 },
        { duration: '5s', target: 0 },
      ],
    },
    rate: {
      executor: 'constant-arrival-rate',
      rate: 5,
      duration: '20s',
      preAllocatedVUs: 4,
      maxVUs: 9,
      startTime: '12s',
    },
    each: {
      executor: 'per-vu-iterations',
      vus: 7,
      iterations: 2,
      maxDuration: '30s',
      gracefulStop: '3s',
    },
  },
};

export default function () {}
