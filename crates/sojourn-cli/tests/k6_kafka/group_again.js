// The same group once more: nothing is left for it.
import { check } from 'k6';
import { Reader } from 'k6/x/kafka';

const reader = new Reader({
  brokers: [__ENV.BROKERS],
  groupId: 'k6-group',
  groupTopics: [__ENV.TOPIC],
  maxWait: '500ms',
});

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const messages = reader.consume({ limit: 10, expectTimeout: true });
  check(messages, { 'nothing is left': (messages) => messages.length === 0 });
  reader.close();
}
