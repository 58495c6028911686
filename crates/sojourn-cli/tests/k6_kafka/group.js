// A group reads all partitions of a topic that is written round robin.
import { check } from 'k6';
import {
  Writer, Reader, Connection, SchemaRegistry, SCHEMA_TYPE_STRING, BALANCER_ROUND_ROBIN,
  START_OFFSETS_FIRST_OFFSET, SECOND,
} from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const writer = new Writer({ brokers, topic, balancer: BALANCER_ROUND_ROBIN });
const reader = new Reader({
  brokers,
  groupID: 'k6-group',
  groupTopics: [topic],
  startOffset: START_OFFSETS_FIRST_OFFSET,
  maxWait: 10 * SECOND,
  connectLogger: true,
});
const connection = new Connection({ address: brokers[0] });
const schemaRegistry = new SchemaRegistry();

if (__VU == 0) {
  connection.createTopic({ topic, numPartitions: 3, replicationFactor: 1 });
}

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const text = (data) => schemaRegistry.serialize({ data, schemaType: SCHEMA_TYPE_STRING });
  const messages = [...Array(300).keys()].map((at) => ({ value: text(`value-${at}`) }));
  writer.produce({ messages });
  const seen = new Set();
  for (let round = 0; round < 3; round++) {
    for (const message of reader.consume({ limit: 100 })) {
      seen.add(schemaRegistry.deserialize({ data: message.value, schemaType: SCHEMA_TYPE_STRING }));
      if (message.key !== null) throw new Error('a message without a key has one');
    }
  }
  check(seen, { 'each once': (seen) => seen.size === 300 });
  writer.close();
}
