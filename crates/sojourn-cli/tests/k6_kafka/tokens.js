// Every client that there is, let in by a token.
import { check } from 'k6';
import { AdminClient, Consumer, Producer, SASL_AZURE_ENTRA } from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const sasl = { algorithm: SASL_AZURE_ENTRA };
const writer = new Producer({ brokers, topic, sasl });
const reader = new Consumer({ brokers, topic, sasl, maxWait: '10s' });

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const admin = new AdminClient({ brokers, sasl });
  admin.createTopic({ topic });
  writer.produce({ messages: Array(10).fill({ value: 'let in' }) });
  check(null, { 'a position without a message': () => reader.position(0) === 0 });
  check(reader.consume({ limit: 10 }), {
    'there and back': (all) => all.length === 10 && all.every((it) => String.fromCharCode(...it.value) === 'let in'),
    'the topic': () => admin.listTopics().some((it) => it.topic === topic),
  });
  reader.close();
  admin.close();
}
