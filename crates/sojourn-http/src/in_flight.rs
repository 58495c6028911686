//! A request taken up and not completed.

use crate::cause::Cause;
use crate::codec::h2::{UnfitRequest, unframe};
use crate::codec::{Body, Coding, KnownHeads, Piece, ResponseParser};
use crate::pipeline::{Pipeline, Whole};
use crate::{BodyPolicy, Completion, Exchange, PeerId, Response, Timings};

/// A request in flight: its bytes, how far it has come, when it got there.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// Unique in the client; tells a deadline whether the slot is still this request's.
    /// [`NO_SERIAL`] where there is none.
    pub(crate) serial: u64,
    pub(crate) token: u64,
    pub(crate) origin: u32,
    /// The connection it is bound to; none while it waits for one.
    pub(crate) connection: Option<u32>,
    /// The other end of that.
    pub(crate) peer: PeerId,
    /// Its connection is being made.
    pub(crate) dialling: bool,
    /// Its stream on a connection that speaks HTTP/2, else zero.
    pub(crate) stream: u32,
    /// How often it was sent again, because its connection turned out closed or the server had not
    /// touched it.
    pub(crate) retries: u8,
    /// The whole request. Kept until the end, for the retry.
    pub(crate) bytes: Vec<u8>,
    /// Its last so many are the body once more, without the chunks that frame it in HTTP/1.1.
    pub(crate) unframed: usize,
    /// Of which handed to the connection. Over HTTP/2 the head goes over in another form.
    pub(crate) written: usize,
    pub(crate) bytes_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) timeout_ns: u64,
    /// For when a deadline of this place is in the queue, of this request or one before it; zero
    /// for none. See [`crate::deadlines`].
    pub(crate) watched_ns: u64,
    /// t1.
    pub(crate) began_ns: u64,
    /// When the present phase of dialling began, or when it was to be sent again.
    pub(crate) phase_began_ns: u64,
    /// Zero until it happens, as the next two.
    pub(crate) first_sent_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) first_read_ns: u64,
    /// The other timings are derived at the end.
    pub(crate) dialled: Dialled,
    pub(crate) keep_alive: bool,
    pub(crate) head_only: bool,
    /// No request: only whether a connection comes about…
    pub(crate) is_probe: bool,
    /// …and TLS on it, where the origin has it.
    pub(crate) probes_tls: bool,
    /// Several requests in one message.
    pub(crate) pipeline: Option<Box<Pipeline>>,
    status: u16,
    policy: BodyPolicy,
    parser: ResponseParser,
    /// The answer's head, if it is kept.
    head: Vec<u8>,
    body: Body,
}

/// The serial number of no request.
pub(crate) const NO_SERIAL: u64 = u64::MAX;

/// What dialling took, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dialled {
    pub(crate) dns_ns: u64,
    pub(crate) connect_ns: u64,
    pub(crate) tls_ns: u64,
}

impl InFlight {
    /// A place for requests, without one.
    pub(crate) fn vacant() -> Self {
        Self {
            serial: NO_SERIAL,
            token: 0,
            origin: 0,
            connection: None,
            peer: PeerId::default(),
            dialling: false,
            stream: 0,
            retries: 0,
            bytes: Vec::new(),
            unframed: 0,
            written: 0,
            bytes_out: 0,
            bytes_in: 0,
            timeout_ns: 0,
            watched_ns: 0,
            began_ns: 0,
            phase_began_ns: 0,
            first_sent_ns: 0,
            sent_ns: 0,
            first_read_ns: 0,
            dialled: Dialled::default(),
            keep_alive: false,
            pipeline: None,
            status: 0,
            head_only: false,
            is_probe: false,
            probes_tls: false,
            policy: BodyPolicy::Discard,
            parser: new_parser(false, BodyPolicy::Discard),
            head: Vec::new(),
            body: Body::Discard,
        }
    }

    /// Begins another request in the place of one that has ended; all is as in a new one but the
    /// buffers' memory, and until when the place is watched.
    pub(crate) fn begin(&mut self, now_ns: u64, exchange: &Exchange<'_>, serial: u64) {
        self.serial = serial;
        self.token = exchange.token;
        self.origin = exchange.origin.0;
        self.connection = None;
        self.peer = PeerId::default();
        self.dialling = false;
        self.stream = 0;
        self.retries = 0;
        self.bytes.clear();
        self.bytes.extend_from_slice(exchange.bytes);
        self.unframed = 0;
        self.written = 0;
        (self.bytes_out, self.bytes_in) = (0, 0);
        self.timeout_ns = exchange.timeout_ns;
        (self.began_ns, self.phase_began_ns) = (now_ns, now_ns);
        (self.first_sent_ns, self.sent_ns, self.first_read_ns) = (0, 0, 0);
        self.dialled = Dialled::default();
        self.keep_alive = false;
        self.pipeline = None;
        self.status = 0;
        self.head_only = exchange.head_only;
        self.is_probe = false;
        self.probes_tls = false;
        self.policy = exchange.body;
        self.parser.reset(exchange.head_only, exchange.body.keeps_head());
        self.head.clear();
        self.body = Body::new(exchange.body);
    }

