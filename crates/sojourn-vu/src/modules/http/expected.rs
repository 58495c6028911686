//! Which statuses count as a success.

use sojourn_script::js::{self, Ctx, Exception, Object, Value};

/// Statuses that a script expects; 200 to 399 by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// One of these ranges, both ends included.
    Ranges(Vec<(u16, u16)>),
    /// Nothing is judged, and nothing tagged.
    Unjudged,
}

impl Default for Expected {
    fn default() -> Self {
        Self::Ranges(vec![(200, 399)])
    }
}

/// The hidden property by which an object of `expectedStatuses` is known.
const MARK: &str = "__sojourn_expected";

impl Expected {
    /// Whether the status is expected; `None` where nothing is judged.
    pub(super) fn holds(&self, status: u16) -> Option<bool> {
        match self {
            Self::Ranges(ranges) => {
                Some(ranges.iter().any(|(least, most)| (*least..=*most).contains(&status)))
            }
            Self::Unjudged => None,
        }
    }

    /// `expectedStatuses(200, {min: 300, max: 399}, …)`.
    pub(super) fn make<'js>(ctx: &Ctx<'js>, statuses: &[Value<'js>]) -> js::Result<Object<'js>> {
        let wrong = || {
            let told = "expectedStatuses() takes numbers and objects {min: number, max: number}";
            Exception::throw_message(ctx, told)
        };
        if statuses.is_empty() {
            return Err(Exception::throw_message(ctx, "no arguments"));
        }
        let mut flat = Vec::with_capacity(2 * statuses.len());
        for status in statuses {
            if let Some(number) = status.as_number().filter(|number| number.fract() == 0.0) {
                flat.extend([number as u16, number as u16]);
                continue;
            }
            let range = status.as_object().ok_or_else(wrong)?;
            let end = |name| range.get::<_, Option<u16>>(name).ok().flatten().ok_or_else(wrong);
            flat.extend([end("min")?, end("max")?]);
        }
        let object = Object::new(ctx.clone())?;
        object.prop(MARK, js::object::Property::from(flat))?;
        Ok(object)
    }

    /// What a script gives as a response callback; null judges nothing.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<Self> {
        if value.is_null() {
            return Ok(Self::Unjudged);
        }
        let flat: Option<Vec<u16>> = match value.as_object() {
            Some(object) => object.get(MARK)?,
            None => None,
        };
        let Some(flat) = flat else {
            let told = "unsupported responseCallback";
            return Err(Exception::throw_message(ctx, told));
        };
        Ok(Self::Ranges(flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()))
    }
}
