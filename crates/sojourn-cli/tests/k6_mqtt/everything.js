// Each way of publishing and subscribing; what comes is compared with what was sent.
import { check } from 'k6';
import { Client, QoS } from 'k6/x/mqtt';

export const options = { vus: 3, iterations: 9, thresholds: { checks: ['rate==1'] } };

const text = (payload) => String.fromCharCode(...new Uint8Array(payload));

export default function () {
  const own = `k6/${__VU}-${__ITER}`;
  const client = new Client({ client_id: `everything-${__VU}-${__ITER}`, tags: { side: 'both' } });
  const seen = [];
  const order = [];
  let settled = 0;
  const publishAll = async () => {
    // What waits: each quality of service, and whatever bytes can be.
    client.publish(`${own}/waits/0`, 'é');
    client.publish(`${own}/waits/1`, new Uint8Array([0, 255]), { qos: QoS.AtLeastOnce });
    client.publish(`${own}/waits/2`, new Uint8Array([1, 2, 3]).buffer, { qos: QoS.ExactlyOnce, tags: { way: 'two' } });
    // What promises, all at once.
    const ways = [0, 1, 2].map((qos) => client.publishAsync(`${own}/promises/${qos}`, `p${qos}`, { qos }));
    settled = (await Promise.all(ways)).filter((it) => it === undefined).length;
    // What is kept is there for those who come later.
    await client.publishAsync(`${own}/kept`, 'kept', { qos: 1, retain: true });
    await client.subscribeAsync(`${own}/kept`, { qos: 1 });
  };
  client.on('connect', () => {
    order.push('connect');
    client.subscribe([`${own}/waits/+`, `${own}/promises/#`], { qos: 2 });
    publishAll();
  });
  client.on('message', (topic, payload) => {
    seen.push(`${topic.slice(own.length)} ${payload instanceof ArrayBuffer} ${text(payload)}`);
    if (topic !== `${own}/kept`) return;
    client.unsubscribe([`${own}/kept`, `${own}/waits/+`]);
    // Takes it away; nobody here sees that any more, or what comes to `waits`.
    client.publish(`${own}/kept`, '', { qos: 1, retain: true });
    client.publish(`${own}/waits/late`, 'late', { qos: 1 });
    client.unsubscribeAsync(`${own}/promises/#`).then(() => client.endAsync()).then(() => order.push('promise'));
  });
  client.on('end', () => {
    order.push('end');
    const sent = [
      '/kept true kept', '/promises/0 true p0', '/promises/1 true p1', '/promises/2 true p2',
      '/waits/0 true Ã©', '/waits/1 true \u0000ÿ', '/waits/2 true \u0001\u0002\u0003',
    ];
    check(null, {
      'all came once': () => seen.sort().join('|') === sent.join('|'),
      'promises resolved': () => settled === 3,
      'not connected any more': () => client.connected === false,
    });
    // The promise of the end is settled beside it.
    setTimeout(() => check(null, { 'in order': () => order.join() === 'connect,end,promise' }), 0);
  });
  check(null, { 'not connected yet': () => client.connected === false });
  client.connect(__ENV.MQTT);
  check(null, { 'connected': () => client.connected === true && order.length === 0 });
}
