// A broker lets one of two clients of one name go: a connection that is lost, from where the script is.
import { check } from 'k6';
import { Client } from 'k6/x/mqtt';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default async function () {
  const events = [];
  const first = new Client({ client_id: 'twin' });
  first.on('connect', () => events.push(`connect ${first.connected}`));
  first.on('reconnect', () => events.push('reconnect'));
  first.on('error', (error) => events.push(`${error.name} ${error.method}`));
  let ended;
  const gone = () => new Promise((resolve) => { ended = resolve; });
  first.on('end', () => { events.push(`end ${first.connected}`); ended(); });
  const lost = gone();
  first.connect(__ENV.MQTT, { keepalive: 5 });
  const second = new Client({ client_id: 'twin' });
  second.connect(__ENV.MQTT);
  await lost;
  second.end();
  // As before, of a connection that is lost and of one that stands.
  first.reconnect();
  first.subscribe('k6/twin');
  await new Promise((resolve) => setTimeout(resolve, 1));
  first.reconnect();
  const done = gone();
  await first.publishAsync('k6/twin', 'x', { qos: 1 });
  await first.endAsync();
  await done;
  const expected = [
    'connect true', 'MQTTError connection', 'end false',
    'reconnect', 'connect true', 'reconnect', 'connect true', 'end false',
  ];
  if (events.join() !== expected.join()) console.error(events.join());
  check(events, { 'in order': (it) => it.join() === expected.join() });
}
