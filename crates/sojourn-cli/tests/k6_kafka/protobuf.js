// Protobuf by a schema registry, and without one.
import { check } from 'k6';
import { Writer, Reader, SchemaRegistry, SCHEMA_TYPE_PROTOBUF, VALUE, RECORD_NAME_STRATEGY } from 'k6/x/kafka';

const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const writer = new Writer({ brokers, topic, autoCreateTopic: true });
const reader = new Reader({ brokers, topic, maxWait: '20s' });
const schemaRegistry = new SchemaRegistry({ url: __ENV.REGISTRY });
const alone = new SchemaRegistry();
const schemaType = SCHEMA_TYPE_PROTOBUF;

// As the registry has it: it imports another, which the registry has too.
const text = open('./order.proto');
const messageName = 'shop.Order';
const subject = schemaRegistry.getSubjectName({
  element: VALUE, topic, schema: text, messageName, subjectNameStrategy: RECORD_NAME_STRATEGY,
});
const references = [{ name: 'shop/money.proto', subject: 'money', version: 2 }];
const schema = schemaRegistry.createSchema({ subject, schema: text, schemaType, messageName, references });

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const thrown = (work) => {
  try { work(); return 'nothing'; } catch (error) { return String(error); }
};

export default function () {
  const data = { orderId: 'o-1', price: { cents: 1250, exact: 9007199254740993n }, states: ['PAID'], raw: new Uint8Array([1, 255]) };
  writer.produce({ messages: [{ value: schemaRegistry.serialize({ data, schema, schemaType }) }] });
  const [message] = reader.consume({ limit: 1 });
  const order = schemaRegistry.deserialize({ data: message.value, schema, schemaType });
  const encoded = schemaRegistry.deserialize({ data: message.value, schema, schemaType, protobufFormat: 'bytes' });
  const again = schemaRegistry.serialize({ data: encoded, schema, schemaType, protobufFormat: 'bytes' });
  const bare = { schema: 'syntax = "proto3"; message Bare { int32 number = 1; }' };
  const bytes = alone.serialize({ data: { number: 5 }, schema: bare, schemaType });
  check(null, {
    'registered': () => schema.id === 9 && schema.subject === 'shop.Order' && schema.messageName === messageName,
    'with what it imports': () => schema.dependencies['shop/money.proto'].includes('message Money'),
    'the value': () =>
      order.orderId === 'o-1' && order.price.cents === 1250 && order.price.exact === '9007199254740993' &&
      order.states.join() === 'PAID' && order.raw === 'Af8=' && order.note === '',
    'as it is encoded': () => again.join() === message.value.join() && encoded.length === again.length - 7,
    // Without a registry the id is 0; the first message has index 0.
    'without a registry': () => bytes.join() === '0,0,0,0,0,0,8,5',
    'read without one': () => alone.deserialize({ data: bytes, schema: bare, schemaType }).number === 5,
    'without its prefix': () => alone.deserialize({ data: [8, 7], schema: bare, schemaType }).number === 7,
    'what does not fit': () =>
      thrown(() => alone.serialize({ data: { nummer: 1 }, schema: bare, schemaType })).includes('unknown field'),
    'what is no message': () =>
      thrown(() => alone.deserialize({ data: [8], schema: bare, schemaType })).includes('Failed to deserialize data'),
    'no such message': () =>
      thrown(() => alone.serialize({ data: {}, schema: { ...bare, messageName: 'Other' }, schemaType })).includes('"Other"'),
    'another format': () =>
      thrown(() => alone.serialize({ data: {}, schema: bare, schemaType, protobufFormat: 'x' })).includes('protobufFormat'),
  });
}
