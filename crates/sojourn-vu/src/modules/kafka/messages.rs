//! Messages: as scripts hand them over, and as they get them.

use jiff::Timestamp;
use sojourn_broker_kafka::client::Message;
use sojourn_script::js::prelude::This;
use sojourn_script::js::{
    self, Array, Coerced, Ctx, Exception, FromJs, Function, IntoJs, Object, TypedArray, Value,
};

use super::super::bytes;

/// A message to be sent.
pub(super) struct Outgoing {
    pub(super) topic: String,
    pub(super) partition: Option<i32>,
    pub(super) key: Option<Vec<u8>>,
    pub(super) value: Option<Vec<u8>>,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) time_ms: Option<i64>,
}

impl Outgoing {
    /// Reads one of a script's messages; `topic`: the writer's.
    pub(super) fn read<'js>(
        ctx: &Ctx<'js>,
        message: &Object<'js>,
        topic: Option<&str>,
    ) -> js::Result<Self> {
        let own: Option<String> = message.get("topic")?;
        let own = own.filter(|own| !own.is_empty());
        let topic = own.or_else(|| topic.map(str::to_owned)).ok_or_else(|| {
            Exception::throw_type(ctx, "neither the message nor its writer has a topic")
        })?;
        let partition: Option<f64> = message.get("partition")?;
        let partition = partition.filter(|partition| *partition >= 0.0);
        Ok(Self {
            topic,
            partition: partition.map(|partition| partition as i32),
            key: optional(ctx, &message.get("key")?, "a message's key")?,
            value: optional(ctx, &message.get("value")?, "a message's value")?,
            headers: headers(ctx, &message.get("headers")?)?,
            time_ms: time(ctx, message.get("time")?)?,
        })
    }

    /// Bytes of key, value and headers.
    pub(super) fn bytes(&self) -> usize {
        let length = |part: &Option<Vec<u8>>| part.as_ref().map_or(0, Vec::len);
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        length(&self.key) + length(&self.value) + headers.sum::<usize>()
    }
}

/// Bytes, however a script has them: a string, a buffer, a typed array, a list of numbers.
pub(super) fn required(ctx: &Ctx<'_>, value: &Value<'_>, what: &str) -> js::Result<Vec<u8>> {
    if let Some(list) = value.as_array() {
        let byte = |number: js::Result<f64>| {
            let number = number?;
            let is_byte = number.fract() == 0.0 && (0.0..=255.0).contains(&number);
            let told = format!("{what} has {number} among its bytes");
            is_byte.then_some(number as u8).ok_or_else(|| Exception::throw_range(ctx, &told))
        };
        return list.iter::<f64>().map(byte).collect();
    }
    bytes::required(ctx, value, what)
}

fn optional(ctx: &Ctx<'_>, value: &Value<'_>, what: &str) -> js::Result<Option<Vec<u8>>> {
    match value.is_null() || value.is_undefined() {
        true => Ok(None),
        false => required(ctx, value, what).map(Some),
    }
}

/// An object of texts or bytes.
fn headers<'js>(ctx: &Ctx<'js>, headers: &Value<'js>) -> js::Result<Vec<(String, Vec<u8>)>> {
    let Some(headers) = headers.as_object() else { return Ok(Vec::new()) };
    let mut read = Vec::new();
    for entry in headers.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        let value = match value.is_object() {
            true => required(ctx, &value, "a header")?,
            false => Coerced::<String>::from_js(ctx, value)?.0.into_bytes(),
        };
        read.push((name, value));
    }
    Ok(read)
}

/// A date, a text, or milliseconds.
fn time<'js>(ctx: &Ctx<'js>, time: Value<'js>) -> js::Result<Option<i64>> {
    if time.is_null() || time.is_undefined() {
        return Ok(None);
    }
    let ms = match time.as_object() {
        Some(date) => {
            let get: Function<'js> = date.get("getTime")?;
            get.call::<_, f64>((This(date.clone()),))?
        }
        None => match time.as_string() {
            Some(text) => {
                let text = text.to_string()?;
                let parsed: Result<Timestamp, _> = text.parse();
                let parsed = parsed.map_err(|_| {
                    Exception::throw_type(ctx, &format!("a message's time is \"{text}\""))
                })?;
                parsed.as_millisecond() as f64
            }
            None => Coerced::<f64>::from_js(ctx, time)?.0,
        },
    };
    // The time that Go and Kafka's other clients have for none.
    Ok((ms.is_finite() && ms > 0.0).then_some(ms as i64))
}

/// Messages as a script gets them.
pub(super) fn list<'js>(
    ctx: &Ctx<'js>,
    messages: &[Message],
    is_precise: bool,
) -> js::Result<Array<'js>> {
    let list = Array::new(ctx.clone())?;
    for (at, message) in messages.iter().enumerate() {
        let object = Object::new(ctx.clone())?;
        object.set("topic", message.topic.as_str())?;
        object.set("partition", message.partition)?;
        object.set("offset", message.offset as f64)?;
        object.set("time", shown(message.time_ms.unwrap_or(0), is_precise))?;
        // Both spellings are in use.
        object.set("highWaterMark", message.high_watermark as f64)?;
        object.set("highwaterMark", message.high_watermark as f64)?;
        let headers = Object::new(ctx.clone())?;
        for (name, value) in &message.headers {
            headers.set(name.as_str(), header(ctx, value)?)?;
        }
        object.set("headers", headers)?;
        object.set("key", of_bytes(ctx, message.key.as_deref())?)?;
        object.set("value", of_bytes(ctx, message.value.as_deref())?)?;
        list.set(at, object)?;
    }
    Ok(list)
}

/// Bytes as scripts have them; null without.
pub(super) fn of_bytes<'js>(ctx: &Ctx<'js>, bytes: Option<&[u8]>) -> js::Result<Value<'js>> {
    match bytes {
        Some(bytes) => TypedArray::new_copy(ctx.clone(), bytes)?.into_js(ctx),
        None => Ok(Value::new_null(ctx.clone())),
    }
}

/// A header's value: bytes, which as a text are what they say.
fn header<'js>(ctx: &Ctx<'js>, value: &[u8]) -> js::Result<Value<'js>> {
    let bytes = of_bytes(ctx, Some(value))?;
    let text = String::from_utf8_lossy(value).into_owned();
    if let Some(object) = bytes.as_object() {
        let to_string = Function::new(ctx.clone(), move || text.clone())?;
        object.prop("toString", js::object::Property::from(to_string))?;
    }
    Ok(bytes)
}

/// RFC 3339, in whole seconds or as precisely as it is known.
fn shown(time_ms: i64, is_precise: bool) -> String {
    let time = Timestamp::from_millisecond(time_ms).unwrap_or_default();
    match is_precise {
        true => time.to_string(),
        false => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}
