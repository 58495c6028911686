// A client of MQTT by `k6/x/mqtt`.
import { Counter } from 'k6/metrics';
import mqtt, { Client, QoS } from 'k6/x/mqtt';
import type { MQTTError } from 'k6/x/mqtt';

const seen = new Counter('seen');

export default function (): void {
  const client = new Client({
    client_id: `meter-${__VU}`,
    credentials_provider: () => ({ username: 'me', password: 'secret' }),
    will: { topic: 'gone', payload: 'me', qos: QoS.AtLeastOnce, retain: true },
    tags: { device: 'meter' },
  });
  client.on('connect', async () => {
    await client.subscribeAsync(['orders/+', 'payments/#'], { qos: 2 });
    client.publish('orders/1', new Uint8Array([1, 2]), { qos: mqtt.QoS.ExactlyOnce, retain: false });
  });
  client.on('message', (topic: string, payload: ArrayBuffer) => {
    seen.add(payload.byteLength, { topic });
    client.end();
  });
  client.on('error', (error: MQTTError) => console.error(error.method, error.message));
  client.connect('mqtt://127.0.0.1:1883', { keepalive: 30, clean_session: true });
}
