//! Links against peers on this machine: what comes, in which order, and that nothing is lost or
//! piles up.

mod deflate;
#[cfg(feature = "mqtt")]
mod mqtt;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{Client, ClientConfig};
use sojourn_k6::options::Options;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message};

use super::dial::Endpoint;
use super::websocket::{self, Ask, Event, Order};
use super::{ARRIVALS_MAX, Arrival, Event as Any, Inbox, Link, Links, Sockets};

/// A thread's side of links, with a user of the number 1.
pub(super) struct Here {
    client: Client,
    pub(super) inbox: Inbox,
    pub(super) links: Links,
    pub(super) sockets: Sockets,
}

impl Here {
    pub(super) fn new() -> Self {
        let client = Client::new(ClientConfig::default()).unwrap();
        let inbox = Inbox::new(client.waker());
        Self { client, inbox, links: Links::default(), sockets: Sockets::default() }
    }

    pub(super) fn link(&self, operation: u32) -> Arc<Link> {
        self.inbox.link(1, operation)
    }

    /// The next arrival; waits as a thread of users does.
    pub(super) fn next(&mut self) -> Arrival {
        let until_ns = now_ns() + 10 * SECOND_NS;
        while now_ns() < until_ns {
            if let Some((_, _, arrival)) = self.inbox.take() {
                return arrival;
            }
            self.client.wait_until(until_ns, &mut Vec::new()).unwrap();
        }
        panic!("nothing came")
    }

    fn open(&self, address: SocketAddr) -> mpsc::Sender<Order> {
        self.open_offering(address, false)
    }

    fn open_offering(&self, address: SocketAddr, offers_deflate: bool) -> mpsc::Sender<Order> {
        let endpoint = Endpoint::new(&Options::default(), "127.0.0.1", address.port());
        let url = format!("ws://{address}/");
        let headers = vec![("X-Own".to_owned(), "mine".to_owned())];
        let protocols = vec!["one".to_owned()];
        let ask = Ask { endpoint, url, headers, protocols, offers_deflate };
        let (orders, coming) = mpsc::channel(16);
        let link = self.link(1);
        let task = websocket::run(ask, Arc::clone(&link), coming, self.links.traffic());
        self.links.start(&self.sockets, &link, task).unwrap();
        orders
    }

    fn next_event(&mut self) -> Event {
        match self.next().event {
            Any::WebSocket(event) => event,
            other => panic!("{other:?}"),
        }
    }
}

/// A server for one WebSocket: `close` closes, `ping` pings, `cut` cuts the connection, all else
/// comes back.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        while let Ok(message) = socket.read() {
            let done = match message {
                Message::Text(text) if text.as_str() == "close" => {
                    socket.close(Some(CloseFrame { code: 1001.into(), reason: "asked".into() }))
                }
                Message::Text(text) if text.as_str() == "ping" => {
                    socket.send(Message::Ping(Vec::new().into()))
                }
                Message::Text(text) if text.as_str() == "cut" => return,
                Message::Text(_) | Message::Binary(_) => socket.send(message),
                _ => Ok(()),
            };
            done.unwrap();
        }
    });
    address
}

fn text(text: &str) -> Order {
    Order::Text(text.to_owned())
}

#[test]
fn messages_go_and_come_in_order() {
    let mut here = Here::new();
    let orders = here.open(server());
    // The server has none of the subprotocols, which is its right.
    assert!(matches!(here.next_event(), Event::Opened(answer) if answer.status == 101));
    for number in 0..200 {
        orders.try_send(text(&number.to_string())).ok();
        let Event::Text(came) = here.next_event() else { panic!("no text") };
        assert_eq!(came.as_str(), number.to_string());
    }
    orders.try_send(Order::Binary(vec![1, 2])).unwrap();
    assert!(matches!(here.next_event(), Event::Binary(bytes) if bytes[..] == [1, 2]));
    orders.try_send(Order::Ping(b"7".to_vec())).unwrap();
    assert!(matches!(here.next_event(), Event::Pong(payload) if payload[..] == *b"7"));
    orders.try_send(text("ping")).unwrap();
    assert!(matches!(here.next_event(), Event::Ping));
    let (sent, received) = here.links.take_traffic();
    assert!(sent > 200 * 6 && received > 200 * 2, "{sent} {received}");
}

#[test]
fn a_close_of_ours_is_answered() {
    let mut here = Here::new();
    let orders = here.open(server());
    here.next_event();
    orders.try_send(Order::Close { code: 3001, reason: "done".to_owned() }).unwrap();
    let Event::Closed { code, reason } = here.next_event() else { panic!("not closed") };
    assert_eq!((code, reason.as_str()), (Some(3001), "done"));
}

#[test]
fn a_close_of_the_server_is_told() {
    let mut here = Here::new();
    let orders = here.open(server());
    here.next_event();
    orders.try_send(text("close")).unwrap();
    let Event::Closed { code, reason } = here.next_event() else { panic!("not closed") };
    assert_eq!((code, reason.as_str()), (Some(1001), "asked"));
}

