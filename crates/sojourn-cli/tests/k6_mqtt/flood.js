// More at once than brokers take unanswered, and more bytes than are held back.
import { check } from 'k6';
import { Client } from 'k6/x/mqtt';

export const options = { vus: 2, iterations: 2, thresholds: { checks: ['rate==1'] } };

const COUNTS = [3000, 500, 300];

export default function () {
  const own = `k6/flood/${__VU}`;
  const client = new Client();
  const numbers = [[], [], []];
  const all = COUNTS.reduce((sum, count) => sum + count, 0);
  let came = 0;
  client.on('message', (topic, payload) => {
    const [qos, number] = String.fromCharCode(...new Uint8Array(payload).slice(0, 8)).trim().split(' ').map(Number);
    numbers[qos].push(number);
    came += 1;
    if (came === all) client.end();
  });
  client.on('connect', () => {
    client.subscribe(own, { qos: 2 });
    COUNTS.forEach((count, qos) => {
      for (let number = 0; number < count; number++) {
        const payload = `${qos} ${number}`.padEnd(400);
        // Those of QoS 0 wait where too much is unwritten, others promise.
        if (qos === 0) client.publish(own, payload);
        else client.publishAsync(own, payload, { qos });
      }
    });
  });
  client.on('end', () => {
    const inOrder = numbers.map((list, qos) => list.length === COUNTS[qos] && list.every((number, at) => number === at));
    check(null, { 'all in order': () => inOrder.every((it) => it) });
  });
  client.connect(__ENV.MQTT);
}
