// Row: 8.8 k6/net/grpc over TLS
import grpc from 'k6/net/grpc';
import { same, strict } from '../lib/same.js';

export const options = strict;

const client = new grpc.Client();
client.load(['../lib'], 'hello.proto');
const trusted = open('../lib/certificates/server.crt');

export default function () {
  client.connect(__ENV.GRPCS, { timeout: '5s', tls: { cacerts: trusted } });
  const good = client.invoke('hello.Greeter/Say', { name: 'ada' });
  same('answered', [good.status, good.message.text], [grpc.StatusOK, 'hello ada']);
  client.close();
}
