// Row: 8.8 k6/net/grpc: streams
import grpc from 'k6/net/grpc';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const client = new grpc.Client();
client.load(['../lib'], 'hello.proto');

export default function () {
  client.connect(__ENV.GRPC, { plaintext: true });
  const counted = [];
  const count = new grpc.Stream(client, 'hello.Greeter/Count', { tags: { own: 'tag' } });
  count.on('data', (it) => counted.push(it.value));
  count.on('end', () => same('counted', counted, [1, 2, 3]));
  count.write({ value: 3 });

  const sum = new grpc.Stream(client, 'hello.Greeter/Sum');
  sum.on('data', (it) => same('sum', it.value, 6));
  for (const value of [1, 2, 3]) sum.write({ value });
  sum.end();

  const said = [];
  const chat = new grpc.Stream(client, 'hello.Greeter/Chat', { metadata: { 'x-echo': 'e' } });
  chat.on('data', (it) => {
    said.push(it.text);
    if (said.length === 2) chat.end();
  });
  chat.on('error', (error) => console.log(`error ${error.message}`));
  chat.on('end', () => same('said', said, ['you said one', 'you said two']));
  chat.write({ name: 'one' });
  chat.write({ name: 'two' });
}
