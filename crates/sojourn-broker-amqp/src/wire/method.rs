//! The methods that Sojourn says and understands.

use super::Malformed;
use super::frame::{FrameKind, append};
use super::reader::Reader;
use super::writer::Writer;

/// What the broker says, of what concerns us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// The connection begins: the broker's properties (a table) and mechanisms.
    Start {
        properties: &'a [u8],
        mechanisms: &'a [u8],
    },
    /// It wants more than name and password.
    Secure,
    Tune {
        channel_max: u16,
        frame_max: u32,
        heartbeat_s: u16,
    },
    ConnectionClose {
        code: u16,
        text: &'a [u8],
    },
    /// It takes no messages from us for now.
    Blocked {
        reason: &'a [u8],
    },
    Unblocked,
    ChannelClose {
        code: u16,
        text: &'a [u8],
    },
    /// It wants deliveries or publishing to stop or go on.
    Flow {
        active: bool,
    },
    QueueDeclared {
        name: &'a [u8],
        ready: u32,
    },
    /// It ended a subscription, as when the queue was deleted.
    Cancelled,
    Returned {
        code: u16,
        routing_key: &'a [u8],
    },
    Delivered {
        tag: u64,
        exchange: &'a [u8],
        routing_key: &'a [u8],
    },
    Acked {
        tag: u64,
        multiple: bool,
    },
    Nacked {
        tag: u64,
        multiple: bool,
    },
    /// Agreement to what was asked: class and method.
    Ok(Answer),
}

/// An agreement without contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    ConnectionOpen,
    ConnectionClose,
    ChannelOpen,
    ChannelClose,
    ExchangeDeclare,
    QueueBind,
    Qos,
    Consume,
    Cancel,
    ConfirmSelect,
}

/// Reads the payload of a method frame. Errs on a method that a broker has no reason to send us.
pub(crate) fn read(payload: &[u8]) -> Result<Said<'_>, Malformed> {
    let mut reader = Reader::new(payload);
    let said = match (reader.u16()?, reader.u16()?) {
        (10, 10) => {
            let _version = reader.u16()?;
            Said::Start { properties: reader.long()?, mechanisms: reader.long()? }
        }
        (10, 20) => Said::Secure,
        (10, 30) => Said::Tune {
            channel_max: reader.u16()?,
            frame_max: reader.u32()?,
            heartbeat_s: reader.u16()?,
        },
        (10, 41) => Said::Ok(Answer::ConnectionOpen),
        (10, 50) => Said::ConnectionClose { code: reader.u16()?, text: reader.short()? },
        (10, 51) => Said::Ok(Answer::ConnectionClose),
        (10, 60) => Said::Blocked { reason: reader.short()? },
        (10, 61) => Said::Unblocked,
        (20, 11) => Said::Ok(Answer::ChannelOpen),
        (20, 20) => Said::Flow { active: reader.u8()? & 1 != 0 },
        (20, 40) => Said::ChannelClose { code: reader.u16()?, text: reader.short()? },
        (20, 41) => Said::Ok(Answer::ChannelClose),
        (40, 11) => Said::Ok(Answer::ExchangeDeclare),
        (50, 11) => Said::QueueDeclared { name: reader.short()?, ready: reader.u32()? },
        (50, 21) => Said::Ok(Answer::QueueBind),
        (60, 11) => Said::Ok(Answer::Qos),
        (60, 21) => Said::Ok(Answer::Consume),
        (60, 30) => Said::Cancelled,
        (60, 31) => Said::Ok(Answer::Cancel),
        (60, 50) => {
            let code = reader.u16()?;
            let _text = reader.short()?;
            let _exchange = reader.short()?;
            Said::Returned { code, routing_key: reader.short()? }
        }
        (60, 60) => {
            let _consumer = reader.short()?;
            let tag = reader.u64()?;
            let _redelivered = reader.u8()?;
            Said::Delivered { tag, exchange: reader.short()?, routing_key: reader.short()? }
        }
        (60, 80) => Said::Acked { tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 },
        (60, 120) => Said::Nacked { tag: reader.u64()?, multiple: reader.u8()? & 1 != 0 },
        (85, 11) => Said::Ok(Answer::ConfirmSelect),
        _ => return Err(Malformed("it says what a broker does not say to a client")),
    };
    Ok(said)
}

/// How a queue is declared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QueueKind<'a> {
    /// Must exist.
    Existing,
    /// The system's, kept through the broker's restart; made where it is missing.
    Durable,
    /// Our own, gone with the connection; with arguments, texts by name.
    Own(&'a [(&'a str, &'a str)]),
}

