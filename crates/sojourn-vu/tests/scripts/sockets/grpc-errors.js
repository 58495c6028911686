// Row: 8.8 k6/net/grpc: what is wrong
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
const told = [];
const attempt = (name, run) => {
  try {
    const value = run();
    told.push(`${name}: ${JSON.stringify(value)}`);
  } catch (error) {
    told.push(`${name}: ${error}`);
  }
};
attempt('no file', () => client.load([], '../lib/not-there.proto'));
client.load(['../lib'], 'hello.proto');
attempt('connect at init', () => client.connect(__ENV.GRPC, { plaintext: true }));

export default function () {
  attempt('not connected', () => client.invoke('hello.Greeter/Say', {}));
  attempt('nobody there', () =>
    client.connect('127.0.0.1:1', { plaintext: true, timeout: '300ms' }),
  );
  attempt('unknown param', () => client.connect(__ENV.GRPC, { plain: true }));
  client.connect(__ENV.GRPC, { plaintext: true });
  attempt('unknown method', () => client.invoke('hello.Greeter/Nothing', {}));
  attempt('no method', () => client.invoke('', {}));
  attempt('no message', () => client.invoke('hello.Greeter/Say'));
  attempt('unknown field', () => client.invoke('hello.Greeter/Say', { nick: 'x' }));
  attempt('a wrong type', () => client.invoke('hello.Greeter/Say', { name: 5 }));
  attempt('an unknown param', () => client.invoke('hello.Greeter/Say', { name: 'x' }, { tag: {} }));
  attempt('load in an iteration', () => client.load(['../lib'], 'hello.proto'));
  client.close();
  told.forEach((it) => console.log(it));
}
