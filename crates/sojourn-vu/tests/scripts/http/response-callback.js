// Row: 8.5 expectedStatuses, setResponseCallback, params.responseCallback
import http from 'k6/http';
import { Rate } from 'k6/metrics';

export const options = {
  thresholds: {
    'http_req_failed{case:usual}': ['rate==0'],
    'http_req_failed{case:wrong}': ['rate==1'],
    'http_req_failed{case:own}': ['rate==0'],
    'http_req_failed{case:range}': ['rate==0.5'],
    'http_req_failed{case:set}': ['rate==0'],
    'http_reqs{case:none}': ['count==1'],
    'http_reqs{expected_response:true}': ['count==4'],
    'http_req_duration{expected_response:false}': ['max>=0'],
  },
};

export default function () {
  const get = (status, which, params) =>
    http.get(`${__ENV.BASE}/x?status=${status}`, Object.assign({ tags: { case: which } }, params));
  get(200, 'usual');
  get(404, 'wrong');
  get(404, 'own', { responseCallback: http.expectedStatuses(404) });
  const range = { responseCallback: http.expectedStatuses({ min: 500, max: 502 }, 418) };
  get(501, 'range', range);
  get(503, 'range', range);
  get(500, 'none', { responseCallback: null });
  http.setResponseCallback(http.expectedStatuses(503));
  get(503, 'set');
  http.setResponseCallback(null);
  get(200, 'gone');
}
