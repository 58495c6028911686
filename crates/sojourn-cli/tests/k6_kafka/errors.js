// What goes wrong throws, in time, and is counted.
import { check } from 'k6';
import { Writer, Reader, Connection, SchemaRegistry, LoadJKS, SASL_AWS_IAM, SASL_AZURE_ENTRA, SASL_GSSAPI, SCHEMA_TYPE_PROTOBUF } from 'k6/x/kafka';

const nobody = [__ENV.NOBODY];
const brokers = [__ENV.BROKERS];
const lost = new Writer({ brokers: nobody, topic: 'none', writeTimeout: '1s', autoCreateTopic: true });
const missing = new Writer({ brokers, topic: 'k6.is.not.there' });
const empty = new Reader({ brokers, topic: 'k6.empty', maxWait: '300ms' });
const connection = new Connection({ address: __ENV.BROKERS });
if (__VU == 0) connection.createTopic({ topic: 'k6.empty' });

export const options = { iterations: 1, thresholds: { kafka_writer_error_count: ['count == 0'] } };

const thrown = (work) => {
  try { work(); return 'nothing'; } catch (error) { return String(error); }
};

export default function () {
  const begun = Date.now();
  const told = thrown(() => lost.produce({ messages: [{ value: 'a' }, { value: 'b' }] }));
  const took = Date.now() - begun;
  check(null, {
    'no broker': () => told.startsWith('GoError: Error writing messages.'),
    'within its timeout': () => took >= 900 && took < 10000,
  });
  const unknown = thrown(() => missing.produce({ messages: [{ value: 'a' }] }));
  const late = thrown(() => empty.consume({ limit: 1 }));
  const config = (work, part) => () => thrown(work).includes(part);
  check(null, {
    'no topic': () => unknown.includes('Unknown Topic Or Partition'),
    'no message': () => late.startsWith('GoError: Unable to read messages.') && late.includes('0 of 1'),
    'no brokers': config(() => new Writer({ topic: 't' }), 'brokers'),
    'no topic of a reader': config(() => new Reader({ brokers }), 'topic'),
    'a codec that is none': config(() => new Writer({ brokers, compression: 'x' }), '"x"'),
    'a field of another type': config(() => new Writer({ brokers: 7 }), 'Writer:'),
    'IAM': config(() => new Writer({ brokers, sasl: { algorithm: SASL_AWS_IAM } }), 'no region is given (set AWS_REGION)'),
    'Entra': config(() => new Writer({ brokers, sasl: { algorithm: SASL_AZURE_ENTRA } }), 'AZURE_CLIENT_SECRET is not set'),
    'Kerberos': config(() => new Writer({ brokers, sasl: { algorithm: SASL_GSSAPI } }), 'let the test in by SCRAM'),
    'a key store of Java': config(() => LoadJKS({ path: 'x', serverCaAlias: 'ca' }), 'LoadJKS: x: No such file'),
    'nothing of a key store': config(() => LoadJKS({ path: 'x' }), 'clientKeyAlias'),
    'protobuf': config(
      () => new SchemaRegistry().serialize({ data: 1, schemaType: SCHEMA_TYPE_PROTOBUF }), 'Protobuf needs a schema'),
    'messages that are none': config(() => missing.produce({}), 'messages'),
    'bytes that are none': config(() => missing.produce({ messages: [{ value: [300] }] }), '300'),
    'a message without a topic': config(
      () => new Writer({ brokers }).produce({ messages: [{ value: 'x' }] }), 'topic'),
  });
  missing.close();
  check(null, {
    'closed': config(() => missing.stats() && empty.close() || empty.consume({ limit: 1 }), 'closed'),
  });
}
