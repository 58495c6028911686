// Row: 8.8 k6/ws: closed by the server, refused, not there
import ws from 'k6/ws';

export const options = { iterations: 3 };

export default function () {
  const url = [__ENV.WS, `${__ENV.WS}/refuse`, 'ws://127.0.0.1:1/'][__ITER];
  try {
    const response = ws.connect(url, {}, (socket) => {
      socket.on('open', () => socket.send('close'));
      socket.on('close', (code) => console.log(`closed ${code}`));
      socket.on('error', (error) => console.log(`error ${error.error()}`));
    });
    console.log(`status ${response.status}`);
  } catch (error) {
    console.log(String(error));
  }
}
