// Avro by a schema registry, and without one.
import { check } from 'k6';
import {
  Writer, Reader, SchemaRegistry, SCHEMA_TYPE_AVRO, SCHEMA_TYPE_STRING, KEY, VALUE,
  TOPIC_NAME_STRATEGY, RECORD_NAME_STRATEGY,
} from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const writer = new Writer({ brokers, topic, autoCreateTopic: true });
const reader = new Reader({ brokers, topic, maxWait: '20s' });
const schemaRegistry = new SchemaRegistry({ url: __ENV.REGISTRY, enableCaching: true });
const alone = new SchemaRegistry();

const record = JSON.stringify({
  type: 'record', name: 'Order', namespace: 'shop',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'states', type: { type: 'array', items: { type: 'enum', name: 'State', symbols: ['NEW', 'PAID'] } } },
    { name: 'raw', type: 'bytes' },
  ],
});
const valueSubject = schemaRegistry.getSubjectName({
  element: VALUE, topic, schema: record, subjectNameStrategy: TOPIC_NAME_STRATEGY,
});
const valueSchema = schemaRegistry.createSchema({ subject: valueSubject, schema: record, schemaType: SCHEMA_TYPE_AVRO });
const keySchema = schemaRegistry.getSchema({ subject: 'orders-key', version: 0 });

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const thrown = (work) => {
  try { work(); return 'nothing'; } catch (error) { return String(error); }
};

export default function () {
  const data = { id: 27, note: { string: 'abc' }, states: ['NEW', 'PAID'], raw: new Uint8Array([1, 255]) };
  const value = schemaRegistry.serialize({ data, schema: valueSchema, schemaType: SCHEMA_TYPE_AVRO });
  const key = schemaRegistry.serialize({ data: 'k1', schema: keySchema, schemaType: SCHEMA_TYPE_AVRO });
  writer.produce({ messages: [{ key, value }] });
  const [message] = reader.consume({ limit: 1 });
  const back = (data, schema) => schemaRegistry.deserialize({ data, schema, schemaType: SCHEMA_TYPE_AVRO });
  const order = back(message.value, valueSchema);
  const bare = { schema: record };
  check(null, {
    'registered': () => valueSchema.id === 7 && valueSchema.version === 3 && valueSchema.subject === 'orders-value',
    'found': () => keySchema.id === 258 && keySchema.schema === '"string"' && keySchema.schemaType === 'AVRO',
    'the key': () => back(message.key, keySchema) === 'k1',
    'the value': () => order.id === 27 && order.note === 'abc' && order.states.join() === 'NEW,PAID' && order.raw === 'Af8=',
    'a default': () => {
      const bytes = alone.serialize({ data: { id: 1, states: [], raw: 'ÿ' }, schema: bare, schemaType: SCHEMA_TYPE_AVRO });
      const read = alone.deserialize({ data: bytes, schema: bare, schemaType: SCHEMA_TYPE_AVRO });
      // Without a registry the id is 0.
      return read.note === null && [...bytes].slice(0, 5).join() === '0,0,0,0,0';
    },
    'what does not fit': () =>
      thrown(() => alone.serialize({ data: { id: 'x' }, schema: bare, schemaType: SCHEMA_TYPE_AVRO }))
        .includes('field `id` of `shop.Order`'),
    'names of records': () =>
      alone.getSubjectName({ element: KEY, topic, schema: record, subjectNameStrategy: RECORD_NAME_STRATEGY }) === 'shop.Order',
    'no such subject': () => thrown(() => schemaRegistry.getSchema({ subject: 'none' })).includes('it has none'),
    'no registry': () => thrown(() => alone.getSchema({ subject: 'x' })).includes('no URL'),
    'a text': () => alone.deserialize({ data: [104, 105], schemaType: SCHEMA_TYPE_STRING }) === 'hi',
  });
}