    /// Gives empty buffers that were used before, for what is kept of the answer.
    #[inline]
    pub(crate) fn lend(&mut self, head: Vec<u8>, body: Vec<u8>) {
        self.parser.lend(head);
        self.body.lend(body);
    }

    /// There is no request here any more. What may be large is given back; its own bytes are the
    /// caller's to keep.
    #[inline]
    pub(crate) fn vacate(&mut self) {
        self.serial = NO_SERIAL;
        self.parser.forget();
        self.body.forget();
    }

    /// When to give up.
    pub(crate) fn deadline_ns(&self) -> u64 {
        self.began_ns.saturating_add(self.timeout_ns)
    }

    /// Parses what was received; `Some` when the answer is whole, with the number of bytes that do
    /// not belong to it.
    pub(crate) fn absorb(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHeads,
        now_ns: u64,
    ) -> Result<Option<usize>, Cause> {
        if self.first_read_ns == 0 {
            self.first_read_ns = now_ns;
        }
        let mut input = bytes;
        // Of which the present answer's.
        let mut bytes = bytes;
        let whole = loop {
            match self.parser.next(&mut input, known).map_err(Cause::Codec)? {
                Piece::Body(portion) => {
                    if let Err(error) = self.body.push(portion) {
                        self.bytes_in += bytes.len() as u64;
                        return Err(Cause::Body(error));
                    }
                }
                Piece::Done
                    if self.pipeline.as_ref().is_some_and(|pipeline| pipeline.goes_on()) =>
                {
                    self.bytes_in += (bytes.len() - input.len()) as u64;
                    bytes = input;
                    self.begin_next_answer(now_ns, !input.is_empty());
                }
                Piece::Done => break true,
                Piece::Head(head) => {
                    self.status = head.status;
                    self.keep_alive = head.keep_alive;
                    self.body.set_coding(head.coding);
                    self.head = self.parser.take_head();
                }
                Piece::More => break false,
            }
        };
        self.bytes_in += (bytes.len() - input.len()) as u64;
        Ok(whole.then_some(input.len()))
    }

    /// Whether the answer's head is to be kept.
    pub(crate) fn keeps_head(&self) -> bool {
        self.policy.keeps_head()
    }

    /// Some bytes of an answer have come by HTTP/2.
    pub(crate) fn received(&mut self, wire_bytes: u64, now_ns: u64) {
        if self.first_read_ns == 0 {
            self.first_read_ns = now_ns;
        }
        self.bytes_in += wire_bytes;
    }

    /// The head has come by HTTP/2.
    pub(crate) fn take_head(&mut self, status: u16, coding: Coding, text: &[u8]) {
        self.status = status;
        self.body.set_coding(coding);
        if self.keeps_head() || matches!(status, 300..=399) {
            if self.head.is_empty() {
                // Its buffer is lent to the parser of HTTP/1.1, which has nothing to do here.
                self.head = self.parser.take_head();
            }
            self.head.extend_from_slice(text);
        }
    }

    /// Some of the body has come by HTTP/2.
    pub(crate) fn take_body(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        self.body.push(bytes).map_err(Cause::Body)
    }

