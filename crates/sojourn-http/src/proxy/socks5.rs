//! SOCKS version 5 (RFC 1928), with user and password (RFC 1929).

use std::net::IpAddr;

use crate::HostPort;

const VERSION: u8 = 5;
const METHOD_NONE: u8 = 0;
const METHOD_PASSWORD: u8 = 2;

/// The messages that a client may send, written once.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) greeting: Vec<u8>,
    password: Option<Vec<u8>>,
    connect: Vec<u8>,
}

impl Messages {
    /// `None` when host, user or password is longer than 255 bytes, or empty.
    pub(super) fn new(target: &HostPort, user: Option<&(Vec<u8>, Vec<u8>)>) -> Option<Self> {
        let methods: &[u8] =
            if user.is_some() { &[METHOD_NONE, METHOD_PASSWORD] } else { &[METHOD_NONE] };
        let greeting = [&[VERSION, methods.len() as u8], methods].concat();
        let password = match user {
            Some((name, password)) => {
                // The version is that of RFC 1929.
                let mut message = vec![1];
                push_short(&mut message, name)?;
                push_short(&mut message, password)?;
                Some(message)
            }
            None => None,
        };
        // Connect; reserved.
        let mut connect = vec![VERSION, 1, 0];
        match target.host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => {
                connect.push(1);
                connect.extend(address.octets());
            }
            Ok(IpAddr::V6(address)) => {
                connect.push(4);
                connect.extend(address.octets());
            }
            Err(_) => {
                connect.push(3);
                push_short(&mut connect, target.host.as_bytes())?;
            }
        }
        connect.extend(target.port.to_be_bytes());
        Some(Self { greeting, password, connect })
    }
}

fn push_short(message: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    message.push(u8::try_from(bytes.len()).ok()?);
    message.extend(bytes);
    Some(())
}

/// How far it has come.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// What came and is not yet whole: 262 bytes at most.
    received: Vec<u8>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// The proxy chooses how to know us.
    #[default]
    Method,
    /// It checks user and password.
    Password,
    /// It connects.
    Connect,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Socks5Step<'a> {
    /// More of the proxy's answer.
    More,
    /// The tunnel is open.
    Open,
    /// This is to be sent.
    Send(&'a [u8]),
}

impl Conversation {
    /// Takes what the proxy sent. It speaks when spoken to: bytes beyond its answer are an error.
    pub(super) fn feed<'a>(
        &mut self,
        bytes: &[u8],
        messages: &'a Messages,
    ) -> Result<Socks5Step<'a>, String> {
        self.received.extend_from_slice(bytes);
        let Some(length) = self.answer_length()? else {
            return Ok(Socks5Step::More);
        };
        if self.received.len() > length {
            return Err("it sent more than its answer".to_owned());
        }
        let second = self.received[1];
        self.received.clear();
        match self.stage {
            Stage::Method => match (second, &messages.password) {
                (METHOD_NONE, _) => self.go_on(Stage::Connect, &messages.connect),
                (METHOD_PASSWORD, Some(password)) => self.go_on(Stage::Password, password),
                _ => Err("it lets nobody in like this (user and password belong into its URL)"
                    .to_owned()),
            },
            Stage::Password if second == 0 => self.go_on(Stage::Connect, &messages.connect),
            Stage::Password => Err("it refused user or password".to_owned()),
            Stage::Connect if second == 0 => Ok(Socks5Step::Open),
            Stage::Connect => Err(refusal(second)),
        }
    }

    fn go_on<'a>(&mut self, stage: Stage, message: &'a [u8]) -> Result<Socks5Step<'a>, String> {
        self.stage = stage;
        Ok(Socks5Step::Send(message))
    }

    /// How long the answer is, once it is whole.
    fn answer_length(&self) -> Result<Option<usize>, String> {
        let version = match self.stage {
            Stage::Method | Stage::Connect => VERSION,
            Stage::Password => 1,
        };
        if self.received.first().is_some_and(|first| *first != version) {
            return Err("its answer is not SOCKS5".to_owned());
        }
        let length = match (self.stage, self.received.get(3), self.received.get(4)) {
            (Stage::Method | Stage::Password, ..) => 2,
            (Stage::Connect, Some(1), _) => 10,
            (Stage::Connect, Some(4), _) => 22,
            (Stage::Connect, Some(3), Some(name)) => 7 + usize::from(*name),
            (Stage::Connect, Some(3) | None, None) => return Ok(None),
            (Stage::Connect, ..) => return Err("its answer is not SOCKS5".to_owned()),
        };
        Ok((self.received.len() >= length).then_some(length))
    }
}

