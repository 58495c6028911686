// Row: 8.8 k6/ws and k6/websockets: compressed messages (permessage-deflate)
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import { same } from '../lib/same.js';

export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

const offer = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
const agreed = `?extensions=${encodeURIComponent(offer)}`;
// RFC 7692, section 7.2.3: one block, fragments, a stored block, a last block, two blocks.
const hellos = [
  'c107f248cdc9c90700',
  '4103f248cd8004c9c90700',
  'c10b000500faff48656c6c6f00',
  'c108f348cdc9c9070000',
  'c10df24805000000ffffcac9c90700',
];
const long = 'all work and no play makes Jack a dull boy '.repeat(400);
const texts = ['head:sec-websocket-extensions', `how:${long}`, '', 'žluťoučký kůň', long];

/** What comes back for these texts, by k6/ws. */
function exchange(url, params, sent) {
  const came = [];
  const response = ws.connect(url, params, (socket) => {
    const next = () => (came.length < sent.length ? socket.send(sent[came.length]) : socket.close());
    socket.on('open', next);
    socket.on('message', (text) => {
      came.push(text);
      next();
    });
    socket.on('error', (error) => came.push(['error', error.error()]));
    socket.setTimeout(() => socket.close(), 5000);
  });
  return { came, headers: response.headers };
}

export default function () {
  const secure = __ENV.SECURE.replace('https:', 'wss:');
  const compression = 'deflate';
  const back = [offer, 'compressed, less', '', 'žluťoučký kůň', long];
  for (const base of [__ENV.WS, secure]) {
    const { came, headers } = exchange(`${base}/${agreed}`, { compression }, texts);
    same('compressed', came, back);
    same('agreed', headers['Sec-Websocket-Extensions'], offer);
  }
  const plain = exchange(`${__ENV.WS}/`, { compression }, texts);
  same('not agreed', plain.came, [offer, 'plain, not less', ...back.slice(2)]);
  const silent = exchange(`${__ENV.WS}/`, {}, ['head:sec-websocket-extensions', 'how:']);
  same('not offered', silent.came, ['undefined', 'plain, not less']);
  const raw = exchange(`${__ENV.WS}/${agreed}`, { compression }, [
    ...hellos.map((bytes) => `raw:${bytes}`),
    'raw:810548656c6c6f',
    `pieces:${long}`,
  ]);
  same('as others send it', raw.came, [...hellos.map(() => 'Hello'), 'Hello', `pieces:${long}`]);

  const seen = [];
  let pings = 0;
  const socket = new WebSocket(`${__ENV.WS}/${agreed}`, null, { compression });
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => {
    seen.push(socket.extensions);
    socket.send(`how:${long}`);
  };
  socket.onping = () => {
    pings += 1;
  };
  socket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) {
      seen.push(Array.from(new Uint8Array(data)));
      socket.send('pieces:one after the other');
    } else {
      seen.push(data);
      // k6 may tell of the ping after the message that it came within.
      if (data.startsWith('pieces:')) setTimeout(() => socket.close(), 50);
      else socket.send(new Uint8Array([1, 1, 1, 2]));
    }
  };
  socket.onclose = () => {
    same('events', seen, [[offer], 'compressed, less', [1, 1, 1, 2], 'pieces:one after the other']);
    same('a ping between', pings, 1);
  };
}