    /// One answer of several is whole; `has_begun`: some of the next one is here.
    fn begin_next_answer(&mut self, now_ns: u64, has_begun: bool) {
        let mut body = std::mem::replace(&mut self.body, Body::new(self.policy));
        self.parser = new_parser(self.head_only, self.policy);
        let whole = Whole {
            ended_ns: now_ns,
            first_read_ns: self.first_read_ns,
            bytes_in: std::mem::take(&mut self.bytes_in),
            status: self.status,
            head: std::mem::take(&mut self.head),
            body: body.finish(),
        };
        self.first_read_ns = if has_begun { now_ns } else { 0 };
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.answered(whole);
        }
    }

    /// Nothing of an answer has come.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.first_read_ns == 0 && self.pipeline.as_ref().is_none_or(|p| p.is_unanswered())
    }

    /// The connection has ended: fine if the answer lasts until then.
    pub(crate) fn end(&mut self) -> Result<(), Cause> {
        self.parser.end().map_err(|error| match error {
            crate::codec::CodecError::Ended(_) => Cause::Closed,
            broken => Cause::Codec(broken),
        })
    }

    /// Appends the body as HTTP/2 sends it, if the message's is in chunks.
    pub(crate) fn unframe(&mut self, head_length: usize) -> Result<(), UnfitRequest> {
        let framed = self.bytes.len();
        unframe(&mut self.bytes, head_length)?;
        self.unframed = self.bytes.len() - framed;
        Ok(())
    }

    /// Begins anew for the retry; t1 stays, and the bytes sent in vain stay counted.
    pub(crate) fn rewind(&mut self) {
        self.retries += 1;
        self.connection = None;
        self.peer = PeerId::default();
        self.stream = 0;
        self.bytes.truncate(self.bytes.len() - self.unframed);
        self.unframed = 0;
        self.written = 0;
        self.first_sent_ns = 0;
        self.sent_ns = 0;
        self.head.clear();
        self.parser = new_parser(self.head_only, self.policy);
        self.body = Body::new(self.policy);
    }

    /// Adds the completion, or those of all its requests in order. `failure` overrides the (last)
    /// answer.
    pub(crate) fn complete(
        &mut self,
        ended_ns: u64,
        failure: Option<Cause>,
        label: &str,
        completions: &mut Vec<Completion>,
    ) {
        let ended_ns = ended_ns.max(self.began_ns);
        match self.pipeline.take() {
            None => completions.push(self.last(ended_ns, failure, label)),
            Some(pipeline) => {
                self.complete_all(*pipeline, ended_ns, failure, label, completions);
            }
        }
    }

    /// The completion of the only answer, or of the last of several.
    #[inline]
    fn last(&mut self, ended_ns: u64, failure: Option<Cause>, label: &str) -> Completion {
        let whole = Whole {
            ended_ns,
            first_read_ns: self.first_read_ns,
            bytes_in: self.bytes_in,
            status: self.status,
            head: std::mem::take(&mut self.head),
            body: self.body.finish(),
        };
        self.completion(whole, failure, self.bytes_out, label)
    }

    /// The completions of several requests in one message.
    fn complete_all(
        &mut self,
        pipeline: Pipeline,
        ended_ns: u64,
        failure: Option<Cause>,
        label: &str,
        completions: &mut Vec<Completion>,
    ) {
        let unbegun = pipeline.left() - 1;
        for whole in pipeline.into_answers() {
            completions.push(self.completion(whole, None, 0, label));
        }
        let last = self.last(ended_ns, failure, label);
        // What ended the last one ended those after it; so does an answer that lasts until the
        // connection's end.
        let rest = (unbegun > 0).then(|| match &last.outcome {
            Err(failure) => failure.clone(),
            Ok(_) => Cause::Closed.failure(label, self),
        });
        completions.push(last);
        for failure in std::iter::repeat_n(rest, unbegun as usize).flatten() {
            completions.push(Completion {
                token: self.token,
                began_ns: self.began_ns,
                ended_ns,
                timings: self.timings(0, ended_ns),
                bytes_out: 0,
                bytes_in: 0,
                peer: self.peer,
                outcome: Err(failure),
            });
        }
    }

    #[inline]
    fn completion(
        &self,
        whole: Whole,
        failure: Option<Cause>,
        bytes_out: u64,
        label: &str,
    ) -> Completion {
        let Whole { ended_ns, first_read_ns, bytes_in, status, head, body } = whole;
        let outcome = match (failure, body) {
            (Some(cause), _) => Err(cause.failure(label, self)),
            (None, Ok((body, body_bytes))) => Ok(Response { status, head, body, body_bytes }),
            (None, Err(error)) => Err(Cause::Body(error).failure(label, self)),
        };
        Completion {
            token: self.token,
            began_ns: self.began_ns,
            ended_ns,
            timings: self.timings(first_read_ns, ended_ns),
            bytes_out,
            bytes_in,
            peer: self.peer,
            outcome,
        }
    }

    /// Whether the answer's head has come.
    pub(crate) fn has_head(&self) -> bool {
        self.status != 0
    }

    /// How far it has come, for messages.
    pub(crate) fn progress(&self) -> String {
        if self.first_read_ns != 0 {
            format!("after {} bytes of the answer", self.bytes_in)
        } else if self.sent_ns != 0 {
            "before the first byte of the answer".to_owned()
        } else if self.first_sent_ns != 0 {
            let length = self.bytes.len();
            format!("with {} of the request's {length} bytes sent", self.written)
        } else if self.dialling {
            "while connecting".to_owned()
        } else {
            "while waiting for a connection".to_owned()
        }
    }

    /// The phases up to `ended_ns`; a phase that was not reached is zero, the one that was cut off
    /// has what it took, and they always add up to the whole.
    fn timings(&self, first_read_ns: u64, ended_ns: u64) -> Timings {
        let or_end = |instant_ns: u64| match instant_ns {
            0 => ended_ns,
            instant_ns => instant_ns,
        };
        let first_sent_ns = or_end(self.first_sent_ns).clamp(self.began_ns, ended_ns);
        let first_read_ns = or_end(first_read_ns).clamp(first_sent_ns, ended_ns);
        // An answer may come before the request is sent: then there was no wait.
        let sent_ns = or_end(self.sent_ns).clamp(first_sent_ns, first_read_ns);
        Timings {
            blocked_ns: first_sent_ns - self.began_ns,
            send_ns: sent_ns - first_sent_ns,
            wait_ns: first_read_ns - sent_ns,
            receive_ns: ended_ns - first_read_ns,
            dns_ns: self.dialled.dns_ns,
            connect_ns: self.dialled.connect_ns,
            tls_ns: self.dialled.tls_ns,
        }
    }
}

fn new_parser(head_only: bool, policy: BodyPolicy) -> ResponseParser {
    ResponseParser::new(head_only, policy.keeps_head())
}
