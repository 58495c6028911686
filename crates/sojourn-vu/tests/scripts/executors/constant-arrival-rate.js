// Row: 8.3 constant-arrival-rate
// Args: --no-color
export const options = {
  scenarios: {
    all: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '2s',
      preAllocatedVUs: 5,
    },
  },
  thresholds: { iterations: ['count>=100', 'count<=101'] },
};

export default function () {}
