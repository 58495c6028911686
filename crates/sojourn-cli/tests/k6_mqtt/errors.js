// What goes wrong: to handlers where there are some, else thrown; promises reject.
import { check } from 'k6';
import { Client } from 'k6/x/mqtt';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

const thrown = (work) => {
  try { work(); return 'nothing'; } catch (error) { return `${error.name} ${error.method} ${error.message}`; }
};
const says = (work, ...parts) => () => {
  const told = thrown(work);
  const is = parts.every((part) => told.includes(part)) && !told.includes('s3cret');
  if (!is) console.error(told);
  return is;
};
const atInit = thrown(() => new Client().connect(__ENV.MQTT));

export default async function () {
  const connect = (url, options, client) => () => new Client(client).connect(url, options);
  check(null, {
    'at the top level': () => atInit.includes('in the init context is not supported'),
    'nobody there': says(connect(`127.0.0.1:${__ENV.NOBODY}`), 'MQTTError connect', 'connection refused'),
    'no such server': says(connect('mqtt://me:s3cret@127.0.0.1:x'), 'MQTTError connect', 'URL'),
    'another scheme': says(connect('http://me:s3cret@127.0.0.1'), 'scheme http'),
    'no server': says(() => new Client().connect({}), 'no broker is named'),
    'silence': says(connect(`mqtt://127.0.0.1:${__ENV.SILENT}`, { connect_timeout: 300 }), 'timeout'),
    'no password': says(connect(__ENV.GUARDED), 'MQTTError connect', 'not authorized'),
    'a wrong one': says(connect(__ENV.GUARDED, {}, { username: 'me', password: 's3cret' }), 'not authorized'),
    'a password alone': says(connect(__ENV.GUARDED, {}, { password: 's3cret' }), 'without a user'),
    'a client that never was connected': says(() => new Client().publish('a', 'b'), 'MQTTError publish', 'not connected'),
    'nothing to connect again to': says(() => new Client().reconnect(), 'MQTTError reconnect', 'connect first'),
    'an event that is none': says(() => new Client().on('close', () => {}), 'MQTTError on', '"close"'),
    'a handler that is none': says(() => new Client().on('end', 5), 'must be a function'),
    'an end without a beginning': () => thrown(() => new Client().end()) === 'nothing',
  });
  const found = new Client();
  // The first that answers.
  found.connect({ servers: [`127.0.0.1:${__ENV.NOBODY}`, __ENV.MQTT] });
  check(found, {
    'the second server': (it) => it.connected,
    'connected already': says(() => found.connect(__ENV.MQTT), 'connected already'),
    'a topic that is none': says(() => found.publish('a/+', 'b'), 'MQTTError publish', '`a/+`'),
    'a filter that is none': says(() => found.subscribe(['a', 'b#']), 'MQTTError subscribe', '`b#`'),
    'no filter': says(() => found.unsubscribe([]), 'MQTTError unsubscribe', 'no topic'),
    'a QoS that is none': says(() => found.publish('a', 'b', { qos: 3 }), 'the QoS is 0, 1 or 2'),
    'a payload that is none': says(() => found.publish('a', {}), 'the payload must be'),
    'still connected': (it) => it.connected,
  });
  const rejected = await found.subscribeAsync('#/a').catch((error) => error);
  check(rejected, { 'promises reject': (it) => it.name === 'MQTTError' && it.method === 'subscribeAsync' });
  found.end();
  const late = await found.publishAsync('a', 'b').catch((error) => error.message);
  check(late, { 'after the end': (it) => it.includes('not connected') });

  // To the handlers instead.
  const heard = [];
  const handled = new Client();
  handled.on('error', (error) => heard.push(error));
  handled.connect(`127.0.0.1:${__ENV.NOBODY}`);
  handled.publish('a', 'b');
  await new Promise((resolve) => setTimeout(resolve, 1));
  check(heard, {
    'handlers are told': ([first, second]) =>
      first.method === 'connect' && first.message.includes('refused') && second.method === 'publish' && second instanceof Error,
  });
}
