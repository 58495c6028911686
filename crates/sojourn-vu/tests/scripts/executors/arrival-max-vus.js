// Row: 8.3 maxVUs: users are made when they are missing
import { sleep } from 'k6';

export const options = {
  scenarios: {
    all: {
      executor: 'constant-arrival-rate',
      rate: 20,
      duration: '1s',
      preAllocatedVUs: 1,
      maxVUs: 8,
      gracefulStop: '3s',
    },
  },
  thresholds: { vus_max: ['value==8'] },
};

export default function () {
  sleep(2);
}
