// Row: 8.8 k6/websockets
import { WebSocket } from 'k6/websockets';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const seen = [];
  const socket = new WebSocket(`${__ENV.WS}/path`, null, {
    headers: { 'X-Own': 'mine' },
    tags: { own: 'tag' },
  });
  socket.binaryType = 'arraybuffer';
  same(
    'connecting',
    [socket.readyState, socket.url, socket.bufferedAmount, socket.protocol, socket.extensions],
    [0, `${__ENV.WS}/path`, 0, '', []],
  );
  socket.onopen = (event) => {
    seen.push(event.type, socket.readyState);
    socket.send('head:x-own');
  };
  socket.addEventListener('message', (event) => {
    seen.push(
      event.data instanceof ArrayBuffer ? Array.from(new Uint8Array(event.data)) : event.data,
    );
    if (event.data === 'mine') socket.send('binary');
    else if (typeof event.data !== 'string' && seen.length < 5) socket.send(new Uint8Array([7, 8]));
    else socket.ping();
  });
  socket.onpong = (event) => {
    seen.push(event.type);
    socket.send('ping');
  };
  socket.onping = (event) => {
    seen.push(event.type);
    socket.close(3001, 'done');
    same('closing', socket.readyState, 2);
  };
  socket.onclose = (event) => {
    seen.push(event.type);
    console.log(JSON.stringify([event.code, event.reason, socket.readyState]));
    same('what came', seen, ['open', 1, 'mine', [1, 2, 3], [7, 8], 'pong', 'ping', 'close']);
  };
  same('does not wait', seen, []);
}