/// Methods to be sent: each appends one frame.
impl Writer {
    fn method(
        &mut self,
        channel: u16,
        (class, method): (u16, u16),
        arguments: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        append(self, FrameKind::Method, channel, |out| {
            out.u16(class);
            out.u16(method);
            arguments(out)
        })
    }

    /// Who we are and what we understand, and user and password (mechanism PLAIN), or nothing of
    /// both where a certificate says it (EXTERNAL).
    pub(crate) fn start_ok(&mut self, login: Option<(&str, &str)>) -> Result<(), Malformed> {
        self.method(0, (10, 11), |out| {
            out.table(|out| {
                out.text_field("product", b"sojourn")?;
                out.text_field("version", env!("CARGO_PKG_VERSION").as_bytes())?;
                out.text_field("connection_name", b"sojourn")?;
                out.short(b"capabilities")?;
                out.u8(b'F');
                out.table(|out| {
                    // A wrong password is answered instead of only cut off; a subscription that
                    // ends and a broker that takes nothing are told of.
                    out.true_field("authentication_failure_close")?;
                    out.true_field("consumer_cancel_notify")?;
                    out.true_field("connection.blocked")?;
                    out.true_field("basic.nack")?;
                    out.true_field("publisher_confirms")
                })
            })?;
            match login {
                Some((user, password)) => {
                    out.short(b"PLAIN")?;
                    out.long(format!("\0{user}\0{password}").as_bytes())?;
                }
                None => {
                    out.short(b"EXTERNAL")?;
                    out.long(b"")?;
                }
            }
            out.short(b"en_US")
        })
    }

    pub(crate) fn tune_ok(
        &mut self,
        channel_max: u16,
        frame_max: u32,
        heartbeat_s: u16,
    ) -> Result<(), Malformed> {
        self.method(0, (10, 31), |out| {
            out.u16(channel_max);
            out.u32(frame_max);
            out.u16(heartbeat_s);
            Ok(())
        })
    }

    pub(crate) fn connection_open(&mut self, vhost: &str) -> Result<(), Malformed> {
        self.method(0, (10, 40), |out| {
            out.short(vhost.as_bytes())?;
            out.u16(0);
            Ok(())
        })
    }

    pub(crate) fn connection_close(&mut self) -> Result<(), Malformed> {
        self.method(0, (10, 50), |out| {
            out.u16(200);
            out.short(b"bye")?;
            out.u32(0);
            Ok(())
        })
    }

    pub(crate) fn connection_close_ok(&mut self) -> Result<(), Malformed> {
        self.method(0, (10, 51), |_| Ok(()))
    }

    pub(crate) fn channel_open(&mut self, channel: u16) -> Result<(), Malformed> {
        self.method(channel, (20, 10), |out| out.short(b""))
    }

    pub(crate) fn channel_close_ok(&mut self, channel: u16) -> Result<(), Malformed> {
        self.method(channel, (20, 41), |_| Ok(()))
    }

    pub(crate) fn flow_ok(&mut self, channel: u16, active: bool) -> Result<(), Malformed> {
        self.method(channel, (20, 21), |out| {
            out.u8(u8::from(active));
            Ok(())
        })
    }

    /// Asks for an exchange that must exist; its type is not looked at.
    pub(crate) fn exchange_exists(&mut self, channel: u16, name: &str) -> Result<(), Malformed> {
        self.method(channel, (40, 10), |out| {
            out.u16(0);
            out.short(name.as_bytes())?;
            out.short(b"topic")?;
            out.u8(1);
            out.u32(0);
            Ok(())
        })
    }

    /// Declares a durable exchange of type `topic`.
    pub(crate) fn exchange_declare(&mut self, channel: u16, name: &str) -> Result<(), Malformed> {
        const DURABLE: u8 = 1 << 1;
        self.method(channel, (40, 10), |out| {
            out.u16(0);
            out.short(name.as_bytes())?;
            out.short(b"topic")?;
            out.u8(DURABLE);
            out.u32(0);
            Ok(())
        })
    }

    /// Declares an exchange of type `headers` in a way that RabbitMQ always refuses: its alternate
    /// exchange is a number, and no text. Of an exchange that exists the refusal tells the type.
    pub(crate) fn exchange_type(&mut self, channel: u16, name: &str) -> Result<(), Malformed> {
        self.method(channel, (40, 10), |out| {
            out.u16(0);
            out.short(name.as_bytes())?;
            out.short(b"headers")?;
            out.u8(0);
            out.table(|out| {
                out.short(b"alternate-exchange")?;
                out.u8(b'I');
                out.u32(0);
                Ok(())
            })
        })
    }

