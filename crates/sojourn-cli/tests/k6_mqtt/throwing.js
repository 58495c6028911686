// A handler that throws fails its iteration, and the next one begins anew.
import { Client } from 'k6/x/mqtt';

export const options = { vus: 1, iterations: 2 };

export default function () {
  const client = new Client();
  client.on('connect', () => {
    client.subscribe('k6/throwing');
    client.publish('k6/throwing', 'x', { qos: 1 });
  });
  client.on('message', () => { throw new Error('no such luck'); });
  client.connect(__ENV.MQTT);
}
