// Row: 8.3 systemTags take the place of the usual ones
import http from 'k6/http';

export const options = { iterations: 1, systemTags: ['status', 'vu', 'iter', 'ip', 'not-one'] };

export default function () {
  http.get(`${__ENV.BASE}/x`);
}
