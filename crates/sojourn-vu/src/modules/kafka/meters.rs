//! The module's metrics: `kafka_writer_*` and `kafka_reader_*`, by the names that its
//! documentation lists.
//!
//! All are declared, so that thresholds can name them. Those that librdkafka has no figure for get
//! no samples: docs/k6.md lists them.

use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use sojourn_k6::metrics::{Contains, MetricId, MetricKind, TagSet};
use sojourn_script::js::{self, Ctx, Exception};

use crate::user::User;

macro_rules! meters {
    ($($field:ident = $name:literal, $kind:ident, $contains:ident;)*) => {
        /// The metrics' ids.
        pub(super) struct Meters {
            $(pub(super) $field: MetricId,)*
        }

        impl Meters {
            /// Declares all of them, or finds them declared.
            pub(super) fn declare(ctx: &Ctx<'_>, user: &User) -> js::Result<Self> {
                let registry = &user.host.settings.registry;
                let mut registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
                let mut declare = |name: &str, kind, contains| {
                    let declared = registry.declare(name, kind, contains);
                    declared.map_err(|error| Exception::throw_message(ctx, &error.to_string()))
                };
                for (name, kind, contains) in WITHOUT_SAMPLES {
                    declare(name, kind, contains)?;
                }
                Ok(Self {
                    $($field: declare($name, MetricKind::$kind, Contains::$contains)?,)*
                })
            }
        }
    };
}

meters! {
    writer_writes = "kafka_writer_write_count", Counter, Default;
    writer_messages = "kafka_writer_message_count", Counter, Default;
    writer_bytes = "kafka_writer_message_bytes", Counter, Data;
    writer_errors = "kafka_writer_error_count", Counter, Default;
    writer_batch_time = "kafka_writer_batch_seconds", Trend, Time;
    writer_write_time = "kafka_writer_write_seconds", Trend, Time;
    writer_batch_size = "kafka_writer_batch_size", Counter, Default;
    writer_batch_bytes = "kafka_writer_batch_bytes", Counter, Data;
    writer_attempts_max = "kafka_writer_attempts_max", Gauge, Default;
    writer_batch_max = "kafka_writer_batch_max", Gauge, Default;
    writer_batch_timeout = "kafka_writer_batch_timeout", Gauge, Time;
    writer_read_timeout = "kafka_writer_read_timeout", Gauge, Time;
    writer_write_timeout = "kafka_writer_write_timeout", Gauge, Time;
    writer_acks = "kafka_writer_acks_required", Gauge, Default;
    writer_async = "kafka_writer_async", Rate, Default;
    reader_fetches = "kafka_reader_fetches_count", Counter, Default;
    reader_messages = "kafka_reader_message_count", Counter, Default;
    reader_bytes = "kafka_reader_message_bytes", Counter, Data;
    reader_rebalances = "kafka_reader_rebalance_count", Counter, Default;
    reader_timeouts = "kafka_reader_timeouts_count", Counter, Default;
    reader_errors = "kafka_reader_error_count", Counter, Default;
    reader_read_time = "kafka_reader_read_seconds", Trend, Time;
    reader_wait_time = "kafka_reader_wait_seconds", Trend, Time;
    reader_fetch_size = "kafka_reader_fetch_size", Counter, Default;
    reader_fetch_bytes = "kafka_reader_fetch_bytes", Counter, Data;
    reader_offset = "kafka_reader_offset", Gauge, Default;
    reader_lag = "kafka_reader_lag", Gauge, Default;
    reader_bytes_min = "kafka_reader_fetch_bytes_min", Gauge, Default;
    reader_bytes_max = "kafka_reader_fetch_bytes_max", Gauge, Default;
    reader_wait_max = "kafka_reader_fetch_wait_max", Gauge, Time;
    reader_queue_length = "kafka_reader_queue_length", Gauge, Default;
    reader_queue_capacity = "kafka_reader_queue_capacity", Gauge, Default;
}

/// What librdkafka has no figure for. Its statistics count requests that were sent again, but not
/// messages, of waits in queues they have a distribution of all users' together and no values, and
/// of connections they have how many were made. They would pile up in a reader that nobody reads.
const WITHOUT_SAMPLES: [(&str, MetricKind, Contains); 5] = [
    ("kafka_writer_batch_queue_seconds", MetricKind::Trend, Contains::Time),
    ("kafka_writer_wait_seconds", MetricKind::Trend, Contains::Time),
    ("kafka_writer_retries_count", MetricKind::Counter, Contains::Default),
    ("kafka_reader_dial_count", MetricKind::Counter, Contains::Default),
    ("kafka_reader_dial_seconds", MetricKind::Trend, Contains::Time),
];

/// Where samples of one call go: the tags that the user has, and the topic.
pub(super) struct Account {
    user: Rc<User>,
    tags: Arc<TagSet>,
    at_ns: u64,
}

impl Account {
    pub(super) fn new(user: &Rc<User>, topic: &str) -> Self {
        let own = Arc::clone(&user.tags.borrow());
        let tags = user.host.tags(&own, &[("topic", topic)]);
        Self { user: Rc::clone(user), tags, at_ns: sojourn_clock::now_ns() }
    }

    pub(super) fn add(&self, metric: MetricId, value: f64) {
        self.user.add_tagged(metric, &self.tags, self.at_ns, value);
    }

    /// Nanoseconds, as the milliseconds that metrics of time have.
    pub(super) fn add_ns(&self, metric: MetricId, ns: u64) {
        self.add(metric, ns as f64 / 1e6);
    }
}
