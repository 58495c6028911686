//! A DNS server with a behaviour of its own, over UDP and TCP on one port of the loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) name: String,
    /// AAAA, else A.
    pub(crate) is_v6: bool,
    pub(crate) over_tcp: bool,
}

/// What to say to a question.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// These, of the kind that was asked for, by way of an alias.
    Addresses(Vec<IpAddr>),
    /// This response code.
    Code(u8),
    /// First what does not answer the question, then these.
    NoiseThen(Vec<IpAddr>),
    Nothing,
    /// That it does not fit.
    Truncated,
}

/// The server. Its threads end with the test's process.
pub(crate) struct DnsServer {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl DnsServer {
    pub(crate) fn start(behave: impl Fn(&Question) -> Say + Send + Sync + 'static) -> Self {
        let (datagrams, listener) = sockets();
        let address = datagrams.local_addr().expect("bound");
        let asked: Arc<Mutex<Vec<Question>>> = Arc::default();
        let log = Arc::clone(&asked);
        let behave = Arc::new(move |question: &Question| {
            log.lock().expect("unpoisoned").push(question.clone());
            behave(question)
        });
        let answer = Arc::clone(&behave);
        std::thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = datagrams.recv_from(&mut buffer) {
                for message in answers(&buffer[..length], false, &*answer) {
                    datagrams.send_to(&message, from).ok();
                }
            }
        });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let mut length = [0; 2];
                stream.read_exact(&mut length).expect("a length");
                let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
                stream.read_exact(&mut message).expect("a question");
                for message in answers(&message, true, &*behave) {
                    // In small portions: the client must put them together.
                    let framed = [&(message.len() as u16).to_be_bytes()[..], &message].concat();
                    for portion in framed.chunks(7) {
                        stream.write_all(portion).expect("open");
                    }
                }
            }
        });
        Self { address, asked }
    }

    /// Knows one name.
    pub(crate) fn knowing(name: &'static str, addresses: &[&str]) -> Self {
        let addresses = parsed(addresses);
        Self::start(move |question| {
            if question.name == name { Say::Addresses(addresses.clone()) } else { Say::Code(3) }
        })
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("unpoisoned").clone()
    }
}

pub(crate) fn parsed(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|address| address.parse().expect(address)).collect()
}

fn sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        if let Ok(datagrams) = UdpSocket::bind(address) {
            return (datagrams, listener);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

fn answers(message: &[u8], over_tcp: bool, behave: &dyn Fn(&Question) -> Say) -> Vec<Vec<u8>> {
    let mut labels = Vec::new();
    let mut position = 12;
    while message[position] != 0 {
        let length = usize::from(message[position]);
        let label = &message[position + 1..position + 1 + length];
        labels.push(String::from_utf8(label.to_vec()).expect("text"));
        position += 1 + length;
    }
    let is_v6 = message[position + 2] == 28;
    let question = Question { name: labels.join("."), is_v6, over_tcp };
    let asked = &message[..position + 5];
    match behave(&question) {
        Say::Addresses(addresses) => vec![answer(asked, is_v6, &addresses)],
        Say::Code(code) => vec![head(asked, [0x81, 0x80 | code], 0)],
        Say::NoiseThen(addresses) => {
            let right = answer(asked, is_v6, &addresses);
            let mut other_number = right.clone();
            other_number[0] ^= 1;
            let mut other_name = right.clone();
            other_name[13] ^= 1;
            let cut_off = right[..right.len() - 1].to_vec();
            vec![b"noise".to_vec(), Vec::new(), other_number, other_name, cut_off, right]
        }
        Say::Nothing => Vec::new(),
        Say::Truncated => vec![head(asked, [0x83, 0x80], 0)],
    }
}

/// An alias for the name (`x` before it), and the alias's addresses.
fn answer(asked: &[u8], is_v6: bool, addresses: &[IpAddr]) -> Vec<u8> {
    let fitting: Vec<&IpAddr> = addresses.iter().filter(|a| a.is_ipv6() == is_v6).collect();
    let mut message = head(asked, [0x81, 0x80], 1 + fitting.len() as u16);
    let alias = [1, b'x', 0xc0, 12];
    record(&mut message, &[0xc0, 12], 5, &alias);
    for address in fitting {
        match address {
            IpAddr::V4(address) => record(&mut message, &alias, 1, &address.octets()),
            IpAddr::V6(address) => record(&mut message, &alias, 28, &address.octets()),
        }
    }
    message
}

fn head(asked: &[u8], flags: [u8; 2], records: u16) -> Vec<u8> {
    let mut message = asked.to_vec();
    message[2..4].copy_from_slice(&flags);
    message[6..8].copy_from_slice(&records.to_be_bytes());
    message
}

fn record(message: &mut Vec<u8>, owner: &[u8], kind: u8, data: &[u8]) {
    message.extend(owner);
    message.extend([0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
    message.extend(data);
}
