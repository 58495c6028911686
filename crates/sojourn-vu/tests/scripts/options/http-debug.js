// Row: 8.3 httpDebug
// Args: --http-debug
import http from 'k6/http';

export const options = { userAgent: 'own' };

export default function () {
  http.get(`${__ENV.BASE}/data/test.json`, {
    headers: { 'X-A': 'b', 'accept-encoding': 'identity' },
  });
}
