// Row: 8.3 every option as exec.test.options shows it
import exec from 'k6/execution';

export const options = {
  vus: 1,
  iterations: 1,
  batch: 7,
  batchPerHost: 3,
  blacklistIPs: ['10.9.0.0/16'],
  blockHostnames: ['*.blocked.test'],
  discardResponseBodies: true,
  dns: { ttl: '1m', select: 'first', policy: 'preferIPv6' },
  hosts: { 'made.up.test': '127.0.0.1', 'with.port.test:80': '127.0.0.1:8080' },
  httpDebug: '',
  insecureSkipTLSVerify: true,
  maxRedirects: 4,
  minIterationDuration: '10ms',
  noConnectionReuse: true,
  noCookiesReset: true,
  noVUConnectionReuse: true,
  rps: 500,
  setupTimeout: '30s',
  summaryTimeUnit: 'ms',
  summaryTrendStats: ['avg', 'p(99.9)'],
  systemTags: ['method', 'status', 'name'],
  tags: { a: 'b', n: '5' },
  teardownTimeout: '20s',
  thresholds: {
    iterations: ['count==1', { threshold: 'count<5', abortOnFail: true, delayAbortEval: '1s' }],
  },
  throw: true,
  tlsVersion: { min: 'tls1.2', max: 'tls1.3' },
  userAgent: 'mine/1',
};

export default function () {
  const all = exec.test.options;
  for (const name of Object.keys(all).sort()) {
    console.log(`${name}: ${JSON.stringify(all[name])}`);
  }
  let refused = 'nothing';
  try {
    all.vus = 5;
  } catch (error) {
    refused = String(error);
  }
  console.log(refused, all.vus, Object.isFrozen(all));
}
