// Row: 8.5 nested objects in a form: a warning
import http from 'k6/http';
import { echoedBody } from '../lib/same.js';

export default function () {
  console.log(echoedBody(http.post(`${__ENV.BASE}/x`, { a: { b: 1 }, c: 2 })));
  console.log(echoedBody(http.post(`${__ENV.BASE}/x`, { a: [{ b: 1 }, null] })));
  console.log(echoedBody(http.post(`${__ENV.BASE}/x`, 5)));
}
