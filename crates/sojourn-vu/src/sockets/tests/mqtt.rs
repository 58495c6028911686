//! MQTT sessions against peers that say exactly what they are told to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_k6::options::Options;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{self, Message};

use super::super::mqtt::{self, Ask, Event, Order, Server};
use super::{Any, Endpoint, Here};

/// The packet that begins a session; what is in it is the broker's business.
const HELLO: &[u8] = b"\x10\x0c\0\x04MQTT\x04\x02\0\x3c\0\0";
const WELCOME: &[u8] = b"\x20\x02\0\0";

impl Here {
    fn session(&self, address: SocketAddr, url: Option<&str>) -> mpsc::Sender<Order> {
        let endpoint = Endpoint::new(&Options::default(), "127.0.0.1", address.port());
        let url = url.map(|scheme| format!("{scheme}://{address}/mqtt"));
        let ask = Ask {
            servers: vec![Server { endpoint, url }],
            hello: HELLO.to_vec(),
            keep_alive: Some(Duration::from_secs(1)),
            timeout: Duration::from_secs(10),
        };
        let (orders, coming) = mpsc::channel(64);
        let link = self.link(1);
        let task = mqtt::run(ask, std::sync::Arc::clone(&link), coming, self.links.traffic());
        self.links.start(&self.sockets, &link, task).unwrap();
        orders
    }

    fn next_of_session(&mut self) -> Event {
        match self.next().event {
            Any::Mqtt(event) => event,
            other => panic!("{other:?}"),
        }
    }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn packet(bytes: &[u8], is_exactly_once: bool) -> Order {
    Order::Packet { bytes: bytes.to_vec(), is_exactly_once, told: None }
}

fn expect(stream: &mut TcpStream, bytes: &[u8]) {
    let mut came = vec![0; bytes.len()];
    stream.read_exact(&mut came).unwrap();
    assert_eq!(came, bytes);
}

/// Where messages of a WebSocket end says nothing about where packets do.
#[test]
fn packets_come_over_a_websocket_however_they_are_cut() {
    let (listener, address) = listener();
    let server = std::thread::spawn(move || {
        #[allow(clippy::result_large_err, reason = "tungstenite wants it so")]
        let choose = |request: &Request, mut response: Response| {
            assert_eq!(request.uri().path(), "/mqtt");
            assert_eq!(request.headers()["sec-websocket-protocol"], "mqtt");
            let chosen = HeaderValue::from_static("mqtt");
            response.headers_mut().insert("sec-websocket-protocol", chosen);
            Ok(response)
        };
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept_hdr(stream, choose).unwrap();
        assert_eq!(socket.read().unwrap(), Message::binary(HELLO));
        // Two messages of QoS 1, cut within each of them.
        let all = [WELCOME, b"\x32\x06\0\x01t\0\x01a\x32\x06\0\x01t\0\x02b"].concat();
        for cut in [&all[..3], &all[3..9], &[], &all[9..17], &all[17..]] {
            socket.send(Message::binary(cut.to_vec())).unwrap();
        }
        let mut came = Vec::new();
        while let Ok(message) = socket.read() {
            came.extend(message.into_data());
            if came.ends_with(b"\xe0\0") {
                break;
            }
        }
        // Answers, what is published, and the goodbye.
        assert_eq!(came, b"\x40\x02\0\x01\x40\x02\0\x02\x30\x04\0\x01uc\xe0\0");
        socket.close(None).unwrap();
        while socket.read().is_ok() {}
    });
    let mut here = Here::new();
    let orders = here.session(address, Some("ws"));
    assert!(matches!(here.next_of_session(), Event::Connected));
    for expected in [b"a", b"b"] {
        let Event::Message { topic, payload } = here.next_of_session() else { panic!() };
        assert_eq!((topic.as_str(), payload.as_slice()), ("t", &expected[..]));
    }
    orders.try_send(packet(b"\x30\x04\0\x01uc", false)).unwrap();
    orders.try_send(Order::Disconnect).unwrap();
    assert!(matches!(here.next_of_session(), Event::Closed));
    server.join().unwrap();
}

#[test]
fn a_broker_that_answers_pings_is_kept_and_one_that_does_not_is_lost() {
    let (listener, address) = listener();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        expect(&mut stream, HELLO);
        stream.write_all(WELCOME).unwrap();
        expect(&mut stream, b"\xc0\0");
        stream.write_all(b"\xd0\0").unwrap();
        expect(&mut stream, b"\xc0\0");
        // Silence, until the other end has had enough.
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    });
    let mut here = Here::new();
    let began_ns = now_ns();
    let _orders = here.session(address, None);
    assert!(matches!(here.next_of_session(), Event::Connected));
    let Event::Lost { error } = here.next_of_session() else { panic!("not lost") };
    assert!(error.contains("does not answer a ping"), "{error}");
    // Two pings, three quarters of a second apart at least, and a second of silence.
    assert!(now_ns() - began_ns > 2 * SECOND_NS);
    server.join().unwrap();
}

/// A broker of 3.1.1 can't say how many messages it takes at once.
#[test]
fn few_messages_of_qos_2_are_under_way_at_a_time_and_all_else_goes_on() {
    let (listener, address) = listener();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        expect(&mut stream, HELLO);
        stream.write_all(WELCOME).unwrap();
        let message = |id: u8| [b"\x34\x05\0\x01t\0", &[id][..]].concat();
        for id in 1..=20 {
            expect(&mut stream, &message(id));
        }
        // A message for the client is answered though nothing else may be sent.
        stream.write_all(b"\x32\x06\0\x01t\0\x01a").unwrap();
        expect(&mut stream, b"\x40\x02\0\x01");
        for id in 1..=20_u8 {
            stream.write_all(&[0x50, 2, 0, id]).unwrap();
            expect(&mut stream, &[0x62, 2, 0, id]);
        }
        // Complete ones make room.
        for id in 1..=3_u8 {
            stream.write_all(&[0x70, 2, 0, id]).unwrap();
            expect(&mut stream, &message(20 + id));
        }
    });
    let mut here = Here::new();
    let orders = here.session(address, None);
    assert!(matches!(here.next_of_session(), Event::Connected));
    for id in 1..=23 {
        orders.try_send(packet(&[b"\x34\x05\0\x01t\0", &[id][..]].concat(), true)).unwrap();
    }
    assert!(matches!(here.next_of_session(), Event::Message { .. }));
    for expected in 1..=3 {
        assert!(matches!(here.next_of_session(), Event::Done { id } if id == expected));
    }
    let Event::Lost { error } = here.next_of_session() else { panic!("not lost") };
    assert!(error.contains("EOF") || error.contains("reset"), "{error}");
    server.join().unwrap();
}
