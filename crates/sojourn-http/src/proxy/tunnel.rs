//! Making a tunnel through a proxy, without I/O: what to send, what came, is it open.

use std::sync::Arc;

use super::connect::{ConnectReply, connect_request};
use super::socks5::{self, Socks5Step};
use super::{Proxies, Proxy, ProxyKind};
use crate::{HostPort, RequestError};

/// How each tunnel to an origin is made.
#[derive(Debug)]
pub(crate) struct TunnelPlan {
    protocol: Protocol,
    /// The proxy, for messages.
    proxy: String,
    /// The origin, for messages.
    target: String,
}

#[derive(Debug)]
enum Protocol {
    Connect { request: Vec<u8> },
    Socks5 { messages: socks5::Messages },
}

impl TunnelPlan {
    /// Fails when a CONNECT header can't be sent or a name is too long for SOCKS.
    pub(crate) fn new(
        proxies: &Proxies,
        proxy: &Proxy,
        target: &HostPort,
    ) -> Result<Self, RequestError> {
        let protocol = match proxy.kind {
            ProxyKind::Http => {
                let authorization = proxy.authorization();
                let headers = &proxies.connect_headers;
                Protocol::Connect { request: connect_request(target, authorization, headers)? }
            }
            ProxyKind::Socks5 => {
                let messages = socks5::Messages::new(target, proxy.user.as_ref());
                Protocol::Socks5 { messages: messages.ok_or(RequestError::Host)? }
            }
        };
        Ok(Self { protocol, proxy: proxy.address.to_string(), target: target.to_string() })
    }
}

/// A tunnel being made.
#[derive(Debug)]
pub struct Tunnel {
    plan: Arc<TunnelPlan>,
    unsent: Vec<u8>,
    state: State,
}

#[derive(Debug)]
enum State {
    Connect(ConnectReply),
    Socks5(socks5::Conversation),
}

impl Tunnel {
    pub(crate) fn new(plan: &Arc<TunnelPlan>) -> Self {
        let (unsent, state) = match &plan.protocol {
            Protocol::Connect { request } => {
                (request.clone(), State::Connect(ConnectReply::default()))
            }
            Protocol::Socks5 { messages } => {
                (messages.greeting.clone(), State::Socks5(socks5::Conversation::default()))
            }
        };
        Self { plan: Arc::clone(plan), unsent, state }
    }

    /// What is to be sent now.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// So many bytes of it were sent.
    pub fn sent(&mut self, length: usize) {
        self.unsent.drain(..length);
    }

    /// Takes what the proxy sent; true when the tunnel is open. Errors are in words.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool, String> {
        let fed = match (&mut self.state, &self.plan.protocol) {
            (State::Connect(reply), _) => reply.feed(bytes),
            (State::Socks5(conversation), Protocol::Socks5 { messages }) => {
                conversation.feed(bytes, messages).map(|step| match step {
                    Socks5Step::More => false,
                    Socks5Step::Open => true,
                    Socks5Step::Send(message) => {
                        self.unsent.extend_from_slice(message);
                        false
                    }
                })
            }
            (State::Socks5(_), Protocol::Connect { .. }) => Ok(false),
        };
        fed.map_err(|problem| self.failed(&problem))
    }

    /// The failure in words, with both ends.
    pub fn failed(&self, problem: &str) -> String {
        let TunnelPlan { proxy, target, .. } = &*self.plan;
        format!("no tunnel through proxy {proxy} to {target}: {problem}")
    }
}
