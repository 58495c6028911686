// Row: 8.8 k6/websockets: blobs
import { Blob, WebSocket } from 'k6/websockets';
import { same } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const socket = new WebSocket(__ENV.WS);
  same('by default', socket.binaryType, 'blob');
  const blob = new Blob(['ab', new Uint8Array([99]), new Uint8Array([100]).buffer], {
    type: 'text/plain',
  });
  same('a blob', [blob.size, blob.type], [4, 'text/plain']);
  // k6 does not take blobs in send(), nor are they instances of Blob.
  socket.onopen = () => socket.send('binary');
  socket.onmessage = async (event) => {
    same('comes back', [typeof event.data, event.data.size], ['object', 3]);
    same('its text', await blob.text(), 'abcd');
    same('its bytes', Array.from(new Uint8Array(await event.data.arrayBuffer())), [1, 2, 3]);
    same('a part', await blob.slice(1, 3).text(), 'bc');
    same('places', [blob.slice('2').size, blob.slice(null).size, blob.slice(1.9).size], [2, 4, 3]);
    same('types', [new Blob([], { type: 5 }).type, blob.slice(0, 1, 5).type], ['5', '5']);
    same('as a text', String(blob), '[object Blob]');
    same('a stream', typeof blob.stream().getReader, 'function');
    socket.close();
  };
}
