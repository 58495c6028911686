// Row: 8.3 externally-controlled (v1 only)
// Binary: k6-v1
import { sleep } from 'k6';

export const options = {
  scenarios: { all: { executor: 'externally-controlled', vus: 2, maxVUs: 3, duration: '1s' } },
};

export default function () {
  sleep(0.2);
}
