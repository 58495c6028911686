// One user waits for messages that nobody sends, the other must go on meanwhile.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import { Reader, Connection } from 'k6/x/kafka';

const reader = new Reader({ brokers: [__ENV.BROKERS], topic: __ENV.TOPIC, maxWait: '2s' });
const connection = new Connection({ address: __ENV.BROKERS });
if (__VU == 0) connection.createTopic({ topic: __ENV.TOPIC });
const ticks = new Counter('ticks');

export const options = {
  scenarios: {
    waits: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'waits' },
    ticks: { executor: 'constant-vus', vus: 1, duration: '2s', exec: 'tick' },
  },
};

export function waits() {
  reader.consume({ limit: 1, expectTimeout: true });
}

export function tick() {
  ticks.add(1);
  sleep(0.01);
}
