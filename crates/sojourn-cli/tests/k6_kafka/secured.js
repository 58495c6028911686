// Compression by each codec, and each way to be let in that the broker has.
import { check } from 'k6';
import {
  Writer, Reader, Connection, CODEC_GZIP, CODEC_SNAPPY, CODEC_LZ4, CODEC_ZSTD, NONE, SASL_PLAIN, SASL_SCRAM_SHA256, SASL_SSL,
} from 'k6/x/kafka';

const [username, password] = [__ENV.NAME, __ENV.PASSWORD];
const ca = { enableTls: true, serverCaPem: __ENV.CA };
const ways = {
  open: { brokers: [__ENV.BROKERS] },
  tls: { brokers: [__ENV.TLS], tls: ca },
  plain: { brokers: [__ENV.GUARDED], sasl: { username, password, algorithm: SASL_PLAIN } },
  scram: { brokers: [__ENV.GUARDED], sasl: { username, password, algorithm: SASL_SCRAM_SHA256 } },
  both: { brokers: [__ENV.TLS_GUARDED], sasl: { username, password, algorithm: SASL_SSL }, tls: ca },
};
const codecs = { none: NONE, gzip: CODEC_GZIP, snappy: CODEC_SNAPPY, lz4: CODEC_LZ4, zstd: CODEC_ZSTD };
const names = Object.keys(codecs);

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  Object.values(ways).forEach((way, at) => {
    // Each codec on a way of its own.
    const topic = `${__ENV.TOPIC}.${names[at]}`;
    const connection = new Connection({ ...way, address: way.brokers[0] });
    connection.createTopic({ topic });
    connection.close();
    const writer = new Writer({ ...way, topic, compression: codecs[names[at]] });
    const value = names[at].repeat(200);
    writer.produce({ messages: Array(50).fill({ value }) });
    writer.close();
    const reader = new Reader({ ...way, topic, maxWait: '20s' });
    const messages = reader.consume({ limit: 50 });
    reader.close();
    check(messages, {
      [names[at]]: (all) => all.length === 50 && all.every((one) => String.fromCharCode(...one.value) === value),
    });
  });
  const refused = (way) => {
    const writer = new Writer({ ...way, topic: __ENV.TOPIC, writeTimeout: '1500ms' });
    try { writer.produce({ messages: [{ value: 'x' }] }); return 'nothing'; } catch (error) { return String(error); }
  };
  const wrong = { ...ways.plain, sasl: { username, password: 's3cret', algorithm: SASL_PLAIN } };
  check(refused(wrong), { 'a wrong password': (it) => it.startsWith('GoError: Error writing messages.') && !it.includes('s3cret') });
}
