// Row: 8.8 k6/ws: a handler that throws; wrong params
import ws from 'k6/ws';

export const options = { iterations: 3 };

export default function () {
  if (__ITER === 0) {
    ws.connect(__ENV.WS, {}, (socket) =>
      socket.on('open', () => {
        throw new Error('in a handler');
      }),
    );
  }
  if (__ITER === 1)
    ws.connect(__ENV.WS, { unknown: 1 }, (socket) => socket.on('open', () => socket.close()));
  if (__ITER === 2) ws.connect(__ENV.WS, {});
  console.log('went on');
}
