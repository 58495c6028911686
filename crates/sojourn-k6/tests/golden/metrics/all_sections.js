// Samples of built-in metrics that a script adds itself, so that every section is there.
import { Counter, Trend, Rate, Gauge } from 'k6/metrics';

const counter = (name, isTime) => new Counter(name, isTime);
const metrics = [
  new Counter('http_reqs'), new Trend('http_req_duration', true), new Trend('http_req_blocked', true),
  new Trend('http_req_connecting', true), new Trend('http_req_tls_handshaking', true),
  new Trend('http_req_sending', true), new Trend('http_req_waiting', true), new Trend('http_req_receiving', true),
  new Rate('http_req_failed'), new Counter('ws_sessions'), new Counter('ws_msgs_sent'), new Counter('ws_msgs_received'),
  new Trend('ws_ping', true), new Trend('ws_session_duration', true), new Trend('ws_connecting', true),
  new Trend('grpc_req_duration', true), new Counter('grpc_streams'), new Counter('grpc_streams_msgs_sent'),
  new Counter('grpc_streams_msgs_received'), new Counter('dropped_iterations'), new Trend('group_duration', true),
  new Trend('browser_web_vital_lcp', true), new Counter('browser_data_sent'), new Trend('browser_http_req_duration', true),
  new Rate('browser_http_req_failed'), new Counter('kafka_writer_message_count'),
];

export default function () {
  metrics.forEach((metric, at) => metric.add(at % 5, { expected_response: String(at % 2 === 0) }));
}
