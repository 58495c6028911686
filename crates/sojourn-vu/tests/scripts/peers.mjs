// Peers of the scripts: a WebSocket echo and a gRPC service, also with TLS, without dependencies.
//   node peers.mjs        prints their addresses, `WS=… GRPC=… SECURE=… GRPCS=…`, and serves
//                         until it is ended
//
// HTTP, at the same ports as WebSockets: /address tells where a request comes from, /certificate
// the name in the client's certificate (of those that certificates/two.crt has signed),
// /coded/NAME answers in that coding.
//
// WebSocket: what comes goes back; the text `close` closes with 1001 and the reason `asked`; `ping`
// sends a ping; `head:NAME` tells a header of the upgrade; `binary` sends the bytes 1, 2, 3. A path
// of /refuse answers 403.
//
// With ?extensions=VALUE the upgrade is answered with that header `Sec-WebSocket-Extensions` (there
// may be several), and if one names `permessage-deflate` (RFC 7692), what goes back is compressed.
// There `how:…` tells how that message came, `pieces:…` comes back in fragments with a ping between,
// and `raw:HEX` sends these bytes as they are.
//
// gRPC, as in lib/hello.proto. Names: `fail` is NOT_FOUND with the text `nobody of that name`;
// `slow` waits 2 s. Metadata `x-echo` comes back as a header and as the trailer `x-echo-trailer`.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  gzipSync,
  inflateRawSync,
} from 'node:zlib';

const file = (name) => readFileSync(new URL(`lib/certificates/${name}`, import.meta.url));
const identity = { key: file('server.key'), cert: file('server.crt') };

const text = Buffer.from('in any coding');
// A frame of one block that is not compressed (RFC 8878, section 3.1.1).
const zstd = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length, (text.length << 3) | 1, 0, 0]),
  text,
]);
const coded = {
  br: brotliCompressSync(text),
  zstd,
  'gzip, br': brotliCompressSync(gzipSync(text)),
  unheard: text,
};

function respond(request, response) {
  const path = decodeURIComponent(request.url);
  const coding = path.slice('/coded/'.length);
  if (path === '/address') response.end(request.socket.remoteAddress);
  else if (path === '/certificate')
    response.end(String(request.socket.getPeerCertificate().subject?.CN));
  else if (path.startsWith('/coded/'))
    response.setHeader('content-encoding', coding).end(coded[coding]);
  else response.writeHead(426).end();
}

const web = createServer(respond);
const secure = https.createServer(
  { ...identity, requestCert: true, rejectUnauthorized: false, ca: [file('two.crt')] },
  respond,
);
const upgrade = (request, socket) => {
  if (request.url.startsWith('/refuse')) {
    socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    return;
  }
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  const protocol = request.headers['sec-websocket-protocol'];
  const extensions = new URL(request.url, 'ws://peer').searchParams.getAll('extensions');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol ? [`Sec-WebSocket-Protocol: ${protocol.split(',')[0]}`] : []),
    ...extensions.map((value) => `Sec-WebSocket-Extensions: ${value}`),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  socket.deflates = extensions.some((value) => value.includes('permessage-deflate'));
  let rest = Buffer.alloc(0);
  let begun = null;
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let frame = next(rest); frame; frame = next(rest)) {
      rest = rest.subarray(frame.length);
      if (frame.opcode < 8) {
        // Clients may send a message in several frames.
        const { opcode, isMarked } = begun ?? frame;
        const payload = begun ? Buffer.concat([begun.payload, frame.payload]) : frame.payload;
        frame = { ...frame, opcode, isMarked, payload };
        begun = frame.isLast ? null : frame;
        if (begun) continue;
      }
      if (!socket.destroyed) answer(socket, request, frame);
    }
  });
  socket.on('error', () => {});
};
web.on('upgrade', upgrade);
secure.on('upgrade', upgrade);

/** The first frame (RFC 6455, section 5.2), unmasked; undefined if it is not all there. */
function next(bytes) {
  if (bytes.length < 2) return undefined;
  let size = bytes[1] & 127;
  let at = 2;
  if (size === 126) {
    if (bytes.length < 4) return undefined;
    size = bytes.readUInt16BE(2);
    at = 4;
  } else if (size === 127) {
    if (bytes.length < 10) return undefined;
    size = Number(bytes.readBigUInt64BE(2));
    at = 10;
  }
  const isMasked = bytes[1] & 128;
  const begin = at + (isMasked ? 4 : 0);
  if (bytes.length < begin + size) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(begin, begin + size));
  if (isMasked)
    payload.forEach((byte, k) => {
      payload[k] = byte ^ mask[k % 4];
    });
  const [isLast, isMarked] = [bytes[0] & 128, bytes[0] & 64];
  return { opcode: bytes[0] & 15, isLast, isMarked, payload, length: begin + size };
}

