// Row: 8.8 k6/ws: a socket holds the iteration
import ws from 'k6/ws';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const seen = [];
  const params = { headers: { 'X-Own': 'mine' }, tags: { own: 'tag' } };
  const response = ws.connect(`${__ENV.WS}/path`, params, (socket) => {
    socket.on('open', () => {
      seen.push('open');
      socket.send('head:x-own');
    });
    socket.on('message', (text) => {
      seen.push(text);
      if (text === 'mine') socket.send('binary');
      if (text === 'last') socket.close();
    });
    socket.on('binaryMessage', (data) => {
      seen.push(data instanceof ArrayBuffer ? Array.from(new Uint8Array(data)) : typeof data);
      if (data.byteLength === 3) socket.ping();
    });
    socket.on('pong', () => {
      seen.push('pong');
      socket.send('ping');
    });
    socket.on('ping', () => {
      seen.push('ping');
      socket.sendBinary(new Uint8Array([9]).buffer);
      socket.setTimeout(() => socket.send('last'), 100);
    });
    socket.on('close', (code) => seen.push(['close', code]));
    socket.on('error', (error) => seen.push(error.error()));
  });
  same('an answer', [response.status, typeof response.headers], [101, 'object']);
  same('what came', seen, [
    'open',
    'mine',
    [1, 2, 3],
    'pong',
    'ping',
    [9],
    'last',
    ['close', 1001],
  ]);
}
