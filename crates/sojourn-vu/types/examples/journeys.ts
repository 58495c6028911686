// A script whose requests cause events: followed by the ledger, or waited for.
import http from 'k6/http';
import { check } from 'k6';
import { consumer, events, journey, publish, tap } from 'sojourn';

const orders = tap('orders', {
  kafka: { brokers: __ENV.KAFKA || '127.0.0.1:9092', topics: ['orders.events'] },
  key: '$.orderId',
});
const accepted = orders.stage('accepted', { where: { type: 'OrderAccepted' } });
const shipped = orders.stage('shipped', {
  where: { type: 'OrderShipped', '$.amount': { greater: 4 } },
});
const refunds = tap('refunds', {
  nats: { url: 'nats://127.0.0.1:4222', subjects: ['refunds.>'] },
  decoder: 'json',
  key: '$.orderId',
});
const commands = tap('commands', {
  amqp: { url: 'amqp://127.0.0.1', exchange: 'commands', routing: ['order.*'] },
});
const parcels = consumer('parcels', {
  kafka: { brokers: '127.0.0.1:9092', topics: ['parcels'] },
  group: 'carrier',
  start: 'earliest',
});

export const options = {
  vus: 10,
  duration: '1m',
  thresholds: { 'journey_duration{journey:order}': ['p(95)<30000'], journeys_lost: ['count==0'] },
};

export default function (): void {
  const response = http.post(`${__ENV.BASE}/orders`, JSON.stringify({ amount: 5 }));
  const id = response.json<string>('id');
  journey(id).expect([accepted, shipped, refunds], { within: '30s', name: 'order', label: 'eu' });

  const event = events.wait(accepted, { key: id, timeout: '5s' });
  check(event, { 'has a warehouse': (it) => it.json<{ warehouse: string }>().warehouse !== '' });
  publish(commands, {
    topic: 'order.refund',
    key: id,
    body: { refund: id },
    headers: { type: 'Refund' },
  });
  const refunded = events.wait(refunds, { key: id });
  console.log(`${refunded.key} after ${refunded.at - event.at} ms`);

  for (const parcel of parcels.take(10, '1s')) {
    publish(commands, { topic: 'parcel.sent', key: parcel.key ?? id, body: parcel.json<object>() });
  }
  parcels.commit();
  console.log(`${parcels.name} has ${parcels.assigned()} partitions`);
  parcels.leave();
}
