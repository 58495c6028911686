//! MQTT: a session as a task, over TCP, TLS or a WebSocket.
//!
//! ```text
//!  orders (packets, goodbye) ──> write ──> broker
//!                                  ^ answers, and which messages are complete
//!  user <── arrivals ──────────── read <── broker
//! ```
//!
//! What the protocol wants answered is answered while a user computes or sleeps, and the broker is
//! pinged: only what is for the user waits for the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use sojourn_broker_mqtt::session::{self, Session};
use sojourn_clock::now_ns;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::dial::{Endpoint, Stream, Traffic};
use super::over_websocket::OverWebSocket;
use super::{Event as Any, Link, websocket};

/// The subprotocol of MQTT over WebSockets.
const SUBPROTOCOL: &str = "mqtt";
/// Most answers to the broker that wait to be written. It has no more numbers for its messages.
const REPLIES_MAX: usize = 1 << 16;
/// Most messages of QoS 2 without an answer. 3.1.1 has no way to say how many a broker takes; this
/// is Mosquitto's usual limit, beyond which it (2.0.11) stops answering.
const EXACTLY_ONCE_MAX: usize = 20;
/// How long a broker may take to answer a ping, if not less by what is asked to keep alive.
const PING_WAIT: Duration = Duration::from_secs(10);
/// How long a broker may take to close after our goodbye.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// A broker's address.
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    /// Of a WebSocket.
    pub(crate) url: Option<String>,
}

/// What to open.
pub(crate) struct Ask {
    /// The first that takes us.
    pub(crate) servers: Vec<Server>,
    /// The packet that begins the session.
    pub(crate) hello: Vec<u8>,
    /// `None`: the broker is never pinged.
    pub(crate) keep_alive: Option<Duration>,
    /// For each server, until it has taken us.
    pub(crate) timeout: Duration,
}

/// What to send.
#[derive(Debug)]
pub(crate) enum Order {
    Packet {
        bytes: Vec<u8>,
        /// It is a message of QoS 2.
        is_exactly_once: bool,
        /// What is told to be done when it is written.
        told: Option<u32>,
    },
    /// Says goodbye: the last order.
    Disconnect,
}

/// What has come.
#[derive(Debug)]
pub(crate) enum Event {
    /// The session stands.
    Connected,
    /// The last event: no server takes us.
    Refused {
        error: String,
    },
    Message {
        topic: String,
        payload: Vec<u8>,
    },
    /// The broker has answered to the packet of this number, or it is written where that is all.
    Done {
        id: u32,
    },
    /// The broker has answered to a subscription: for each filter whether it was refused.
    Granted {
        id: u32,
        refused: Vec<bool>,
    },
    /// The last event, after our goodbye.
    Closed,
    /// The last event: the connection is gone without one.
    Lost {
        error: String,
    },
}

/// Runs a session to its end.
pub(crate) async fn run(ask: Ask, link: Arc<Link>, orders: Receiver<Order>, traffic: Arc<Traffic>) {
    let (stream, session) = match open(&ask, &traffic).await {
        Ok(opened) => opened,
        Err(error) => return tell(&link, Event::Refused { error }).await,
    };
    tell(&link, Event::Connected).await;
    let (source, sink) = tokio::io::split(stream);
    let (replies, replied) = channel(REPLIES_MAX);
    let signs = Signs::default();
    let reading = read(source, session, &link, replies, &signs);
    let writer = Writer { sink, link: &link, signs: &signs, keep_alive: ask.keep_alive };
    let writing = writer.run(orders, replied);
    tokio::pin!(reading);
    let lost = tokio::select! {
        // First, since a broker closes when it has our goodbye.
        biased;
        written = writing => match written {
            // What is on its way is read until the broker closes.
            Ok(()) => tokio::time::timeout(CLOSE_WAIT, &mut reading).await.unwrap_or_default(),
            Err(error) => error,
        },
        error = &mut reading => error,
    };
    let is_ours = signs.is_leaving.load(Ordering::Acquire);
    tell(&link, if is_ours { Event::Closed } else { Event::Lost { error: lost } }).await;
}

async fn tell(link: &Arc<Link>, event: Event) {
    link.tell(Any::Mqtt(event)).await;
}

/// What reader and writer know of each other.
#[derive(Default)]
struct Signs {
    /// When the broker was last heard, ns.
    heard_ns: AtomicU64,
    /// The reader waits for its user, so that the broker can't be heard.
    is_telling: AtomicBool,
    /// Our goodbye is under way.
    is_leaving: AtomicBool,
}

