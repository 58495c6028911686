// Row: 8.5 post, put, patch, del, options, request
import http from 'k6/http';
import { echoedBody, same, strict } from '../lib/same.js';

export const options = strict;

export default function () {
  const url = `${__ENV.BASE}/x`;
  const told = (response) => [response.body.split(' ')[0], echoedBody(response)];
  same('post', told(http.post(url, 'a body')), ['POST', 'a body']);
  same('put', told(http.put(url, 'a body')), ['PUT', 'a body']);
  same('patch', told(http.patch(url, 'a body')), ['PATCH', 'a body']);
  same('del', told(http.del(url, 'a body')), ['DELETE', 'a body']);
  same('del without', told(http.del(url)), ['DELETE', '']);
  same('options', told(http.options(url, 'a body')), ['OPTIONS', 'a body']);
  same('request', told(http.request('POST', url, 'a body')), ['POST', 'a body']);
  same('as it is written', told(http.request('put', url, 'a body')), ['put', 'a body']);
  same('one of its own', told(http.request('PURGE', url)), ['PURGE', '']);
  same('get with a body', told(http.request('GET', url, 'a body')), ['GET', 'a body']);
}