    pub(crate) fn queue_declare(
        &mut self,
        channel: u16,
        name: &[u8],
        kind: QueueKind<'_>,
    ) -> Result<(), Malformed> {
        const PASSIVE: u8 = 1;
        const DURABLE: u8 = 1 << 1;
        const EXCLUSIVE: u8 = 1 << 2;
        const AUTO_DELETE: u8 = 1 << 3;
        self.method(channel, (50, 10), |out| {
            out.u16(0);
            out.short(name)?;
            let arguments = match kind {
                QueueKind::Existing => {
                    out.u8(PASSIVE);
                    &[]
                }
                QueueKind::Durable => {
                    out.u8(DURABLE);
                    &[]
                }
                QueueKind::Own(arguments) => {
                    out.u8(EXCLUSIVE | AUTO_DELETE);
                    arguments
                }
            };
            out.table(|out| {
                let mut fields = arguments.iter();
                fields.try_for_each(|(name, value)| out.text_field(name, value.as_bytes()))
            })
        })
    }

    pub(crate) fn queue_bind(
        &mut self,
        channel: u16,
        queue: &[u8],
        exchange: &str,
        routing_key: &str,
    ) -> Result<(), Malformed> {
        self.method(channel, (50, 20), |out| {
            out.u16(0);
            out.short(queue)?;
            out.short(exchange.as_bytes())?;
            out.short(routing_key.as_bytes())?;
            out.u8(0);
            out.u32(0);
            Ok(())
        })
    }

    pub(crate) fn qos(&mut self, channel: u16, messages: u16) -> Result<(), Malformed> {
        self.method(channel, (60, 10), |out| {
            out.u32(0);
            out.u16(messages);
            out.u8(0);
            Ok(())
        })
    }

    pub(crate) fn consume(
        &mut self,
        channel: u16,
        queue: &[u8],
        no_ack: bool,
    ) -> Result<(), Malformed> {
        self.method(channel, (60, 20), |out| {
            out.u16(0);
            out.short(queue)?;
            out.short(b"sojourn")?;
            out.u8(u8::from(no_ack) << 1);
            out.u32(0);
            Ok(())
        })
    }

    /// Acknowledges everything up to this tag.
    pub(crate) fn ack(&mut self, channel: u16, tag: u64) -> Result<(), Malformed> {
        self.method(channel, (60, 80), |out| {
            out.u64(tag);
            out.u8(1);
            Ok(())
        })
    }

    pub(crate) fn confirm_select(&mut self, channel: u16) -> Result<(), Malformed> {
        self.method(channel, (85, 10), |out| {
            out.u8(0);
            Ok(())
        })
    }

    pub(crate) fn publish(
        &mut self,
        channel: u16,
        exchange: &str,
        routing_key: &str,
        mandatory: bool,
    ) -> Result<(), Malformed> {
        self.method(channel, (60, 40), |out| {
            out.u16(0);
            out.short(exchange.as_bytes())?;
            out.short(routing_key.as_bytes())?;
            out.u8(u8::from(mandatory));
            Ok(())
        })
    }

    pub(crate) fn heartbeat(&mut self) {
        self.bytes.extend_from_slice(&[8, 0, 0, 0, 0, 0, 0, 0xCE]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_delivery_is_read_and_not_when_cut_off() {
        let bytes = b"\0\x3c\0\x3c\x03tag\0\0\0\0\0\0\0\x09\x01\x02ex\x03a.b";
        let said = Said::Delivered { tag: 9, exchange: b"ex", routing_key: b"a.b" };
        assert_eq!(read(bytes), Ok(said));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_leaves_no_half_frame() {
        let mut out = Writer::default();
        out.heartbeat();
        let name = "n".repeat(256);
        assert!(out.queue_bind(1, b"q", &name, "k").is_err());
        assert!(out.publish(1, "x", &name, true).is_err());
        assert_eq!(out.bytes.len(), 8);
    }

    proptest! {
        #[test]
        fn any_method_is_read_or_malformed(
            class in prop::sample::select(vec![10_u16, 20, 40, 50, 60, 85]),
            method in 0_u16..130, arguments: Vec<u8>) {
            let mut bytes = class.to_be_bytes().to_vec();
            bytes.extend_from_slice(&method.to_be_bytes());
            bytes.extend_from_slice(&arguments);
            if let Ok(Said::Delivered { exchange, routing_key, .. }) = read(&bytes) {
                prop_assert!(exchange.len() + routing_key.len() < bytes.len());
            }
        }
    }
}
