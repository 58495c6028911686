//! One session of MQTT 3.1.1 as a client sees it, without a socket: bytes in, events out, and what
//! is to be sent.
//!
//! [`Session`] answers by itself what the protocol wants answered. It never delivers a message of
//! QoS 2 twice, and takes no more of them at a time than there are packet numbers.

use std::collections::HashSet;

use sojourn_plan::MqttVersion;

use crate::codec::{self, Ack, Connect, Malformed, Message, Packet};
use crate::filter;

pub use crate::codec::Will;

/// The version that is spoken.
const VERSION: MqttVersion = MqttVersion::V3;
/// Room for what one reading takes, bytes: an idle session of thousands keeps no more.
const ROOM_BYTES: usize = 4 << 10;
/// A buffer that grew beyond this for one message is given back when it is empty.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// How to say hello.
#[derive(Clone, Copy, Debug)]
pub struct Hello<'a> {
    /// Empty: the broker gives one, which it does for clean sessions only.
    pub client_id: &'a str,
    /// The broker forgets what it knows of this client id, and forgets this session at its end.
    pub is_clean: bool,
    /// The broker ends a session that says nothing for one and a half times this long, seconds; 0:
    /// it never does.
    pub keep_alive_s: u16,
    /// Who we are.
    pub user: Option<&'a str>,
    /// That needs a user.
    pub password: Option<&'a str>,
    /// What is published when we go without a word.
    pub will: Option<Will<'a>>,
}

/// A message to be published.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Where to.
    pub topic: &'a str,
    /// What.
    pub payload: &'a [u8],
    /// Quality of service, 0 to 2.
    pub qos: u8,
    /// Whether the broker keeps it for later subscribers.
    pub retain: bool,
}

/// What has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The session stands.
    Connected,
    /// The broker does not want us, and why.
    Refused(&'static str),
    /// A message of a subscription.
    Message {
        /// Where it was published to.
        topic: String,
        /// What.
        payload: Vec<u8>,
    },
    /// The broker has answered: to a message of QoS 1 or 2, or to an unsubscription.
    Done {
        /// The packet's number.
        id: u16,
        /// It was a message of QoS 2.
        is_exactly_once: bool,
    },
    /// The broker has answered to a subscription.
    Granted {
        /// The packet's number.
        id: u16,
        /// For each filter whether it was refused.
        refused: Vec<bool>,
    },
}

/// What has come and is not read yet, and which messages are under way.
#[derive(Debug, Default)]
pub struct Session {
    bytes: Vec<u8>,
    /// How many of them have been read.
    start: usize,
    /// Messages of QoS 2 that we have, and whose numbers the broker has not let go.
    unreleased: HashSet<u16>,
}

impl Session {
    /// Where what the broker sends is appended to, with some room for it.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
        self.bytes.reserve(ROOM_BYTES);
        &mut self.bytes
    }

    /// The next event of what has come, if there is one. What is to be sent in answer is appended
    /// to `answers`.
    ///
    /// # Errors
    /// It is no MQTT, or not what a broker may say; the text says why. The session is over then.
    pub fn next(&mut self, answers: &mut Vec<u8>) -> Result<Option<Event>, &'static str> {
        loop {
            let found = codec::frame(&self.bytes[self.start..]);
            let Some(found) = found.map_err(|Malformed(why)| why)? else { return Ok(None) };
            let length = found.length;
            let packet = codec::packet(&found, VERSION).map_err(|Malformed(why)| why)?;
            let event = heard(packet, &mut self.unreleased, answers);
            self.start += length;
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}

fn heard(
    packet: Packet<'_>,
    unreleased: &mut HashSet<u16>,
    answers: &mut Vec<u8>,
) -> Option<Event> {
    match packet {
        Packet::ConnAck { reason, .. } => Some(match codec::connection_refused(reason, VERSION) {
            None => Event::Connected,
            Some(reason) => Event::Refused(codec::reason_name(reason)),
        }),
        Packet::Publish(publish) => {
            let mut is_new = true;
            match publish.id {
                Some(id) if publish.qos == 2 => {
                    is_new = unreleased.insert(id);
                    codec::write_ack(answers, Ack::Received, id);
                }
                Some(id) => codec::write_ack(answers, Ack::Taken, id),
                None => {}
            }
            let (topic, payload) = (publish.topic.to_owned(), publish.payload.to_vec());
            is_new.then_some(Event::Message { topic, payload })
        }
        Packet::Ack { ack: Ack::Received, id, .. } => {
            codec::write_ack(answers, Ack::Released, id);
            None
        }
        Packet::Ack { ack: Ack::Released, id, .. } => {
            unreleased.remove(&id);
            codec::write_ack(answers, Ack::Complete, id);
            None
        }
        Packet::Ack { ack, id, .. } => {
            Some(Event::Done { id, is_exactly_once: ack == Ack::Complete })
        }
        Packet::SubAck { id, reasons } => {
            let refused = reasons.iter().map(|reason| codec::is_failure(*reason)).collect();
            Some(Event::Granted { id, refused })
        }
        Packet::UnsubAck { id } => Some(Event::Done { id, is_exactly_once: false }),
        Packet::PingResp | Packet::Disconnect { .. } => None,
    }
}