/// RFC 1928 §6.
fn refusal(code: u8) -> String {
    let words = match code {
        1 => "it failed",
        2 => "its rules forbid it",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time ran out on the way",
        7 => "it can't connect for others",
        8 => "it can't reach this kind of address",
        _ => return format!("it refused with code {code}"),
    };
    format!("{words} (SOCKS5 code {code})")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(target: &str, user: bool) -> Messages {
        let user = user.then(|| (b"u".to_vec(), b"pw".to_vec()));
        Messages::new(&target.parse().expect(target), user.as_ref()).expect("short")
    }

    /// Feeds each answer byte by byte; returns what was sent in between.
    fn converse(messages: &Messages, answers: &[&[u8]]) -> Result<Vec<Vec<u8>>, String> {
        let mut conversation = Conversation::default();
        let mut sent = Vec::new();
        for answer in answers {
            for (place, byte) in answer.iter().enumerate() {
                let is_last = place == answer.len() - 1;
                match conversation.feed(&[*byte], messages)? {
                    Socks5Step::More => assert!(!is_last, "it waits for more than {answer:?}"),
                    Socks5Step::Open => sent.push(b"open".to_vec()),
                    Socks5Step::Send(message) => sent.push(message.to_vec()),
                }
            }
        }
        Ok(sent)
    }

    #[test]
    fn a_tunnel_without_a_user() {
        let messages = messages("a.test:443", false);
        assert_eq!(messages.greeting, [5, 1, 0]);
        let sent = converse(&messages, &[&[5, 0], &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]]);
        let connect = b"\x05\x01\x00\x03\x06a.test\x01\xbb".to_vec();
        assert_eq!(sent, Ok(vec![connect, b"open".to_vec()]));
    }

    #[test]
    fn a_tunnel_with_a_user_and_an_address() {
        let messages = messages("[::1]:1", true);
        assert_eq!(messages.greeting, [5, 2, 0, 2]);
        let answer = [&[5, 0, 0, 3, 2][..], b"ab", &[0, 1]].concat();
        let sent = converse(&messages, &[&[5, 2], &[1, 0], &answer]).expect("well");
        assert_eq!(sent[0], b"\x01\x01u\x02pw");
        assert_eq!(sent[1][..4], [5, 1, 0, 4]);
        assert_eq!((sent[1].len(), sent.len()), (22, 3));
    }

    #[test]
    fn refusals_are_told() {
        let check = |answers: &[&[u8]], user: bool, words: &str| {
            let error = converse(&messages("10.0.0.1:1", user), answers).expect_err(words);
            assert!(error.contains(words), "{error}");
        };
        check(&[&[5, 0xff]], true, "lets nobody in");
        check(&[&[5, 2]], false, "lets nobody in");
        check(&[&[5, 2], &[1, 1]], true, "refused user or password");
        check(&[&[5, 0], &[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]], false, "connection refused");
        check(&[b"HTTP/1.1 400 Bad"], false, "not SOCKS5");
        check(&[&[5, 0], &[5, 0, 0, 9, 0]], false, "not SOCKS5");
        let more = Conversation::default().feed(&[5, 0, 0], &messages("a:1", false)).map(|_| ());
        assert_eq!(more, Err("it sent more than its answer".to_owned()));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let host = HostPort { host: "a".repeat(256), port: 1 };
        assert!(Messages::new(&host, None).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic_and_bounded(
            portions in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            stage in 0_u8..3,
        ) {
            let messages = messages("a:1", true);
            let stage = [Stage::Method, Stage::Password, Stage::Connect][stage as usize];
            let mut conversation = Conversation { stage, ..Conversation::default() };
            for portion in portions {
                if conversation.feed(&portion, &messages).is_err() {
                    break;
                }
                prop_assert!(conversation.received.len() <= 262);
            }
        }
    }
}
