// A session that the broker keeps while its client is away.
import { check } from 'k6';
import { Client } from 'k6/x/mqtt';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const keeper = () => new Client({ client_id: 'keeper' });
  const away = keeper();
  away.connect(__ENV.MQTT, { clean_session: false });
  away.subscribe('k6/kept/+', { qos: 1 });
  away.end();
  const other = new Client();
  other.connect(__ENV.MQTT);
  for (let number = 0; number < 200; number++) other.publish(`k6/kept/${number}`, 'x', { qos: 1 });
  other.end();
  const back = keeper();
  const seen = [];
  back.on('connect', () => seen.push('connect'));
  back.on('message', (topic) => {
    seen.push(topic);
    if (seen.length === 201) back.end();
  });
  back.on('end', () => {
    check(seen, {
      'all, after the connection': ([first, ...topics]) =>
        first === 'connect' && topics.every((topic, at) => topic === `k6/kept/${at}`),
    });
    // The broker forgets.
    const last = keeper();
    last.connect(__ENV.MQTT, { clean_session: true });
    last.end();
  });
  back.connect(__ENV.MQTT, { clean_session: false });
}
