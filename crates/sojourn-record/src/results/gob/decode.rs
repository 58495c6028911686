//! Reading: messages, of which some define types and the others are results.

use super::{plan::Plan, types::Types, wire::Wire};
use crate::results::{
    Detail,
    fault::Fault,
    slots::Slots,
    source::{RECORD_BYTES_MAX, Source},
};

/// Most bytes of a type definition: far above what results need.
const DEFINITION_BYTES_MAX: u64 = 64 << 10;

/// Most bytes in front of a message's content: its length and the number of its type.
const HEAD_MAX: usize = 18;

/// A stream being read.
#[derive(Debug)]
pub(in crate::results) struct Decoder {
    types: Types,
    /// The plan for the type that the last value had.
    plan: Option<(i64, Plan)>,
    detail: Detail,
    /// Whether a type was defined: what tells a stream without results from an empty file.
    pub(in crate::results) has_types: bool,
}

/// What stands in front of a message's content.
struct Head {
    /// Bytes up to the content.
    length: usize,
    /// Bytes of the whole message with its head.
    total: usize,
    /// The type's number; negative for its definition.
    number: i64,
}

impl Decoder {
    pub(in crate::results) fn new(detail: Detail) -> Self {
        Self { types: Types::default(), plan: None, detail, has_types: false }
    }

    /// Decodes the next result into the slots, whose places are of the source's buffer; false at
    /// the end.
    pub(in crate::results) fn advance(
        &mut self,
        source: &mut Source,
        slots: &mut Slots,
    ) -> Result<bool, Fault> {
        loop {
            let Some(head) = self.head(source)? else { return Ok(false) };
            while source.available().len() < head.total {
                if !source.fill()? {
                    return Err(Fault::CutOff);
                }
            }
            let (buffer, start) = source.buffer();
            let mut wire = Wire::new(&buffer[..start + head.total], start + head.length);
            if head.number > 0 {
                self.decode(head.number, &mut wire, slots)?;
                source.consume(head.total);
                return Ok(true);
            }
            if self.types.define(-head.number, &mut wire).map_err(Fault::new)? {
                self.plan = None;
            }
            self.has_types = true;
            source.consume(head.total);
        }
    }

    fn decode(&mut self, number: i64, wire: &mut Wire<'_>, slots: &mut Slots) -> Result<(), Fault> {
        let plan = match &mut self.plan {
            Some((of, plan)) if *of == number => plan,
            other => {
                let plan = Plan::of(&self.types, number, self.detail)?;
                &mut other.insert((number, plan)).1
            }
        };
        slots.clear();
        plan.decode(&self.types, wire, slots)
            .ok_or_else(|| Fault::new("the fields of a result are damaged"))
    }

    /// The next message's head; `None` at the end. What cannot be a stream of results is refused
    /// here, before a length that it claims is waited for.
    fn head(&self, source: &mut Source) -> Result<Option<Head>, Fault> {
        loop {
            let available = source.available();
            let mut wire = Wire::new(&available[..available.len().min(HEAD_MAX)], 0);
            if let Some(head) = read_head(&mut wire) {
                return self.check(head).map(Some);
            }
            if available.len() >= HEAD_MAX {
                return Err(Fault::new("a message begins with no length"));
            }
            if !source.fill()? {
                let is_end = source.available().is_empty();
                return if is_end { Ok(None) } else { Err(Fault::CutOff) };
            }
        }
    }

    fn check(&self, (head, length): (Head, u64)) -> Result<Head, Fault> {
        if head.number == 0 || head.number == i64::MIN || head.total < head.length {
            return Err(Fault::new("a message has no type"));
        }
        if head.number > 0 && self.types.shape(head.number).is_none() {
            return Err(Fault::new(format!("type {} is not defined", head.number)));
        }
        let most = if head.number < 0 { DEFINITION_BYTES_MAX } else { RECORD_BYTES_MAX as u64 };
        if length > most {
            return Err(Fault::new(format!("a message claims to have {length} bytes")));
        }
        Ok(head)
    }
}

/// The head and the length that it claims.
fn read_head(wire: &mut Wire<'_>) -> Option<(Head, u64)> {
    let length = wire.uint()?;
    let content = wire.at();
    let number = wire.int()?;
    let total = content.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    Some((Head { length: wire.at(), total, number }, length))
}
