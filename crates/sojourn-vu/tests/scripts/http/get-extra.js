// Row: 8.5 get with an argument too many is warned of
import http from 'k6/http';

export default function () {
  http.get(`${__ENV.BASE}/x`, null, { headers: { 'X-A': '1' } });
  http.head(`${__ENV.BASE}/x`, null, {});
}
