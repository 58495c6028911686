// Certificates out of a key store of Java's, shown to a broker that wants to see some.
import { check } from 'k6';
import { Connection, LoadJKS, Reader, Writer } from 'k6/x/kafka';

const store = {
  path: `${__ENV.STORES}/client.jks`,
  password: __ENV.PASSWORD,
  clientCertAlias: 'client',
  clientKeyAlias: 'CLIENT',
  clientKeyPassword: __ENV.OF_KEY,
  serverCaAlias: 'caroot',
};
const files = LoadJKS(store);
const brokers = [__ENV.BROKERS];
const topic = __ENV.TOPIC;
const tls = {
  enableTls: true,
  clientCertPem: files.clientCertsPem[0],
  clientKeyPem: files.clientKeyPem,
  serverCaPem: files.serverCaPem,
};

export const options = { vus: 2, iterations: 2, thresholds: { checks: ['rate==1'] } };

const thrown = (work) => {
  try { work(); return 'nothing'; } catch (error) { return String(error); }
};
const refused = (change, ...parts) => () => {
  const told = thrown(() => LoadJKS({ ...store, ...change }));
  return parts.every((part) => told.includes(part)) && !told.includes(__ENV.OF_KEY) && !told.includes(__ENV.PASSWORD);
};

export function setup() {
  const connection = new Connection({ address: brokers[0], tls });
  connection.createTopic({ topic });
  connection.close();
}

export default function () {
  const only = LoadJKS({ ...store, clientKeyAlias: '' });
  check(null, {
    'names of files': () => JSON.stringify(files)
      === '{"clientCertsPem":["client-cert-0.pem"],"clientKeyPem":"client-key.pem","serverCaPem":"server-ca.pem"}',
    'only the authority': () => JSON.stringify(only) === '{"serverCaPem":"server-ca.pem"}',
    'a wrong password': refused({ password: 'x' }, 'client.jks: the password is wrong'),
    'a wrong password of the key': refused({ clientKeyPassword: 'x' }, 'client.jks: the password of the key `CLIENT`'),
    'no such alias': refused({ clientKeyAlias: 'nobody' }, 'there is no alias `nobody`: it has `caroot`, `client`'),
    'a key is no authority': refused({ serverCaAlias: 'client' }, '`client` is a private key'),
    'an authority is no key': refused({ clientKeyAlias: 'caroot' }, '`caroot` is a certificate'),
    'a store of the other type': refused(
      { path: `${__ENV.STORES}/client.p12` }, 'it is a PKCS#12 store', 'keytool -importkeystore', '-deststoretype JKS'),
  });
  const writer = new Writer({ brokers, topic, tls });
  writer.produce({ messages: [{ value: 'shown' }] });
  writer.close();
  const reader = new Reader({ brokers, topic, tls, maxWait: '20s' });
  const [message] = reader.consume({ limit: 1 });
  reader.close();
  const bare = new Writer({ brokers, topic, tls: { enableTls: true, serverCaPem: files.serverCaPem }, writeTimeout: '2s' });
  const told = thrown(() => bare.produce({ messages: [{ value: 'x' }] }));
  check(null, {
    'there and back': () => String.fromCharCode(...message.value) === 'shown',
    'nobody without a certificate': () => told.startsWith('GoError: Error writing messages.'),
  });
}
