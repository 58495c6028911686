//! A socket whose messages are compressed, from its user's orders to the bytes on the connection.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::*;

/// A server of one socket that agrees to what is offered, and sends each payload back as it came;
/// after so many, one that is malformed.
fn server(echoes: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        agree(&mut reader, &mut stream);
        for _ in 0..echoes {
            let (first, payload) = frame(&mut reader);
            let head = [first, payload.len() as u8];
            stream.write_all(&[&head[..], &payload].concat()).unwrap();
        }
        frame(&mut reader);
        stream.write_all(&[0xc1, 1, 6]).unwrap();
        // Until the client has gone.
        reader.read_to_end(&mut Vec::new()).ok();
    });
    address
}

fn agree(reader: &mut BufReader<TcpStream>, stream: &mut TcpStream) {
    let (mut key, mut offer) = (String::new(), String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line == "\r\n" {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "sec-websocket-key" => key = derive_accept_key(value.as_bytes()),
            "sec-websocket-extensions" => value.clone_into(&mut offer),
            _ => {}
        }
    }
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Extensions: {offer}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes()).unwrap();
}

/// The first byte of a frame, which must be short, and its payload.
fn frame(reader: &mut impl std::io::Read) -> (u8, Vec<u8>) {
    let mut head = [0; 6];
    reader.read_exact(&mut head).unwrap();
    let mut payload = vec![0; usize::from(head[1] & 127)];
    reader.read_exact(&mut payload).unwrap();
    payload.iter_mut().zip(head[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    (head[0], payload)
}

#[test]
fn compressed_messages_come_as_they_went_and_less_is_sent() {
    let mut here = Here::new();
    let orders = here.open_offering(server(2), true);
    assert!(matches!(here.next_event(), Event::Opened(answer) if answer.status == 101));
    here.links.take_traffic();
    let long = "again and ".repeat(300);
    orders.try_send(text(&long)).unwrap();
    assert!(matches!(here.next_event(), Event::Text(came) if came.as_str() == long));
    orders.try_send(Order::Binary(vec![7; 3_000])).unwrap();
    assert!(matches!(here.next_event(), Event::Binary(came) if came[..] == [7; 3_000]));
    let (sent, received) = here.links.take_traffic();
    assert!((1..300).contains(&sent) && (1..300).contains(&received), "{sent} {received}");
    orders.try_send(text("last")).unwrap();
    let Event::Lost { error } = here.next_event() else { panic!("not lost") };
    assert_eq!(error, "websocket: a compressed message is malformed");
}
