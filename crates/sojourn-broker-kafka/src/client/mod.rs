//! Clients that scripts drive: producers that many share, readers, and the management of topics and
//! groups.
//!
//! They take librdkafka's properties as a channel of the plan does, and hide their secrets
//! likewise. A [`Producer`] never blocks. A [`Reader`] has a thread of its own, which answers by a
//! callback. An [`Admin`] blocks whoever asks. Where no property but a token lets them in, a
//! [`TokenSource`] has it.

mod admin;
mod groups;
mod producer;
mod queue;
mod reader;
mod reading;
mod tokens;
mod watermarks;

pub use admin::{Admin, Partition, Topic, TopicPlan};
pub use groups::GroupOffset;
pub use producer::{Batch, Delivered, Producer, Record, Refused};
pub use reader::{Answer, Begin, Beside, Handle, Order, Reader, ReaderSettings, Reply, Source};
pub use reading::{Message, ReadError, Taking};
pub use tokens::{Token, TokenSource};
