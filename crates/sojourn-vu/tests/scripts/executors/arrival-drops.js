// Row: 8.3 constant-arrival-rate without enough users: dropped iterations and one warning
import { sleep } from 'k6';

export const options = {
  scenarios: {
    all: {
      executor: 'constant-arrival-rate',
      rate: 10,
      duration: '1s',
      preAllocatedVUs: 2,
      gracefulStop: '3s',
    },
  },
  thresholds: { iterations: ['count==2'], dropped_iterations: ['count>=8', 'count<=9'] },
};

export default function () {
  sleep(2);
}
