// Row: 8.8 k6/experimental/websockets: the same, with a warning
import { WebSocket } from 'k6/experimental/websockets';

export default function () {
  const socket = new WebSocket(__ENV.WS);
  socket.onopen = () => socket.send('echo');
  socket.onmessage = (event) => {
    console.log(event.data);
    socket.close();
  };
}
