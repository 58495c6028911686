// Topics by both interfaces.
import { check } from 'k6';
import * as kafka from 'k6/x/kafka';

const topic = __ENV.TOPIC;
const connection = new kafka.Connection({ address: __ENV.BROKERS });
const admin = new kafka.AdminClient({ brokers: [__ENV.BROKERS] });

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const until = (holds) => {
  for (let round = 0; round < 500 && !holds(); round++);
  return holds();
};

export default function () {
  connection.createTopic({ topic, numPartitions: 4 });
  // Once more: nothing happens to it.
  admin.createTopic({ topic, numPartitions: 9 });
  const listed = admin.listTopics().find((known) => known.topic === topic);
  const metadata = admin.getMetadata(topic);
  check(null, {
    'listed by name': () => connection.listTopics().includes(topic),
    'listed with its partitions': () => listed.partitions === 4 && listed.error === null,
    'metadata has them': () => metadata.topic === topic && metadata.partitions.length === 4,
    'with leaders and copies': () =>
      metadata.partitions.every(
        (it, at) => it.id === at && it.leader >= 0 && it.replicas.length === 1 && it.isrs.length === 1,
      ),
  });
  connection.deleteTopic(topic);
  check(null, {
    'removed': () => until(() => !connection.listTopics().includes(topic)),
  });
  let told = '';
  try {
    connection.deleteTopic(topic);
  } catch (error) {
    told = String(error);
  }
  check(told, { 'what is not there can not be removed': (told) => told.includes('Failed to delete') });
  connection.close();
  admin.close();
}