/// The packet that begins a session.
///
/// # Errors
/// It can't be said; the text says why.
pub fn connect(hello: &Hello<'_>) -> Result<Vec<u8>, String> {
    if hello.password.is_some() && hello.user.is_none() {
        return Err("MQTT 3.1.1 has no password without a user".to_owned());
    }
    if let Some(will) = &hello.will {
        check_topic(will.topic).map_err(|problem| format!("the will: {problem}"))?;
        check_qos(will.qos).map_err(|problem| format!("the will: {problem}"))?;
    }
    let Hello { client_id, is_clean, keep_alive_s, user, password, will } = *hello;
    let version = VERSION;
    let connect = Connect { version, client_id, is_clean, will, keep_alive_s, user, password };
    let mut packet = Vec::new();
    codec::write_connect(&mut packet, &connect)?;
    Ok(packet)
}

/// The packet of a message; its number, not 0, goes with QoS 1 and 2 only.
///
/// # Errors
/// It can't be published; the text says why.
pub fn publish(message: &Outgoing<'_>, id: u16) -> Result<Vec<u8>, String> {
    let Outgoing { topic, payload, qos, retain } = *message;
    check_topic(topic)?;
    check_qos(qos)?;
    let mut packet = Vec::new();
    let message = Message { qos, retain, topic, key: None, headers: &[], payload };
    if let Some(place) = codec::write_publish(&mut packet, VERSION, &message)? {
        codec::patch_packet_id(&mut packet, place, id);
    }
    Ok(packet)
}

/// The packet of a subscription to all of these filters.
///
/// # Errors
/// They are no filters; the text says which and why.
pub fn subscribe(id: u16, filters: &[String], qos: u8) -> Result<Vec<u8>, String> {
    check_filters(filters)?;
    check_qos(qos)?;
    let mut packet = Vec::new();
    let texts = filters.iter().map(String::as_str);
    codec::write_subscribe(&mut packet, VERSION, id, texts, qos)?;
    Ok(packet)
}

/// The packet that takes subscriptions back.
///
/// # Errors
/// They are no filters; the text says which and why.
pub fn unsubscribe(id: u16, filters: &[String]) -> Result<Vec<u8>, String> {
    check_filters(filters)?;
    let mut packet = Vec::new();
    codec::write_unsubscribe(&mut packet, VERSION, id, filters.iter().map(String::as_str))?;
    Ok(packet)
}

/// The packet that asks whether the broker is there.
pub fn ping() -> Vec<u8> {
    let mut packet = Vec::new();
    codec::write_ping(&mut packet);
    packet
}

/// The packet that says goodbye.
pub fn disconnect() -> Vec<u8> {
    let mut packet = Vec::new();
    codec::write_disconnect(&mut packet);
    packet
}

fn check_topic(topic: &str) -> Result<(), String> {
    let told = || format!("`{topic}` is no topic to publish to: empty, too long, or with + or #");
    filter::is_topic(topic).then_some(()).ok_or_else(told)
}

fn check_qos(qos: u8) -> Result<(), String> {
    (qos <= 2).then_some(()).ok_or_else(|| format!("the QoS is 0, 1 or 2, not {qos}"))
}

