// Row: 8.4 to 8.9: what each module has
import * as k6 from 'k6';
import * as crypto from 'k6/crypto';
import * as data from 'k6/data';
import * as encoding from 'k6/encoding';
import * as exec from 'k6/execution';
import * as html from 'k6/html';
import * as http from 'k6/http';
import * as metrics from 'k6/metrics';
import * as grpc from 'k6/net/grpc';
import * as timers from 'k6/timers';
import * as websockets from 'k6/websockets';
import * as ws from 'k6/ws';

const modules = {
  k6,
  crypto,
  data,
  encoding,
  exec,
  html,
  http,
  metrics,
  grpc,
  timers,
  websockets,
  ws,
};

export default function () {
  for (const name of Object.keys(modules)) {
    const it = modules[name].default || modules[name];
    // k6 leaves the default export out of namespaces.
    const names = Object.keys(modules[name]).filter((key) => key !== 'default');
    console.log(`${name}: ${names.sort().join(' ')}`);
    console.log(`${name}, default: ${Object.keys(it).sort().join(' ')}`);
  }
}
