// Sockets, streams, documents, files.
import ws from 'k6/ws';
import { WebSocket } from 'k6/websockets';
import grpc from 'k6/net/grpc';
import { parseHTML } from 'k6/html';
import { open as openFile, SeekMode } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
import { hmac } from 'k6/crypto';
import { b64decode } from 'k6/encoding';

const client = new grpc.Client();
client.load(['protos'], 'hello.proto');
const file = await openFile('data.csv');
const rows = await csv.parse(file, { delimiter: ';', asObjects: true });

export default async function (): Promise<void> {
  const answer = ws.connect('ws://127.0.0.1:8080', { tags: { a: 'b' } }, (socket) => {
    socket.on('open', () => socket.send('hello'));
    socket.on('message', (text) => {
      if (text.length > 3) socket.close();
    });
    socket.setTimeout(() => socket.close(1000), 500);
  });
  if (answer.status !== 101) throw new Error('not upgraded');

  const socket = new WebSocket('ws://127.0.0.1:8080', null, { compression: 'deflate' });
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('message', (event) => console.log(event.data));
  socket.onclose = (event) => console.log(event.code, event.reason);

  client.connect('127.0.0.1:50051', { plaintext: true });
  const response = client.invoke(
    'hello.Greeter/Say',
    { name: 'ada' },
    { metadata: { 'x-a': 'b' }, timeout: '1s' },
  );
  if (response.status === grpc.StatusOK) console.log(response.message.text);
  const stream = new grpc.Stream(client, 'hello.Greeter/Chat');
  stream.on('data', (message) => console.log(message));
  stream.on('error', (error) => console.log(error.code));
  stream.write({ name: 'bob' });
  stream.end();
  client.close();

  await file.seek(0, SeekMode.Start);
  const count = await file.read(new Uint8Array(16));
  console.log(
    count,
    rows[0].name,
    parseHTML('<p>x</p>').find('p').text(),
    hmac('sha256', 'k', 'd', 'hex').length,
    b64decode('YQ==', 'std', 's').length,
  );
}
