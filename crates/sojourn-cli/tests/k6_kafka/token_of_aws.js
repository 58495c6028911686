// A token of AWS, which the broker here does not know what to do with.
import { check } from 'k6';
import { Writer, SASL_AWS_IAM } from 'k6/x/kafka';

const writer = new Writer({
  brokers: [__ENV.BROKERS],
  topic: 'k6.iam',
  sasl: { algorithm: SASL_AWS_IAM },
  autoCreateTopic: true,
  writeTimeout: '3s',
});

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  let told = 'nothing';
  try { writer.produce({ messages: [{ value: 'x' }] }); } catch (error) { told = String(error); }
  check(told, {
    'refused': (it) => it.startsWith('GoError: Error writing messages.') && it.includes('uthentication'),
    'without the key': (it) => !it.includes('hunter2'),
  });
}
