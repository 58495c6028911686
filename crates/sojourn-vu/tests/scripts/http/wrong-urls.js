// Row: 8.5 URLs that are none
import http from 'k6/http';

export const options = { iterations: 8 };

const urls = [
  '',
  'no scheme',
  'ftp://127.0.0.1/x',
  'http://',
  'http://a b/',
  '/relative',
  'http://[::1',
  undefined,
];

export default function () {
  console.log(`status ${http.get(urls[__ITER]).status}, ${http.get(urls[__ITER]).error_code}`);
}
