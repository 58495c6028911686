//! The tap: requests received become messages.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use sojourn_broker::{BrokerError, Sink, Tap, TapInfo};
use sojourn_plan::WebhookChannel;

use crate::answers::Answers;
use crate::config::{Limits, PathPattern};
use crate::queue::{Queue, Received, message};
use crate::receiver::{Endpoint, Receiver};
use crate::signature::Verifier;

/// A receiver of webhooks. The lifecycle is [`Tap`]'s; dropping it frees the port.
#[derive(Debug)]
pub struct WebhookTap {
    webhook: WebhookChannel,
    queue: Arc<Queue>,
    receiver: Option<Receiver>,
    taken: VecDeque<Received>,
    watermark_ns: u64,
    behind_ns: u64,
}

impl WebhookTap {
    /// A tap that does not listen yet.
    pub fn new(webhook: WebhookChannel) -> Self {
        Self::with_limits(webhook, Limits::default())
    }

    pub(crate) fn with_limits(webhook: WebhookChannel, limits: Limits) -> Self {
        Self {
            webhook,
            queue: Arc::new(Queue::new(limits)),
            receiver: None,
            taken: VecDeque::new(),
            watermark_ns: 0,
            behind_ns: 0,
        }
    }

    fn cannot_listen(&self, error: &io::Error) -> BrokerError {
        let listen = &self.webhook.listen;
        let problem = match error.kind() {
            io::ErrorKind::AddrInUse => "the address is in use".to_owned(),
            _ => error.to_string(),
        };
        BrokerError::new(format!("webhook cannot listen on {listen}: {problem}"))
            .with_hint("choose another address in `listen`, or port 0 for a free one")
    }
}

impl Tap for WebhookTap {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        if self.receiver.is_some() {
            let listen = &self.webhook.listen;
            return Err(BrokerError::new(format!("webhook on {listen} is already open")));
        }
        let path = PathPattern::new(&self.webhook.path);
        let endpoint = Endpoint {
            path: path.clone(),
            answers: Answers::new(&self.webhook)?,
            verifier: self.webhook.signature.as_ref().map(Verifier::new).transpose()?,
            queue: Arc::clone(&self.queue),
        };
        let (receiver, address) = Receiver::start(&self.webhook.listen, endpoint)
            .map_err(|error| self.cannot_listen(&error))?;
        self.receiver = Some(receiver);
        Ok(TapInfo {
            listens_to: format!("webhook http://{address}{path}"),
            address: Some(address),
        })
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        let listen = &self.webhook.listen;
        if self.receiver.is_none() {
            return Err(BrokerError::new(format!("webhook on {listen} is not open")));
        }
        let watermark_ns = self
            .queue
            .take(timeout, &mut self.taken)
            .map_err(|reason| BrokerError::new(format!("webhook on {listen}: {reason}")))?;
        let oldest_ns = self.taken.front().map(|received| received.stamp_ns);
        self.behind_ns = oldest_ns.map_or(0, |oldest_ns| watermark_ns.saturating_sub(oldest_ns));
        for received in self.taken.drain(..) {
            let Received { stamp_ns, path, headers, body, .. } = &received;
            let message = message(*stamp_ns, path, headers, body.bytes());
            match received.problem {
                Some(problem) => sink.unacceptable(&message, problem),
                None => sink.message(&message),
            }
        }
        self.watermark_ns = watermark_ns;
        Ok(())
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn behind_ns(&self) -> Option<u64> {
        Some(self.behind_ns)
    }

    fn refused(&self) -> u64 {
        self.queue.refused()
    }
}
