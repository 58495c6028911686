//! Under which heading a metric stands in the compact and the full summary.

use super::text::Mode;

/// A heading among a block's metrics, in the order of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Custom,
    Http,
    Execution,
    Network,
    Browser,
    WebVitals,
    Grpc,
    WebSocket,
}

impl Section {
    pub(super) const ALL: [Self; 8] = [
        Self::Custom,
        Self::Http,
        Self::Execution,
        Self::Network,
        Self::Browser,
        Self::WebVitals,
        Self::Grpc,
        Self::WebSocket,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Custom => "CUSTOM",
            Self::Http => "HTTP",
            Self::Execution => "EXECUTION",
            Self::Network => "NETWORK",
            Self::Browser => "BROWSER",
            Self::WebVitals => "WEB_VITALS",
            Self::Grpc => "GRPC",
            Self::WebSocket => "WEBSOCKET",
        }
    }

    /// That of a metric, by its name without tags; none for those that are not listed. k6 goes by
    /// names and their beginnings, a script's own metrics included.
    pub(super) fn of(name: &str, mode: Mode) -> Option<Self> {
        match name {
            "http_req_duration" | "http_req_failed" | "http_reqs" => return Some(Self::Http),
            "http_req_blocked"
            | "http_req_connecting"
            | "http_req_receiving"
            | "http_req_sending"
            | "http_req_tls_handshaking"
            | "http_req_waiting" => return (mode == Mode::Full).then_some(Self::Http),
            "iteration_duration" | "dropped_iterations" => return Some(Self::Execution),
            "data_sent" | "data_received" => return Some(Self::Network),
            "group_duration" => return None,
            _ => {}
        }
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        Some(if begins(&["checks"]) {
            return None;
        } else if begins(&["vus", "iterations"]) {
            Self::Execution
        } else if begins(&["browser_web_vital_"]) {
            Self::WebVitals
        } else if begins(&["browser_"]) {
            Self::Browser
        } else if begins(&["grpc_"]) {
            Self::Grpc
        } else if begins(&["ws_"]) {
            Self::WebSocket
        } else {
            Self::Custom
        })
    }
}
