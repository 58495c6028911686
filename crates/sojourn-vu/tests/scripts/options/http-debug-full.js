// Row: 8.3 httpDebug=full: bodies too
// Args: --http-debug=full
import http from 'k6/http';

export const options = { userAgent: 'own' };

export default function () {
  http.post(`${__ENV.ROUTES}/submit`, 'what is sent', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}
