//! The metrics that exist without any script's doing, k6's and ours.

use super::kind::{Contains, MetricKind};
use super::metric::MetricId;

pub(crate) struct Builtin {
    pub(crate) id: MetricId,
    pub(crate) name: &'static str,
    pub(crate) contains: Contains,
    pub(crate) is_ours: bool,
}

macro_rules! builtins {
    ($($constant:ident = $index:literal, $name:literal, $kind:ident, $contains:ident, $ours:literal;
       $doc:literal)*) => {
        $(
            #[doc = $doc]
            pub const $constant: MetricId = MetricId::new($index, MetricKind::$kind);
        )*
        pub(crate) const ALL: &[Builtin] = &[$(
            Builtin {
                id: $constant,
                name: $name,
                contains: Contains::$contains,
                is_ours: $ours,
            },
        )*];
    };
}

builtins! {
    VUS = 0, "vus", Gauge, Default, false; "Users that run a script just now."
    VUS_MAX = 1, "vus_max", Gauge, Default, false; "Users that exist."
    ITERATIONS = 2, "iterations", Counter, Default, false; "Whole runs of a scenario's function."
    ITERATION_DURATION = 3, "iteration_duration", Trend, Time, false; "What each took."
    DROPPED_ITERATIONS = 4, "dropped_iterations", Counter, Default, false;
        "Those that were due and never began."
    CHECKS = 5, "checks", Rate, Default, false; "Checks that held."
    GROUP_DURATION = 6, "group_duration", Trend, Time, false; "What each call of a group took."
    HTTP_REQS = 7, "http_reqs", Counter, Default, false; "Requests, each redirect counted."
    HTTP_REQ_FAILED = 8, "http_req_failed", Rate, Default, false; "Those with unexpected statuses."
    HTTP_REQ_DURATION = 9, "http_req_duration", Trend, Time, false;
        "Sending, waiting and receiving."
    HTTP_REQ_BLOCKED = 10, "http_req_blocked", Trend, Time, false;
        "From asking for a connection to having it, dialled or not."
    HTTP_REQ_CONNECTING = 11, "http_req_connecting", Trend, Time, false; "TCP's handshake."
    HTTP_REQ_TLS_HANDSHAKING = 12, "http_req_tls_handshaking", Trend, Time, false;
        "TLS's handshake."
    HTTP_REQ_SENDING = 13, "http_req_sending", Trend, Time, false; "Until the request is written."
    HTTP_REQ_WAITING = 14, "http_req_waiting", Trend, Time, false;
        "From there to the first byte of the answer."
    HTTP_REQ_RECEIVING = 15, "http_req_receiving", Trend, Time, false;
        "From there to the answer's end."
    WS_SESSIONS = 16, "ws_sessions", Counter, Default, false; "WebSockets opened."
    WS_MSGS_SENT = 17, "ws_msgs_sent", Counter, Default, false; "Messages sent on them."
    WS_MSGS_RECEIVED = 18, "ws_msgs_received", Counter, Default, false; "Messages that came."
    WS_PING = 19, "ws_ping", Trend, Time, false; "From a ping to its pong."
    WS_SESSION_DURATION = 20, "ws_session_duration", Trend, Time, false; "How long each was open."
    WS_CONNECTING = 21, "ws_connecting", Trend, Time, false; "What opening took."
    GRPC_REQ_DURATION = 22, "grpc_req_duration", Trend, Time, false; "From a call to its answer."
    DATA_SENT = 23, "data_sent", Counter, Data, false; "Bytes written to sockets."
    DATA_RECEIVED = 24, "data_received", Counter, Data, false; "Bytes read from sockets."
    HTTP_REQ_RESPONSE = 25, "http_req_response", Trend, Time, true;
        "From when its iteration was due, for a first request, to the answer's end."
    ITERATION_LAG = 26, "iteration_lag", Trend, Time, true;
        "How much later than due an iteration began."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place() {
        for (at, builtin) in ALL.iter().enumerate() {
            assert_eq!(builtin.id.index(), at, "{}", builtin.name);
        }
    }
}
