// Orders, followed until they are shipped. The shop is `sojourn mock examples/orders-mock.yaml`:
//
//   sojourn mock examples/orders-mock.yaml --listen 127.0.0.1:8080
//   sojourn run examples/orders.js -u 10 -d 20s
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { events, journey, tap } from 'sojourn';

// The shop's webhooks. `key` is where a message says which order it is of.
const hooks = tap('hooks', {
  webhook: { listen: __ENV.LISTEN || '127.0.0.1:9000', path: '/hooks' },
  key: '$.order',
});
const paid = hooks.stage('paid', { where: { type: 'OrderPaid' } });
const shipped = hooks.stage('shipped', { where: { type: 'OrderShipped' } });

export const options = {
  thresholds: {
    'journey_duration{journey:order}': ['p(99)<10000'],
    journey_completed: ['rate>0.99'],
  },
};

export default function () {
  const id = `${exec.vu.idInTest}-${exec.vu.iterationInInstance}-${Date.now()}`;
  // Returns at once: the order is followed beside the script, whatever it does next.
  journey(id).expect([paid, shipped], { within: '10s', name: 'order' });
  const response = http.post(
    `${__ENV.BASE || 'http://127.0.0.1:8080'}/orders`,
    JSON.stringify({ id, amount: 42 }),
    { headers: { 'content-type': 'application/json' } },
  );
  check(response, { accepted: (it) => it.status === 202 });
  // Waits, since the script needs what is in it.
  const event = events.wait(paid, { key: id, timeout: '5s' });
  check(event.json(), { 'the amount is right': (it) => it.amount === 42 });
}
