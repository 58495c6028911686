//! Which partition a message goes to, where the script says how and librdkafka can't.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use sojourn_script::js::{self, Ctx, Exception, Function, IntoJs, Object, TypedArray, Value};

use super::messages::Outgoing;

/// Under which name a writer's object has its script's own function.
pub(super) const FUNCTION: &str = "balancer";

/// A writer's way to choose.
pub(super) enum Balancer {
    /// librdkafka's partitioner, by a message's key.
    ByKey,
    /// One after the other.
    RoundRobin(Cell<usize>),
    /// The one that has had the fewest bytes from this writer.
    LeastBytes(RefCell<HashMap<String, Vec<usize>>>),
    /// The script's own function of key and number of partitions.
    Own,
}

impl Balancer {
    /// By the name in the configuration. `start`: where to begin, so that not all writers begin at
    /// the same partition.
    pub(super) fn new(name: Option<&str>, is_function: bool, start: usize) -> Self {
        match name {
            _ if is_function => Self::Own,
            Some("balancer_roundrobin") => Self::RoundRobin(Cell::new(start)),
            Some("balancer_leastbytes") => Self::LeastBytes(RefCell::default()),
            _ => Self::ByKey,
        }
    }

    /// Whether it has to know how many partitions there are.
    pub(super) fn counts_partitions(&self) -> bool {
        !matches!(self, Self::ByKey)
    }

    /// The partition of a message; `None` leaves it to librdkafka.
    pub(super) fn choose<'js>(
        &self,
        ctx: &Ctx<'js>,
        writer: &Object<'js>,
        message: &Outgoing,
        count: Option<usize>,
    ) -> js::Result<Option<i32>> {
        let (Some(count), None) = (count.filter(|count| *count > 0), message.partition) else {
            return Ok(message.partition);
        };
        let chosen = match self {
            Self::ByKey => return Ok(None),
            Self::RoundRobin(next) => {
                let chosen = next.get() % count;
                next.set(next.get().wrapping_add(1));
                chosen
            }
            Self::LeastBytes(topics) => {
                let mut topics = topics.borrow_mut();
                let had = topics.entry(message.topic.clone()).or_default();
                had.resize(count, 0);
                let least = had.iter().enumerate().min_by_key(|(_, bytes)| **bytes);
                let chosen = least.map_or(0, |(at, _)| at);
                had[chosen] += message.bytes();
                chosen
            }
            Self::Own => own(ctx, writer, message, count)?,
        };
        Ok(i32::try_from(chosen).ok())
    }
}

fn own<'js>(
    ctx: &Ctx<'js>,
    writer: &Object<'js>,
    message: &Outgoing,
    count: usize,
) -> js::Result<usize> {
    let function: Function<'js> = writer.get(FUNCTION)?;
    let key: Value<'js> = match &message.key {
        Some(key) => TypedArray::new_copy(ctx.clone(), key)?.into_js(ctx)?,
        None => Value::new_null(ctx.clone()),
    };
    let chosen: f64 = function.call((key, count))?;
    if chosen.fract() == 0.0 && (0.0..count as f64).contains(&chosen) {
        return Ok(chosen as usize);
    }
    let told = format!("the balancer has chosen partition {chosen} of {count}");
    Err(Exception::throw_range(ctx, &told))
}
