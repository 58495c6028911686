// Clients that are never ended: one user waits for messages that nobody sends, another goes on meanwhile, and the end of
// the test cuts the first off, whose will the broker then publishes.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import { Client } from 'k6/x/mqtt';

const ticks = new Counter('ticks');
const began = new Counter('began');

export const options = {
  scenarios: {
    waits: { executor: 'constant-vus', vus: 2, duration: '1500ms', gracefulStop: '0s', exec: 'waits' },
    ticks: { executor: 'constant-vus', vus: 1, duration: '1500ms', exec: 'tick' },
  },
};

export function waits() {
  began.add(1);
  const client = new Client({ will: { topic: `k6/gone/${__VU}`, payload: 'gone', qos: 1 } });
  client.on('connect', () => {
    client.subscribe('k6/nothing');
    // Neither is this ever settled.
    client.subscribeAsync('k6/nothing/more').then(() => new Promise(() => {}));
  });
  client.connect(__ENV.MQTT);
}

export function tick() {
  ticks.add(1);
  sleep(0.01);
}
