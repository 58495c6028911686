// A thousand messages, written and read back, in the shape that scripts usually have.
import { check } from 'k6';
import { Writer, Reader, Connection, SchemaRegistry, SCHEMA_TYPE_JSON, CODEC_GZIP } from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;

const writer = new Writer({ brokers: brokers, topic: topic, compression: CODEC_GZIP });
const reader = new Reader({ brokers: brokers, topic: topic, maxWait: '20s' });
const connection = new Connection({ address: brokers[0] });
const schemaRegistry = new SchemaRegistry();

if (__VU == 0) {
  connection.createTopic({
    topic: topic,
    numPartitions: 1,
    replicationFactor: 1,
    configEntries: [
      { configName: 'compression.type', configValue: 'producer' },
      // The messages' own times are long past.
      { configName: 'retention.ms', configValue: '-1' },
    ],
  });
}

export const options = {
  iterations: 10,
  thresholds: {
    checks: ['rate==1'],
    kafka_writer_error_count: ['count == 0'],
    kafka_reader_error_count: ['count == 0'],
  },
};

export default function () {
  const messages = [];
  for (let index = 0; index < 100; index++) {
    const number = __ITER * 100 + index;
    messages.push({
      key: schemaRegistry.serialize({
        data: { correlationId: 'test-id-' + number },
        schemaType: SCHEMA_TYPE_JSON,
      }),
      value: schemaRegistry.serialize({
        data: { number, name: 'xk6-kafka é' },
        schemaType: SCHEMA_TYPE_JSON,
      }),
      headers: { mykey: 'myvalue', number, raw: new Uint8Array([0, 255]) },
      offset: index,
      time: new Date(1700000000000 + number),
    });
  }
  writer.produce({ messages: messages });

  const read = reader.consume({ limit: 100, nanoPrecision: true });
  check(read, {
    '100 messages are received': (messages) => messages.length == 100,
    'in order': (messages) => messages.every((it, at) => it.offset === __ITER * 100 + at),
  });
  check(read[42], {
    'Topic equals': (it) => it.topic === topic,
    'Key is JSON': (it) =>
      schemaRegistry.deserialize({ data: it.key, schemaType: SCHEMA_TYPE_JSON })
        .correlationId === 'test-id-' + (__ITER * 100 + 42),
    'Value is JSON': (it) =>
      schemaRegistry.deserialize({ data: it.value, schemaType: SCHEMA_TYPE_JSON }).name ===
      'xk6-kafka é',
    'Header equals': (it) => 'mykey' in it.headers && it.headers['mykey'] == 'myvalue',
    'Header is bytes': (it) => String.fromCharCode(...it.headers['mykey']) === 'myvalue',
    'Time is the one given': (it) =>
      new Date(it.time).getTime() === 1700000000000 + __ITER * 100 + 42,
    'Partition is zero': (it) => it.partition === 0,
    'High watermark is beyond': (it) => it.highWaterMark > it.offset,
  });
}

export function teardown() {
  writer.close();
  reader.close();
  connection.close();
}
