//! What both taps have in common: one connection, read on the thread that polls, and made anew when
//! it was lost.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, Gap, Recovery, Sink, Tap, TapInfo};
use sojourn_clock::now_ns;
use sojourn_socket::Reconnecting;

/// Why a connection is no more, in stable words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lost(pub(crate) String);

impl From<std::io::Error> for Lost {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        Self(match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                "the connection was reset".to_owned()
            }
            ErrorKind::UnexpectedEof => "the connection was closed".to_owned(),
            _ => format!("the connection broke: {error}"),
        })
    }
}

/// A connection that messages come by.
pub(crate) trait Stream: Sized + Send + 'static {
    /// What it is made with.
    type Settings: Clone + Send + 'static;
    /// What the next one must know of this one.
    type Memory: Clone + Default + Send + 'static;

    /// Connects; returns when nothing sent from now on can be missed. Has a deadline.
    fn open(settings: &Self::Settings, memory: &Self::Memory) -> Result<Self, BrokerError>;

    /// Waits up to `timeout` for messages and hands over what there is. Returns the instant before
    /// which everything received has been handed over, if nothing more was there.
    fn listen(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<Option<u64>, Lost>;

    /// How late what comes may be, nanoseconds, where that can be told.
    fn behind_ns(&self, now_ns: u64) -> u64 {
        let _unused = now_ns;
        0
    }

    /// For the connection after this one.
    fn memory(&self) -> Self::Memory;

    /// What is listened to, for the report.
    fn shown(settings: &Self::Settings) -> String;

    /// An error with the address.
    fn error(settings: &Self::Settings, problem: &str) -> BrokerError;
}

/// A tap on such a stream.
#[derive(Debug)]
pub(crate) struct StreamTap<S: Stream> {
    settings: S::Settings,
    state: State<S>,
    gaps: Vec<Gap>,
    watermark_ns: u64,
    give_up_after: Duration,
}

#[derive(Debug)]
enum State<S> {
    Closed,
    Open(Box<S>),
    Away { reconnecting: Reconnecting<Box<S>>, why: String },
}

impl<S: Stream> StreamTap<S> {
    pub(crate) fn new(settings: S::Settings) -> Self {
        let (gaps, give_up_after) = (Vec::new(), Backoff::GIVE_UP_AFTER);
        Self { settings, state: State::Closed, gaps, watermark_ns: 0, give_up_after }
    }
}

impl<S: Stream> Tap for StreamTap<S> {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        if !matches!(self.state, State::Closed) {
            return Err(S::error(&self.settings, "the tap is open already"));
        }
        self.state = State::Open(Box::new(S::open(&self.settings, &S::Memory::default())?));
        self.watermark_ns = now_ns();
        Ok(TapInfo { listens_to: S::shown(&self.settings), address: None })
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        match &mut self.state {
            State::Closed => return Err(S::error(&self.settings, "the tap is not open")),
            State::Open(stream) => match stream.listen(timeout, sink) {
                Ok(watermark_ns) => self.watermark_ns = watermark_ns.unwrap_or(self.watermark_ns),
                Err(Lost(why)) => {
                    let (settings, memory) = (self.settings.clone(), stream.memory());
                    let reconnecting =
                        Reconnecting::start(now_ns(), self.give_up_after, move || {
                            S::open(&settings, &memory).map(Box::new)
                        });
                    self.state = State::Away { reconnecting, why };
                }
            },
            State::Away { reconnecting, why } => match reconnecting.wait(timeout) {
                None => {}
                Some(Ok(stream)) => {
                    // Nothing is known of what came after all had been read, though the loss may
                    // have been noticed later.
                    let from_ns = self.watermark_ns.min(reconnecting.lost_ns());
                    let to_ns = now_ns();
                    self.gaps.push(Gap { from_ns, to_ns, recovery: Recovery::Missed });
                    self.state = State::Open(stream);
                }
                Some(Err(error)) => {
                    let message = format!("{} (lost because {why})", error.message);
                    self.state = State::Closed;
                    return Err(BrokerError { message, hint: error.hint });
                }
            },
        }
        Ok(())
    }

    fn give_up_after(&mut self, patience: Duration) {
        self.give_up_after = patience;
    }

    fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    fn behind_ns(&self) -> Option<u64> {
        match &self.state {
            State::Open(stream) => Some(stream.behind_ns(now_ns())),
            State::Closed | State::Away { .. } => None,
        }
    }
}

/// A tap that is a [`StreamTap`] inside.
macro_rules! tap_by_stream {
    ($tap:ty) => {
        impl sojourn_broker::Tap for $tap {
            fn open(&mut self) -> Result<sojourn_broker::TapInfo, sojourn_broker::BrokerError> {
                self.0.open()
            }

            fn poll(
                &mut self,
                timeout: std::time::Duration,
                sink: &mut dyn sojourn_broker::Sink,
            ) -> Result<(), sojourn_broker::BrokerError> {
                self.0.poll(timeout, sink)
            }

            fn give_up_after(&mut self, patience: std::time::Duration) {
                self.0.give_up_after(patience);
            }

            fn take_gaps(&mut self) -> Vec<sojourn_broker::Gap> {
                self.0.take_gaps()
            }

            fn watermark_ns(&self) -> u64 {
                self.0.watermark_ns()
            }

            fn behind_ns(&self) -> Option<u64> {
                self.0.behind_ns()
            }
        }
    };
}
pub(crate) use tap_by_stream;
