// Producing and consuming by `k6/x/kafka`.
import { Connection, Reader, SCHEMA_TYPE_JSON, SCHEMA_TYPE_PROTOBUF, SchemaRegistry, Writer } from 'k6/x/kafka';
import { check } from 'k6';

const brokers = ['127.0.0.1:9092'];
const writer = new Writer({ brokers, topic: 'orders', autoCreateTopic: true });
const reader = new Reader({ brokers, topic: 'orders' });
const registry = new SchemaRegistry();
const schema = { schema: 'syntax = "proto3"; message Order { int32 amount = 1; }', messageName: 'Order' };

if (__VU === 0) {
  const connection = new Connection({ address: brokers[0] });
  connection.createTopic({ topic: 'orders', numPartitions: 3 });
  connection.close();
}

export default function (): void {
  writer.produce({
    messages: [
      {
        key: registry.serialize({ data: { id: 1 }, schemaType: SCHEMA_TYPE_JSON }),
        value: registry.serialize({ data: { amount: 5 }, schema, schemaType: SCHEMA_TYPE_PROTOBUF }),
        headers: { type: 'OrderPlaced' },
      },
    ],
  });
  const messages = reader.consume({ limit: 1 });
  check(messages, {
    'one came': (it) => it.length === 1,
    'with its amount': (it) =>
      registry.deserialize({ data: it[0].value || [], schema, schemaType: SCHEMA_TYPE_PROTOBUF }).amount === 5,
  });
}

export function teardown(): void {
  writer.close();
  reader.close();
}
