// Row: 8.8 k6/ws and k6/websockets over TLS
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import { same } from '../lib/same.js';

export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };

export default function () {
  const url = __ENV.SECURE.replace('https:', 'wss:');
  const seen = [];
  const response = ws.connect(`${url}/blocking`, (socket) => {
    socket.on('open', () => socket.send('hello'));
    socket.on('message', (text) => {
      seen.push(text);
      socket.close();
    });
  });
  same('blocking', [response.status, seen], [101, ['hello']]);
  const socket = new WebSocket(`${url}/events`);
  socket.onopen = () => socket.send('there');
  socket.onmessage = (event) => {
    same('events', event.data, 'there');
    socket.close();
  };
}