#[test]
fn a_connection_that_is_cut_is_lost() {
    let mut here = Here::new();
    let orders = here.open(server());
    here.next_event();
    orders.try_send(text("cut")).unwrap();
    assert!(matches!(here.next_event(), Event::Lost { error } if error.contains("1006")));
}

#[test]
fn a_refusal_has_the_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno").unwrap();
        String::from_utf8(request).unwrap()
    });
    let mut here = Here::new();
    let _orders = here.open(address);
    let Event::Refused { answer, error } = here.next_event() else { panic!("not refused") };
    assert_eq!((answer.status, answer.body.as_slice()), (403, &b"no"[..]));
    assert_eq!(error, "websocket: bad handshake");
    let request = peer.join().unwrap().to_ascii_lowercase();
    assert!(request.contains("x-own: mine\r\n"), "{request}");
    assert!(request.contains("sec-websocket-protocol: one\r\n"), "{request}");
}

#[test]
fn nobody_there_is_told_in_known_words() {
    let mut here = Here::new();
    let _orders = here.open("127.0.0.1:1".parse().unwrap());
    let Event::Refused { answer, error } = here.next_event() else { panic!("not refused") };
    assert_eq!(answer.status, 0);
    assert_eq!(error, "dial tcp 127.0.0.1:1: connect: connection refused");
}

#[test]
fn a_link_waits_until_its_user_has_taken_what_came() {
    let here = Here::new();
    let link = here.link(7);
    let tell = || link.tell(Any::WebSocket(Event::Ping)).now_or_never();
    for _ in 0..ARRIVALS_MAX {
        tell().unwrap();
    }
    assert!(tell().is_none(), "one more than there are places");
    let (user, operation, arrival) = here.inbox.take().unwrap();
    assert_eq!((user, operation), (1, 7));
    assert!(tell().is_none(), "taken by the thread, not yet by the user");
    drop(arrival);
    tell().unwrap();
}

#[test]
fn what_comes_of_a_link_that_has_ended_goes_nowhere() {
    let here = Here::new();
    let link = here.link(7);
    here.links.start(&here.sockets, &link, std::future::pending()).unwrap();
    link.tell(Any::WebSocket(Event::Ping)).now_or_never().unwrap();
    here.links.end(7);
    link.tell(Any::WebSocket(Event::Ping)).now_or_never().unwrap();
    assert!(here.inbox.take().is_none());
}

/// What a user's socket to this host comes to under these options: `Ok` when somebody answered.
fn dialled(options: serde_json::Value, host: &str, port: u16) -> Result<(), String> {
    let tier = sojourn_k6::options::Tier::Script;
    let (options, _) = Options::from_json(tier, &options).unwrap();
    let endpoint = Endpoint::new(&options, host, port);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dialled = runtime.block_on(endpoint.dial(Arc::default()));
    dialled.map(drop).map_err(|error| error.to_string())
}

#[test]
fn sockets_follow_hosts_and_never_reach_what_is_excluded() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let hosts = serde_json::json!({ "*.wild.test": "127.0.0.1", "in.test": "127.0.0.1" });
    let with =
        |key: &str, value: serde_json::Value| serde_json::json!({ "hosts": hosts, key: value });
    let excluded = with("blacklistIPs", serde_json::json!(["127.0.0.0/8", "::1/128"]));
    for host in ["in.test", "localhost", "127.0.0.1"] {
        let told = dialled(excluded.clone(), host, port).unwrap_err();
        assert!(told.starts_with("IP (") && told.contains("blacklisted"), "{host}: {told}");
    }
    let blocked = with("blockHostnames", serde_json::json!(["*.wild.test"]));
    let told = dialled(blocked, "a.wild.test", port).unwrap_err();
    assert_eq!(told, "hostname (a.wild.test) is in a blocked pattern (*.wild.test)");
    assert!(listener.accept().is_err(), "nobody has come");
    let fine = serde_json::json!({ "hosts": hosts });
    dialled(fine, "a.wild.test", port).unwrap();
    listener.set_nonblocking(false).unwrap();
    listener.accept().unwrap();
}

#[test]
fn only_so_much_waits_to_be_sent() {
    let here = Here::new();
    let link = here.link(7);
    assert!(link.reserve(super::UNSENT_BYTES_MAX));
    assert!(!link.reserve(1));
    link.written(1);
    assert!(link.reserve(1));
}

mod grpc {
    use bytes::Bytes;
    use http::{HeaderMap, Response};

    use super::super::grpc::{self, Call, Channel, Event, Order, Status};
    use super::*;

