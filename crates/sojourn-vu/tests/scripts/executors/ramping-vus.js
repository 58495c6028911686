// Row: 8.3 ramping-vus: users come and go
import exec from 'k6/execution';
import { sleep } from 'k6';
import { Gauge } from 'k6/metrics';

const active = new Gauge('active');

export const options = {
  scenarios: {
    all: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { duration: '1s', target: 4 },
        { duration: '500ms', target: 4 },
        { duration: '500ms', target: 0 },
      ],
      gracefulRampDown: '0s',
    },
  },
  thresholds: { vus_max: ['value==4'] },
};

export default function () {
  active.add(exec.instance.vusActive);
  sleep(0.05);
}

export function handleSummary(data) {
  return { stdout: `most at once: ${data.metrics.active.values.max}\n` };
}
