// Row: 8.8 k6/ws and k6/websockets: what servers may answer to an offer of compression
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import { same, throws } from '../lib/same.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const server = 'server_no_context_takeover';
const client = 'client_no_context_takeover';
const agreed = `permessage-deflate; ${server}; ${client}`;
const refused = 'websocket: invalid compression negotiation';
const how = `how:${'again and '.repeat(50)}`;

/** A URL whose server answers with these headers. */
function url(headers) {
  const values = headers.map((value) => `extensions=${encodeURIComponent(value)}`);
  return `${__ENV.WS}/?${values.join('&')}`;
}

// What the server says, and what comes of it.
const answers = [
  [[], 'plain, not less'],
  [['x-other'], 'plain, not less'],
  [['Permessage-Deflate'], 'plain, not less'],
  [['x-other', agreed], 'compressed, less'],
  [[`x-other; a="b", ${agreed}, permessage-deflate`], 'compressed, less'],
  [[`permessage-deflate;${client};${server}; server_max_window_bits=9`], 'compressed, less'],
  [['permessage-deflate'], refused],
  [[`permessage-deflate; ${server}`], refused],
  [[`permessage-deflate; ${client}`], refused],
  [[`permessage-deflate; ${server}`, `permessage-deflate; ${client}`], refused],
];

function told(name, target, params, expected, extensions) {
  const socket = new WebSocket(target, null, params);
  same(`${name}: no extensions yet`, socket.extensions, []);
  const seen = [];
  socket.onopen = () => socket.send(how);
  socket.onmessage = ({ data }) => {
    seen.push(data);
    socket.close();
  };
  socket.onerror = ({ error }) => seen.push(error);
  socket.onclose = () => {
    same(`${name}: what came`, seen, [expected]);
    same(`${name}: extensions`, socket.extensions, extensions);
  };
}

export default function () {
  const offered = { compression: 'deflate' };
  answers.forEach(([headers, expected], number) => {
    const seen = [];
    const response = ws.connect(url(headers), offered, (socket) => {
      socket.on('open', () => socket.send(how));
      socket.on('message', (text) => {
        seen.push(text);
        socket.close();
      });
    });
    const isRefused = expected === refused;
    same(`k6/ws ${number}`, [response.status, seen], [101, isRefused ? [] : [expected]]);
    told(`k6/websockets ${number}`, url(headers), offered, expected, headers);
  });
  told('not offered', url([agreed]), {}, 'compressed, less', [agreed]);
  told('not offered, not agreed', url(['permessage-deflate']), {}, refused, ['permessage-deflate']);
  for (const name of ['Sec-Websocket-Extensions', 'Sec-Websocket-Key', 'Upgrade']) {
    const headers = { [name.toLowerCase()]: agreed };
    const expected = `websocket: duplicate header not allowed: ${name}`;
    told(name, url([agreed]), { headers }, expected, []);
    const { status, error } = ws.connect(url([agreed]), { headers }, () => {});
    same(`k6/ws ${name}`, [status, error], [0, expected]);
  }
  for (const compression of ['gzip', 'Deflate', null]) {
    const text = `unsupported compression algorithm '${compression}', supported algorithm is 'deflate'`;
    throws(`k6/ws ${compression}`, () => ws.connect(url([]), { compression }, () => {}), text);
    throws(`k6/websockets ${compression}`, () => new WebSocket(url([]), null, { compression }), text);
  }
  throws('k6/websockets, empty', () => new WebSocket(url([]), null, { compression: '' }), "''");
  const { status } = ws.connect(url([]), { compression: '' }, (socket) => socket.close());
  same('k6/ws, empty', status, 101);
}
