// Row: 8.5 what can't be decompressed: error code 1701; an unknown algorithm
import http from 'k6/http';

export default function () {
  const response = http.get(`${__ENV.ROUTES}/gzip-broken`);
  console.log(response.status, response.error_code, response.error);
  try {
    http.post(`${__ENV.BASE}/x`, 'a', { compression: 'lzma' });
  } catch (error) {
    console.log(String(error));
  }
}
