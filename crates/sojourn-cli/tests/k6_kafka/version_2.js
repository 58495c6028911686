// The names and methods of version 2.
import { check } from 'k6';
import { Producer, Consumer, AdminClient } from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const adminClient = new AdminClient({ brokers });
const producer = new Producer({ brokers, topic });
const consumer = new Consumer({ brokers, topic, maxWait: '20s' });
const balanced = new Producer({ brokers, topic, balancer: (key, count) => key.length % count });

if (__VU == 0) {
  adminClient.createTopic({ topic, numPartitions: 1 });
}

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const text = (bytes) => String.fromCharCode(...bytes);

export default function () {
  const before = producer.stats().pending;
  const messages = [...Array(18).keys()].map((at) => ({ key: `key-${at}`, value: `value-${at}` }));
  producer.produce({ messages });
  producer.flush();
  balanced.produce({ messages: [{ key: 'own', value: [118] }, { key: 'gone', value: null }] });
  const first = consumer.consume({ maxMessages: 5 });
  const position = consumer.position(0);
  consumer.seek(0, 17);
  const last = consumer.consume({ maxMessages: 3, nanoPrecision: false });
  check(null, {
    'nothing was pending': () => before === 0 && producer.stats().pending === 0,
    'the first five': () => first.map((it) => text(it.key)).join() === 'key-0,key-1,key-2,key-3,key-4',
    'it stands behind them': () => position === 5,
    'it reads on where it is told to': () => last.map((it) => it.offset).join() === '17,18,19',
    'bytes of a list': () => text(last[1].value) === 'v',
    'no value': () => last[2].value === null && text(last[2].key) === 'gone',
    'whole seconds': () => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(last[0].time),
    'one partition': () => consumer.stats().assignments === 1,
  });
  const group = { groupId: `${topic}.group`, topics: [topic] };
  const ends = adminClient.initializeConsumerGroupOffsets(group);
  const member = new Consumer({ brokers, groupId: group.groupId, groupTopics: [topic], maxWait: '5s' });
  producer.produce({ messages: [{ key: 'later', value: 'later' }] });
  const later = member.consume({ maxMessages: 1 });
  let told = '';
  try {
    adminClient.initializeConsumerGroupOffsets(group);
  } catch (error) {
    told = error.message;
  }
  check(null, {
    'the group is at the end': () => JSON.stringify(ends) === JSON.stringify([{ topic, partition: 0, offset: 20 }]),
    'it reads from there on': () => later.length === 1 && text(later[0].key) === 'later',
    'not while it has members': () => told.includes('initialize consumer group offsets'),
  });
  member.close();
  consumer.commitOffsets();
  producer.close();
  consumer.close();
  adminClient.close();
}
