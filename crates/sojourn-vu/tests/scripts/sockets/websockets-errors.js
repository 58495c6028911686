// Row: 8.8 k6/websockets: closed by the server, refused, not there, misused
import { WebSocket } from 'k6/websockets';

export const options = { iterations: 5 };

export default function () {
  if (__ITER >= 3) {
    try {
      if (__ITER === 3) new WebSocket('not a url');
      else new WebSocket(__ENV.WS, null, { unknown: 1 });
      console.log('made');
    } catch (error) {
      console.log(String(error));
    }
    return;
  }
  const socket = new WebSocket([__ENV.WS, `${__ENV.WS}/refuse`, 'ws://127.0.0.1:1/'][__ITER]);
  try {
    socket.send('too early');
  } catch (error) {
    console.log(String(error));
  }
  socket.onopen = () => socket.send('close');
  socket.onerror = (event) => console.log(`error: ${event.error}`);
  socket.onclose = (event) => console.log(`closed: ${event.code} ${event.reason}`);
}