    /// A server of one connection after the other: `/t/Echo` sends each message back, `/t/Fail`
    /// fails, `/t/Slow` says nothing, `/t/Bye` ends the connection after its answer.
    fn server() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let mut connection = h2::server::handshake(stream).await.unwrap();
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        let is_last = request.uri().path() == "/t/Bye";
                        tokio::spawn(answer(request, respond));
                        if is_last {
                            connection.graceful_shutdown();
                        }
                    }
                }
            });
        });
        address
    }

    async fn answer(
        request: http::Request<h2::RecvStream>,
        mut respond: h2::server::SendResponse<Bytes>,
    ) {
        if request.uri().path() == "/t/Slow" {
            std::future::pending::<()>().await;
        }
        let head = Response::builder().header("content-type", "application/grpc");
        let own = request.headers().get("x-own").cloned();
        let bytes = request.headers().get("a-bin").cloned();
        let head = match &own {
            Some(own) => head.header("x-own", own),
            None => head,
        };
        let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
        let is_failing = request.uri().path() == "/t/Fail";
        let mut body = request.into_body();
        while let Some(Ok(part)) = body.data().await {
            body.flow_control().release_capacity(part.len()).unwrap();
            if !is_failing {
                stream.send_data(part, false).unwrap();
            }
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", if is_failing { "5" } else { "0" }.parse().unwrap());
        trailers.insert("grpc-message", "nobody%20there".parse().unwrap());
        if let Some(bytes) = bytes {
            trailers.insert("a-bin", bytes);
        }
        stream.send_trailers(trailers).unwrap();
    }

    fn channel(here: &Here, address: SocketAddr) -> Arc<Channel> {
        let endpoint = Endpoint::new(&Options::default(), "127.0.0.1", address.port());
        let traffic = here.links.traffic();
        Arc::new(Channel::new(endpoint, address.to_string(), 1 << 20, traffic))
    }

    fn call(here: &Here, channel: &Arc<Channel>, path: &str, timeout: Option<Duration>) {
        let own = ("x-own".to_owned(), b"mine".to_vec());
        let metadata = vec![own, ("a-bin".to_owned(), vec![0, 255])];
        let call = Call { path: path.to_owned(), metadata, timeout, user_agent: "t".to_owned() };
        let (orders, coming) = mpsc::channel(16);
        let link = here.link(1);
        let task = grpc::run(Arc::clone(channel), call, Arc::clone(&link), coming);
        here.links.start(&here.sockets, &link, task).unwrap();
        orders.try_send(Order::Message(vec![7; 100_000])).unwrap();
        orders.try_send(Order::End).unwrap();
    }

    fn next(here: &mut Here) -> Event {
        match here.next().event {
            Any::Grpc(event) => event,
            other => panic!("{other:?}"),
        }
    }

    fn ended(here: &mut Here) -> Status {
        loop {
            if let Event::Ended(status) = next(here) {
                return *status;
            }
        }
    }

    #[test]
    fn a_call_has_headers_messages_and_a_status() {
        let mut here = Here::new();
        let channel = channel(&here, server());
        call(&here, &channel, "/t/Echo", None);
        let Event::Headers(headers) = next(&mut here) else { panic!("no headers") };
        assert!(headers.contains(&("x-own".to_owned(), b"mine".to_vec())));
        // Larger than the window of HTTP/2: it needs room given back on both sides.
        assert!(matches!(next(&mut here), Event::Message(bytes) if bytes[..] == [7; 100_000]));
        let Event::Ended(status) = next(&mut here) else { panic!("not ended") };
        assert_eq!((status.code, status.message.as_str()), (0, "nobody there"));
        assert_eq!(status.trailers, [("a-bin".to_owned(), vec![0, 255])]);
    }

    #[test]
    fn a_failure_and_a_delay_are_statuses() {
        let mut here = Here::new();
        let channel = channel(&here, server());
        call(&here, &channel, "/t/Fail", None);
        assert_eq!(ended(&mut here).code, 5);
        call(&here, &channel, "/t/Slow", Some(Duration::from_millis(20)));
        let status = ended(&mut here);
        assert_eq!((status.code, status.is_late), (4, true));
        assert_eq!(status.message, "context deadline exceeded");
    }

    #[test]
    fn a_connection_that_ended_is_made_anew() {
        let mut here = Here::new();
        let channel = channel(&here, server());
        call(&here, &channel, "/t/Bye", None);
        assert_eq!(ended(&mut here).code, 0);
        call(&here, &channel, "/t/Echo", None);
        assert_eq!(ended(&mut here).code, 0);
    }

    #[test]
    fn nobody_there_is_told_in_known_words() {
        let mut here = Here::new();
        let channel = channel(&here, "127.0.0.1:1".parse().unwrap());
        let link = here.link(1);
        let task = channel.connect(Arc::clone(&link), Duration::from_secs(5));
        here.links.start(&here.sockets, &link, task).unwrap();
        let Event::Connected(Err(problem)) = next(&mut here) else { panic!("connected") };
        let expected = "connection error: desc = \"transport: error while dialing: dial tcp \
                        127.0.0.1:1: connect: connection refused\"";
        assert_eq!(problem, expected);
    }
}
