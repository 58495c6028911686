//! What to do with each field of a stream's struct, found out once and not once a record.

use super::{
    time::read_time,
    types::{Shape, Types, builtin},
    wire::Wire,
};
use crate::results::{Detail, fault::Fault, slots::Slots};

/// How records of one type are decoded.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// How many steps there are up to the last that matters: the rest of a record is not looked at.
    wanted: usize,
}

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Attack,
    Body,
    BytesIn,
    BytesOut,
    Code,
    Error,
    Headers,
    Latency,
    Method,
    Seq,
    Timestamp,
    Url,
    /// A field that does not matter: a number, bytes, or anything else of this type.
    SkipNumber,
    SkipText,
    SkipValue(i64),
}

impl Plan {
    /// The plan for values of a type. Errs in words when it is not the type of a result.
    pub(super) fn of(types: &Types, number: i64, detail: Detail) -> Result<Self, Fault> {
        let Some(Shape::Struct(fields)) = types.shape(number) else {
            return Err(Fault::new(format!("type {number} is no struct that the stream defines")));
        };
        let mut steps = Vec::with_capacity(fields.len());
        let mut is_any_known = false;
        for (name, field_type) in fields {
            let step = Step::of_name(name);
            is_any_known |= step.is_some();
            if let Some(step) = step
                && !step.fits(types, *field_type)
            {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(Fault::new(format!("its field {name} is of another type")));
            }
            let wanted = step.filter(|step| step.is_wanted(detail));
            steps.push(wanted.unwrap_or_else(|| Step::skip(types, *field_type)));
        }
        if !is_any_known {
            return Err(Fault::new("it holds values of another kind, no results"));
        }
        let wanted = steps.iter().rposition(|step| !step.is_skip()).map_or(0, |last| last + 1);
        Ok(Self { steps, wanted })
    }

    /// Decodes the fields of a record; `None` when they are damaged.
    pub(super) fn decode(
        &self,
        types: &Types,
        wire: &mut Wire<'_>,
        slots: &mut Slots,
    ) -> Option<()> {
        let mut next = 0usize;
        while next < self.wanted {
            let delta = wire.uint()?;
            if delta == 0 {
                return Some(());
            }
            next = next.checked_add(usize::try_from(delta).ok()?)?;
            self.steps.get(next - 1)?.take(types, wire, slots)?;
        }
        Some(())
    }
}

impl Step {
    fn of_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"Attack" => Self::Attack,
            b"Body" => Self::Body,
            b"BytesIn" => Self::BytesIn,
            b"BytesOut" => Self::BytesOut,
            b"Code" => Self::Code,
            b"Error" => Self::Error,
            b"Headers" => Self::Headers,
            b"Latency" => Self::Latency,
            b"Method" => Self::Method,
            b"Seq" => Self::Seq,
            b"Timestamp" => Self::Timestamp,
            b"URL" => Self::Url,
            _ => return None,
        })
    }

    /// Whether a field of this type can be what its name says.
    fn fits(self, types: &Types, number: i64) -> bool {
        let is_text = |number| matches!(number, builtin::BYTES | builtin::STRING);
        match self {
            Self::Seq | Self::Code | Self::BytesIn | Self::BytesOut => number == builtin::UINT,
            Self::Latency => number == builtin::INT,
            Self::Timestamp => types.shape(number) == Some(&Shape::Opaque),
            Self::Headers => match types.shape(number) {
                Some(Shape::Map(key, values)) => {
                    let values = types.shape(*values);
                    is_text(*key) && matches!(values, Some(Shape::List(value)) if is_text(*value))
                }
                _ => false,
            },
            _ => is_text(number),
        }
    }

    fn is_wanted(self, detail: Detail) -> bool {
        let is_bulk = matches!(self, Self::Body | Self::Headers | Self::Method | Self::Url);
        detail == Detail::Everything || !is_bulk
    }

    fn skip(types: &Types, number: i64) -> Self {
        match number {
            builtin::BOOL | builtin::INT | builtin::UINT | builtin::FLOAT => Self::SkipNumber,
            builtin::BYTES | builtin::STRING => Self::SkipText,
            _ if types.shape(number) == Some(&Shape::Opaque) => Self::SkipText,
            _ => Self::SkipValue(number),
        }
    }

    fn is_skip(self) -> bool {
        matches!(self, Self::SkipNumber | Self::SkipText | Self::SkipValue(_))
    }

    /// Reads the field.
    #[inline]
    fn take(self, types: &Types, wire: &mut Wire<'_>, slots: &mut Slots) -> Option<()> {
        match self {
            Self::Attack => slots.attack = wire.text()?,
            Self::Body => slots.body = Some(wire.text()?),
            Self::BytesIn => slots.bytes_in = wire.uint()?,
            Self::BytesOut => slots.bytes_out = wire.uint()?,
            Self::Code => slots.code = u16::try_from(wire.uint()?).ok()?,
            Self::Error => slots.error = wire.text()?,
            Self::Headers => read_headers(wire, slots)?,
            Self::Latency => slots.latency_ns = wire.int()?,
            Self::Method => slots.method = wire.text()?,
            Self::Seq => slots.seq = wire.uint()?,
            Self::Timestamp => {
                let range = wire.text()?;
                slots.timestamp = read_time(wire.bytes(range))?;
            }
            Self::Url => slots.url = wire.text()?,
            Self::SkipNumber => {
                wire.uint()?;
            }
            Self::SkipText => {
                wire.text()?;
            }
            Self::SkipValue(number) => types.skip(number, wire)?,
        }
        Some(())
    }
}

fn read_headers(wire: &mut Wire<'_>, slots: &mut Slots) -> Option<()> {
    slots.has_headers = true;
    for _ in 0..wire.uint()? {
        let name = wire.text()?;
        for _ in 0..wire.uint()? {
            let value = wire.text()?;
            if !slots.headers.push(wire.bytes(name.clone()), wire.bytes(value)) {
                return None;
            }
        }
    }
    Some(())
}