fn check_filters(filters: &[String]) -> Result<(), String> {
    if filters.is_empty() {
        return Err("no topic is named".to_owned());
    }
    let wrong = filters.iter().find_map(|filter| Some((filter, filter::malformed(filter)?)));
    wrong.map_or(Ok(()), |(filter, why)| Err(format!("the topic filter `{filter}`: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All events of these bytes, and what is answered.
    fn hear(session: &mut Session, bytes: &[u8]) -> (Vec<Event>, Vec<u8>) {
        let (mut events, mut answers) = (Vec::new(), Vec::new());
        session.room().extend(bytes);
        while let Some(event) = session.next(&mut answers).unwrap() {
            events.push(event);
        }
        (events, answers)
    }

    fn message(topic: &str, payload: &[u8]) -> Event {
        Event::Message { topic: topic.to_owned(), payload: payload.to_vec() }
    }

    #[test]
    fn a_message_of_qos_2_comes_once_however_often_it_is_sent() {
        let mut session = Session::default();
        let sent = b"\x34\x06\0\x01t\0\x07p";
        assert_eq!(
            hear(&mut session, sent),
            (vec![message("t", b"p")], b"\x50\x02\0\x07".to_vec())
        );
        let again = b"\x3c\x06\0\x01t\0\x07p";
        assert_eq!(hear(&mut session, again), (vec![], b"\x50\x02\0\x07".to_vec()));
        assert_eq!(hear(&mut session, b"\x62\x02\0\x07"), (vec![], b"\x70\x02\0\x07".to_vec()));
        // The number is free: it is another message's.
        assert_eq!(hear(&mut session, sent).0, [message("t", b"p")]);
    }

    #[test]
    fn what_wants_an_answer_gets_it() {
        let mut session = Session::default();
        let all = [
            &b"\x20\x02\x01\0"[..],
            b"\x30\x04\0\x01t0",
            b"\x32\x06\0\x01t\0\x01",
            b"1\x50\x02\0\x09",
            b"\x70\x02\0\x09\x40\x02\0\x0a\x90\x04\0\x0b\x01\x80\xb0\x02\0\x0c\xd0\0",
        ];
        let (mut events, mut answers) = (Vec::new(), Vec::new());
        for part in all {
            let (more, replied) = hear(&mut session, part);
            events.extend(more);
            answers.extend(replied);
        }
        let done = |id, is_exactly_once| Event::Done { id, is_exactly_once };
        let granted = Event::Granted { id: 11, refused: vec![false, true] };
        let messages = [Event::Connected, message("t", b"0"), message("t", b"1")];
        let answered = [done(9, true), done(10, false), granted, done(12, false)];
        assert_eq!(events, [&messages[..], &answered].concat());
        assert_eq!(answers, b"\x40\x02\0\x01\x62\x02\0\x09");
    }

    #[test]
    fn a_refusal_says_why() {
        for (code, why) in [(1, "unsupported protocol version"), (5, "not authorized")] {
            let (events, _) = hear(&mut Session::default(), &[0x20, 2, 0, code]);
            assert_eq!(events, [Event::Refused(why)]);
        }
        let mut session = Session::default();
        session.room().extend(b"\xf0\0");
        assert!(session.next(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_hello_has_what_the_standard_wants() {
        let will = Will { topic: "w", payload: b"gone", qos: 1, retain: true };
        let mut hello = Hello {
            client_id: "me",
            is_clean: false,
            keep_alive_s: 60,
            user: Some("u"),
            password: Some("p"),
            will: Some(will),
        };
        let expected =
            b"\x10\x1d\0\x04MQTT\x04\xec\0\x3c\0\x02me\0\x01w\0\x04gone\0\x01u\0\x01p".to_vec();
        assert_eq!(connect(&hello), Ok(expected));
        (hello.will, hello.user, hello.password, hello.is_clean) = (None, None, None, true);
        assert_eq!(connect(&hello), Ok(b"\x10\x0e\0\x04MQTT\x04\x02\0\x3c\0\x02me".to_vec()));
        hello.password = Some("p");
        assert!(connect(&hello).unwrap_err().contains("without a user"));
        hello.password = None;
        hello.will = Some(Will { topic: "w/#", ..will });
        assert!(connect(&hello).unwrap_err().contains("`w/#` is no topic"));
    }

    #[test]
    fn packets_are_written_as_the_standard_says_or_not_at_all() {
        let message = Outgoing { topic: "t", payload: b"p", qos: 1, retain: true };
        assert_eq!(publish(&message, 258), Ok(b"\x33\x06\0\x01t\x01\x02p".to_vec()));
        let bare = Outgoing { qos: 0, retain: false, ..message };
        assert_eq!(publish(&bare, 9), Ok(b"\x30\x04\0\x01tp".to_vec()));
        for wrong in ["", "a/+", "#"] {
            assert!(publish(&Outgoing { topic: wrong, ..bare }, 1).is_err(), "{wrong}");
        }
        assert!(publish(&Outgoing { qos: 3, ..bare }, 1).unwrap_err().contains("not 3"));
        let filters = ["a/+".to_owned(), "$share/g/#".to_owned()];
        let body = b"\0\x03a/+\x02\0\x0a$share/g/#\x02";
        let packet = [&b"\x82\x15\0\x05"[..], body].concat();
        assert_eq!(subscribe(5, &filters, 2), Ok(packet));
        assert!(subscribe(5, &[], 0).is_err() && subscribe(5, &["a#".to_owned()], 0).is_err());
        assert_eq!(unsubscribe(6, &filters[..1]), Ok(b"\xa2\x07\0\x06\0\x03a/+".to_vec()));
        assert_eq!((ping(), disconnect()), (vec![0xc0, 0], vec![0xe0, 0]));
    }
}
