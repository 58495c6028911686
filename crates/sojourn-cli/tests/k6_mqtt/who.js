// Who clients say they are: each way to say it.
import { check } from 'k6';
import { Client } from 'k6/x/mqtt';

export const options = { iterations: 1, thresholds: { checks: ['rate==1'] } };

export default function () {
  const [username, password] = [__ENV.NAME, __ENV.PASSWORD];
  let asked = 0;
  const credentials_provider = () => { asked += 1; return { username, password }; };
  const clients = {
    options: new Client({ client_id: 'by-options', username, password }),
    url: new Client({ client_id: 'by-url' }),
    provider: new Client({ client_id: 'by-provider', username: 'nobody', credentials_provider }),
  };
  clients.options.connect(`127.0.0.1:${__ENV.PORT}`, { keepalive: 17, clean_session: false });
  clients.url.connect(__ENV.GUARDED);
  clients.provider.connect(`tcp://127.0.0.1:${__ENV.PORT}`);
  clients.provider.reconnect();
  check(clients, {
    'all are in': (it) => Object.values(it).every((client) => client.connected),
    'asked each time': () => asked === 2,
  });
  Object.values(clients).forEach((client) => client.end());
}
