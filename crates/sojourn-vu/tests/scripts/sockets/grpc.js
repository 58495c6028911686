// Row: 8.8 k6/net/grpc: unary calls
import grpc from 'k6/net/grpc';
import { same, strict } from '../lib/same.js';

export const options = strict;

const client = new grpc.Client();
const loaded = client.load(['../lib'], 'hello.proto');

export default async function () {
  same(
    'loaded',
    loaded.map((it) => [it.full_method, it.is_client_stream, it.is_server_stream]).sort(),
    [
      ['/hello.Greeter/Chat', true, true],
      ['/hello.Greeter/Count', false, true],
      ['/hello.Greeter/Say', false, false],
      ['/hello.Greeter/Sum', true, false],
    ],
  );
  same('connected', client.connect(__ENV.GRPC, { plaintext: true, timeout: '5s' }), true);
  const good = client.invoke(
    'hello.Greeter/Say',
    { name: 'ada' },
    { metadata: { 'x-echo': 'e' }, tags: { own: 'tag' } },
  );
  same(
    'answered',
    [good.status, good.message, good.error],
    [grpc.StatusOK, { text: 'hello ada' }, null],
  );
  same(
    'headers and trailers',
    [good.headers['x-echo'], good.trailers['x-echo-trailer']],
    [['e'], ['e']],
  );
  const bad = client.invoke('/hello.Greeter/Say', { name: 'fail' });
  same(
    'refused',
    [bad.status, bad.error.code, bad.error.message],
    [grpc.StatusNotFound, 5, 'nobody of that name'],
  );
  console.log(JSON.stringify(bad.message));
  const later = await client.asyncInvoke('hello.Greeter/Say', { name: 'bob' });
  same('later', later.message.text, 'hello bob');
  const slow = client.invoke('hello.Greeter/Say', { name: 'slow' }, { timeout: '200ms' });
  same('too slow', slow.status, grpc.StatusDeadlineExceeded);
  console.log(slow.error.code);
  const thrown = client.invoke(
    'hello.Greeter/Say',
    { name: 'eve' },
    { discardResponseMessage: true },
  );
  same('discarded', thrown.message, null);
  client.close();
}
