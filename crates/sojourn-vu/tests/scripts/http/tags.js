// Row: 8.5 params.tags, http.url, and the name and url tags
import http from 'k6/http';

export const options = {
  thresholds: {
    'http_reqs{own:tag}': ['count==1'],
    'http_reqs{name:a name}': ['count==1'],
    'http_reqs{status:404}': ['count==1'],
    'http_reqs{method:POST}': ['count==1'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/plain?a=1#fragment`);
  http.get(`${__ENV.BASE}/own`, { tags: { own: 'tag', number: 5 } });
  http.get(`${__ENV.BASE}/named/17`, { tags: { name: 'a name' } });
  http.get(http.url`${__ENV.BASE}/templated/${17}`);
  http.post(`${__ENV.BASE}/posted`, 'x');
  http.get(`${__ENV.BASE}/gone?status=404`);
  http.get(`${__ENV.BASE.replace('//', '//user:pass@')}/with-password`);
  http.get('http://127.0.0.1:1/refused');
  http.get(`${__ENV.ROUTES}/hops/1`);
  http.get(`${__ENV.BASE}/method`, { tags: { method: 'mine', status: 'mine' } });
}
