// Row: 8.3 blacklistIPs, blockHostnames: error codes
import http from 'k6/http';
import { same } from '../lib/same.js';

export const options = {
  blacklistIPs: ['10.1.0.0/16', '10.2.3.4/32'],
  blockHostnames: ['blocked.test', '*.deep.test'],
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const told = (url) => {
    const response = http.get(url);
    console.log(response.error);
    return [response.status, response.error_code];
  };
  same('a net', told('http://10.1.2.3/'), [0, 1110]);
  same('an address', told('http://10.2.3.4:81/'), [0, 1110]);
  same('a name', told('http://blocked.test/'), [0, 1111]);
  same('a pattern', told('http://x.y.deep.test/'), [0, 1111]);
}