/// The first server that takes us; else why the last one did not.
async fn open(ask: &Ask, traffic: &Arc<Traffic>) -> Result<(Box<dyn Stream>, Session), String> {
    let mut error = "no broker is named".to_owned();
    for server in &ask.servers {
        let greeted = tokio::time::timeout(ask.timeout, greet(server, &ask.hello, traffic)).await;
        match greeted {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(why)) => error = why,
            Err(_) => error = format!("{}: i/o timeout", server.endpoint.address()),
        }
    }
    Err(error)
}

async fn greet(
    server: &Server,
    hello: &[u8],
    traffic: &Arc<Traffic>,
) -> Result<(Box<dyn Stream>, Session), String> {
    let mut stream = server.connect(traffic).await?;
    let mut session = Session::default();
    stream.write_all(hello).await.map_err(|error| lost(&error))?;
    stream.flush().await.map_err(|error| lost(&error))?;
    loop {
        let read = stream.read_buf(session.room()).await.map_err(|error| lost(&error))?;
        match session.next(&mut Vec::new()) {
            Ok(Some(session::Event::Connected)) => return Ok((stream, session)),
            Ok(Some(session::Event::Refused(why))) => {
                return Err(format!("the broker refuses the connection: {why}"));
            }
            Ok(None) if read == 0 => return Err(CLOSED.to_owned()),
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => {
                return Err("the server does not speak MQTT 3.1.1".to_owned());
            }
        }
    }
}

impl Server {
    async fn connect(&self, traffic: &Arc<Traffic>) -> Result<Box<dyn Stream>, String> {
        let Some(url) = &self.url else {
            let dialled = self.endpoint.dial(Arc::clone(traffic)).await;
            return dialled.map_err(|error| error.to_string());
        };
        let ask = websocket::Ask {
            endpoint: self.endpoint.clone(),
            url: url.clone(),
            headers: Vec::new(),
            protocols: vec![SUBPROTOCOL.to_owned()],
            offers_deflate: false,
        };
        let opened = websocket::open(&ask, Arc::clone(traffic)).await;
        let (socket, _) = opened.map_err(|(_, error)| error)?;
        Ok(Box::new(OverWebSocket::new(socket)))
    }
}

/// What the reader has for the writer.
enum Reply {
    /// Answers to the broker.
    Packets(Vec<u8>),
    /// A message of QoS 2 is complete.
    Complete,
}

/// Reads until there is nothing more; why that is so.
async fn read(
    mut source: ReadHalf<Box<dyn Stream>>,
    mut session: Session,
    link: &Arc<Link>,
    replies: Sender<Reply>,
    signs: &Signs,
) -> String {
    // A writer that is gone has said goodbye.
    let overflows = |reply| matches!(replies.try_send(reply), Err(TrySendError::Full(_)));
    loop {
        let mut answers = Vec::new();
        loop {
            let event = match session.next(&mut answers) {
                Ok(event) => event,
                Err(why) => return format!("the broker sent {why}"),
            };
            let answers = std::mem::take(&mut answers);
            let is_complete =
                matches!(event, Some(session::Event::Done { is_exactly_once: true, .. }));
            if !answers.is_empty() && overflows(Reply::Packets(answers))
                || is_complete && overflows(Reply::Complete)
            {
                return "the broker takes no answers to its messages".to_owned();
            }
            let Some(event) = event else { break };
            let Some(event) = translated(event) else {
                return "the broker sent a second answer to our hello".to_owned();
            };
            signs.is_telling.store(true, Ordering::Release);
            tell(link, event).await;
            signs.is_telling.store(false, Ordering::Release);
        }
        match source.read_buf(session.room()).await {
            Ok(0) => return CLOSED.to_owned(),
            Ok(_) => signs.heard_ns.store(now_ns(), Ordering::Release),
            Err(error) => return lost(&error),
        }
    }
}

/// `None` for what only comes once, before all else.
fn translated(event: session::Event) -> Option<Event> {
    match event {
        session::Event::Message { topic, payload } => Some(Event::Message { topic, payload }),
        session::Event::Done { id, .. } => Some(Event::Done { id: id.into() }),
        session::Event::Granted { id, refused } => Some(Event::Granted { id: id.into(), refused }),
        session::Event::Connected | session::Event::Refused(_) => None,
    }
}

