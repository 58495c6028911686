// Thresholds on metrics that never get a sample.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const kinds = { counter: Counter, gauge: Gauge, rate: Rate, trend: Trend };
for (const [name, Kind] of Object.entries(kinds)) {
  for (let k = 0; k < 6; k++) new Kind(`${name}_${k}`);
}

export const options = {
  thresholds: {
    counter_0: ['count>0'], counter_1: ['count<1'], counter_2: ['rate>0'], counter_3: ['rate==0'],
    gauge_0: ['value>0'], gauge_1: ['value<1'],
    rate_0: ['rate>0.5'], rate_1: ['rate<0.5'], rate_2: ['rate==0'],
    trend_0: ['avg>1'], trend_1: ['avg<1'], trend_2: ['p(95)>1'], trend_3: ['max<1', 'min>1', 'med==0'],
    'trend_4{a:b}': ['avg<1'], 'rate_4{a:b}': ['rate>0.5'], 'counter_4{a:b}': ['count>0'],
    http_req_duration: ['p(95)<500'], http_req_failed: ['rate<0.1'],
    ws_sessions: ['count>0'], grpc_req_duration: ['p(95)<10'],
  },
};

export default function () {}
