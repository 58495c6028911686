// Row: 8.11 inspect --execution-requirements
// Command: inspect
// Args: --execution-requirements
export const options = {
  vus: 3,
  duration: '5s',
  thresholds: { http_req_duration: ['p(95)<200'] },
  tags: { team: 'a' },
};

export default function () {}
