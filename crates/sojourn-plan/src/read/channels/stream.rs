//! WebSockets and server-sent events.

use crate::{Secret, SseChannel, WebSocketChannel};

use super::server::{Schemes, TLS};
use crate::read::Reader;
use crate::read::fields::{Fields, given_or};
use crate::read::node::Node;
use crate::read::shape::Kind::{Duration, Either, List, Map, Named, Text};
use crate::read::shape::{Field, Shape};

const WEBSOCKET_SCHEMES: Schemes = &[("ws", false, 80), ("wss", true, 443)];
const SSE_SCHEMES: Schemes = &[("http", false, 80), ("https", true, 443)];

pub(crate) static WEBSOCKET: Shape = Shape {
    name: "a websocket channel",
    doc: "Messages that a WebSocket's server sends.",
    fields: &[
        Field::new("url", Text, "`ws://` or `wss://`.").required(),
        Field::new("headers", Named(&Text), "Headers of the handshake."),
        Field::new("send", Either(&[Text, List(&Text)]), "Sent at once, such as a subscription."),
        Field::new("protocols", Either(&[Text, List(&Text)]), "Subprotocols offered."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

pub(crate) static SSE: Shape = Shape {
    name: "an sse channel",
    doc: "Server-sent events.",
    fields: &[
        Field::new("url", Text, "`http://` or `https://`.").required(),
        Field::new("headers", Named(&Text), "Headers of the request."),
        Field::new("events", Either(&[Text, List(&Text)]), "Names of events; all by default."),
        Field::new("silence", Duration, "Longest silence before the connection counts as lost."),
        Field::new("tls", Map(&TLS), "How TLS is trusted."),
    ],
};

impl Reader<'_> {
    pub(super) fn websocket(&mut self, node: &Node) -> Option<WebSocketChannel> {
        let fields = Fields::of(node, &WEBSOCKET, &mut self.problems)?;
        let server = self.server(&fields, WEBSOCKET_SCHEMES);
        let headers = self.secret_headers(&fields)?;
        let send = given_or(fields.get("send"), Vec::new(), |node| self.texts(node));
        let protocols = given_or(fields.get("protocols"), Vec::new(), |node| self.texts(node));
        Some(WebSocketChannel { server: server?, headers, send: send?, protocols: protocols? })
    }

    pub(super) fn sse(&mut self, node: &Node) -> Option<SseChannel> {
        let fields = Fields::of(node, &SSE, &mut self.problems)?;
        let server = self.server(&fields, SSE_SCHEMES);
        let headers = self.secret_headers(&fields)?;
        let events = given_or(fields.get("events"), Vec::new(), |node| self.texts(node));
        let silence = given_or(fields.get("silence"), None, |node| {
            self.problems.duration_above_zero(node).map(Some)
        });
        Some(SseChannel { server: server?, headers, events: events?, silence_ns: silence? })
    }

    /// Headers whose values are never shown.
    pub(in crate::read) fn secret_headers(
        &mut self,
        fields: &Fields<'_>,
    ) -> Option<Vec<(String, Secret)>> {
        let mut headers = Vec::new();
        if let Some(node) = fields.get("headers") {
            for (key, value) in self.problems.map(node)? {
                let value = self.problems.text(value)?;
                headers.push((key.name.clone(), Secret::new(value)));
            }
        }
        Some(headers)
    }
}