/** Writes a frame; `first` is its first byte. */
function write(socket, first, data) {
  const head =
    data.length < 126
      ? Buffer.from([first, data.length])
      : Buffer.from([first, 126, data.length >> 8, data.length & 255]);
  socket.write(Buffer.concat([head, data]));
}

const flushed = { finishFlush: constants.Z_SYNC_FLUSH };
const flush = Buffer.from([0, 0, 255, 255]);
const deflated = (data) => deflateRawSync(data, flushed).subarray(0, -flush.length);
const inflated = (data) => inflateRawSync(Buffer.concat([data, flush]), flushed);

function send(socket, opcode, payload) {
  const data = Buffer.from(payload);
  if (socket.deflates && opcode < 8) write(socket, 128 | 64 | opcode, deflated(data));
  else write(socket, 128 | opcode, data);
}

function sendInPieces(socket, payload) {
  const data = deflated(payload);
  const third = Math.ceil(data.length / 3);
  write(socket, 64 | 1, data.subarray(0, third));
  write(socket, 0, data.subarray(third, 2 * third));
  send(socket, 9, 'between');
  write(socket, 128, data.subarray(2 * third));
}

function answer(socket, request, { opcode, isMarked, payload: came }) {
  const payload = isMarked ? inflated(came) : came;
  const text = opcode === 1 ? payload.toString() : '';
  if (opcode === 8) {
    send(socket, 8, payload);
    socket.end();
  } else if (opcode === 9) send(socket, 10, payload);
  else if (text === 'close')
    send(socket, 8, Buffer.concat([Buffer.from([3, 233]), Buffer.from('asked')]));
  else if (text === 'ping') send(socket, 9, '');
  else if (text === 'binary') send(socket, 2, [1, 2, 3]);
  else if (text.startsWith('head:')) send(socket, 1, String(request.headers[text.slice(5)]));
  else if (text.startsWith('how:')) {
    const size = came.length < payload.length ? 'less' : 'not less';
    send(socket, 1, `${isMarked ? 'compressed' : 'plain'}, ${size}`);
  } else if (text.startsWith('pieces:')) sendInPieces(socket, payload);
  else if (text.startsWith('raw:')) socket.write(Buffer.from(text.slice(4), 'hex'));
  else if (opcode === 1 || opcode === 2) send(socket, opcode, payload);
}

// Messages have one text (field 1) or one number (field 1), so their encoding is written out here.
const textField = (text) => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([10, bytes.length]), bytes]);
};
const numberField = (number) => Buffer.from(number === 0 ? [] : [8, number]);
const textOf = (bytes) => (bytes.length < 2 ? '' : bytes.subarray(2, 2 + bytes[1]).toString());
const numberOf = (bytes) => (bytes.length < 2 ? 0 : bytes[1]);
const framed = (message) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

const grpc = http2.createServer();
const grpcSecure = http2.createSecureServer(identity);
const call = (stream, headers) => {
  const method = headers[':path'].split('/').pop();
  let status = 0;
  let message = '';
  const echo = headers['x-echo'];
  stream.on('error', () => {});
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', ...(echo && { 'x-echo': echo }) },
    { waitForTrailers: true },
  );
  stream.on('wantTrailers', () =>
    stream.sendTrailers({
      'grpc-status': String(status),
      ...(message && { 'grpc-message': message }),
      ...(echo && { 'x-echo-trailer': echo }),
    }),
  );
  const fail = (code, text) => {
    status = code;
    message = text;
    stream.end();
  };
  let rest = Buffer.alloc(0);
  let sum = 0;
  const one = (bytes) => {
    if (method === 'Say') {
      const name = textOf(bytes);
      if (name === 'fail') fail(5, 'nobody of that name');
      else
        setTimeout(
          () => stream.end(framed(textField(`hello ${name}`))),
          name === 'slow' ? 2000 : 0,
        );
    } else if (method === 'Count') {
      for (let n = 1; n <= numberOf(bytes); n++) stream.write(framed(numberField(n)));
      stream.end();
    } else if (method === 'Sum') sum += numberOf(bytes);
    else if (method === 'Chat') stream.write(framed(textField(`you said ${textOf(bytes)}`)));
    else if (method === 'Check') stream.end(framed(numberField(1)));
    else fail(12, 'no such method');
  };
  stream.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const size = rest.readUInt32BE(1);
      one(rest.subarray(5, 5 + size));
      rest = rest.subarray(5 + size);
    }
  });
  stream.on('end', () => {
    if (method === 'Sum') stream.end(framed(numberField(sum)));
    if (method === 'Chat') stream.end();
  });
};
grpc.on('stream', call);
grpcSecure.on('stream', call);

const listen = (server) =>
  new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
const ports = await Promise.all([web, grpc, secure, grpcSecure].map(listen));
const starts = ['WS=ws://', 'GRPC=', 'SECURE=https://', 'GRPCS='];
console.log(starts.map((start, at) => `${start}127.0.0.1:${ports[at]}`).join(' '));
