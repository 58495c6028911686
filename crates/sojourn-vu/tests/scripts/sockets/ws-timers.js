// Row: 8.8 k6/ws: setInterval, setTimeout, several handlers
import ws from 'k6/ws';
import { same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  let ticks = 0;
  let echoes = 0;
  ws.connect(__ENV.WS, null, (socket) => {
    socket.on('open', () => {
      socket.setInterval(() => {
        ticks += 1;
        socket.send(`tick ${ticks}`);
        if (ticks === 3) socket.setTimeout(() => socket.close(1000), 100);
      }, 60);
    });
    socket.on('message', () => {
      echoes += 1;
    });
    socket.on('message', () => {
      echoes += 10;
    });
  });
  same('ticks and echoes', [ticks >= 3, echoes >= 33], [true, true]);
}
