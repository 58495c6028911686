// A script whose requests cause events: followed by the ledger, or waited for.
import http from 'k6/http';
import { check } from 'k6';
import { events, journey, publish, tap } from 'sojourn';

const orders = tap('orders', {
  kafka: { brokers: __ENV.KAFKA || '127.0.0.1:9092', topics: ['orders.events'] },
  key: '$.orderId',
});
const refunds = tap('refunds', {
  nats: { url: 'nats://127.0.0.1:4222', subjects: ['refunds.>'] },
  decoder: 'json',
});
const commands = tap('commands', {
  amqp: { url: 'amqp://127.0.0.1', exchange: 'commands', routing: ['order.*'] },
});

export const options = { vus: 10, duration: '1m' };

export default function (): void {
  const response = http.post(`${__ENV.BASE}/orders`, JSON.stringify({ amount: 5 }));
  const id = response.json<string>('id');
  journey(id).expect(
    [
      { stage: 'accepted', tap: orders, where: { type: 'OrderAccepted' }, within: '2s' },
      { stage: 'shipped', tap: orders, where: { type: 'OrderShipped', amount: { greater: 4 } } },
    ],
    { within: '30s' },
  );

  const accepted = events.wait(orders, { key: id, timeout: '5s' });
  check(accepted, { 'has a warehouse': (it) => it.json<{ warehouse: string }>().warehouse !== '' });
  publish(commands, { key: id, body: { refund: id }, headers: { type: 'Refund' } });
  const refunded = events.wait(refunds, { where: { '$.orderId': id } });
  console.log(`${refunded.key} after ${refunded.at - accepted.at} ms`);
}