struct Writer<'a> {
    sink: WriteHalf<Box<dyn Stream>>,
    link: &'a Arc<Link>,
    signs: &'a Signs,
    keep_alive: Option<Duration>,
}

impl Writer<'_> {
    /// Writes until our goodbye is said.
    async fn run(
        mut self,
        mut orders: Receiver<Order>,
        mut replies: Receiver<Reply>,
    ) -> Result<(), String> {
        let mut held: Option<Order> = None;
        let mut in_flight = 0_usize;
        let mut watch = Watch::new(self.keep_alive);
        loop {
            if let Some(order) = held.take_if(|order| order.may_go(in_flight)) {
                in_flight += usize::from(order.is_exactly_once());
                if self.obey(order).await? {
                    return Ok(());
                }
                watch.wrote_ns = now_ns();
            }
            tokio::select! {
                biased;
                Some(reply) = replies.recv() => match reply {
                    Reply::Packets(bytes) => {
                        self.write(&bytes).await?;
                        watch.wrote_ns = now_ns();
                    }
                    Reply::Complete => in_flight = in_flight.saturating_sub(1),
                },
                order = orders.recv(), if held.is_none() => {
                    // A user that is gone has no more to say.
                    held = Some(order.unwrap_or(Order::Disconnect));
                }
                () = tokio::time::sleep(watch.left()) => {
                    if watch.rings(self.signs)? {
                        self.write(&session::ping()).await?;
                    }
                }
            }
        }
    }

    /// Whether it was the last order.
    async fn obey(&mut self, order: Order) -> Result<bool, String> {
        match order {
            Order::Packet { bytes, told, .. } => {
                let written = self.write(&bytes).await;
                self.link.written(bytes.len());
                written?;
                if let Some(id) = told {
                    // Not waited for here: a user that takes nothing must not keep pings back.
                    let link = Arc::clone(self.link);
                    drop(tokio::spawn(async move { tell(&link, Event::Done { id }).await }));
                }
                Ok(false)
            }
            Order::Disconnect => {
                self.signs.is_leaving.store(true, Ordering::Release);
                self.write(&session::disconnect()).await?;
                Ok(true)
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let written = async {
            self.sink.write_all(bytes).await?;
            self.sink.flush().await
        };
        let patience = self.keep_alive.map_or(Duration::MAX, |every| every.max(PING_WAIT));
        match tokio::time::timeout(patience, written).await {
            Ok(written) => written.map_err(|error| lost(&error)),
            Err(_) => Err("the broker takes nothing more".to_owned()),
        }
    }
}

impl Order {
    fn is_exactly_once(&self) -> bool {
        matches!(self, Self::Packet { is_exactly_once: true, .. })
    }

    /// Whether it may be written while so many messages of QoS 2 have no answer.
    fn may_go(&self, in_flight: usize) -> bool {
        !self.is_exactly_once() || in_flight < EXACTLY_ONCE_MAX
    }
}

/// When the broker is to be pinged, and when it is gone.
struct Watch {
    every: Option<Duration>,
    wrote_ns: u64,
    pinged_ns: Option<u64>,
}

impl Watch {
    fn new(every: Option<Duration>) -> Self {
        Self { every, wrote_ns: now_ns(), pinged_ns: None }
    }

    /// Until something is due.
    fn left(&self) -> Duration {
        let Some(every) = self.every else { return Duration::MAX };
        let (since_ns, wait) = match self.pinged_ns {
            Some(pinged_ns) => (pinged_ns, every.min(PING_WAIT)),
            // The broker counts from when it has our packets.
            None => (self.wrote_ns, every * 3 / 4),
        };
        wait.saturating_sub(Duration::from_nanos(now_ns().saturating_sub(since_ns)))
    }

    /// What was due has come: whether it is a ping. The error is that nothing came of the last.
    fn rings(&mut self, signs: &Signs) -> Result<bool, String> {
        let now_ns = now_ns();
        let Some(pinged_ns) = self.pinged_ns.take() else {
            (self.wrote_ns, self.pinged_ns) = (now_ns, Some(now_ns));
            return Ok(true);
        };
        let is_heard = signs.heard_ns.load(Ordering::Acquire) >= pinged_ns;
        match is_heard || signs.is_telling.load(Ordering::Acquire) {
            true => Ok(false),
            false => Err("the broker does not answer a ping".to_owned()),
        }
    }
}

const CLOSED: &str = "EOF: the broker has closed the connection";

fn lost(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => CLOSED.to_owned(),
        _ => error.to_string(),
    }
}
