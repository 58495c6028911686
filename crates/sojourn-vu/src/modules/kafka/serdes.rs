//! `serialize` and `deserialize`: what a message's key or value is as bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sojourn_script::js::prelude::This;
use sojourn_script::js::{self, Coerced, Ctx, FromJs, Function, IntoJs, Object, Value};

use super::go_error::throw;
use super::messages;
use super::protobuf;
use super::registry::Schema;
use super::shared::Kafka;

/// Magic byte and id in front of what is written by a schema, as schema registries have it.
const PREFIX_BYTES: usize = 5;

/// Data as JSON that knows of bytes (lists of numbers) and big integers (texts of digits).
const REPLACE: &str = r#"
(function (key, value) {
    if (typeof value === "bigint") return value.toString();
    if (value instanceof ArrayBuffer) return Array.from(new Uint8Array(value));
    if (ArrayBuffer.isView(value)) {
        return Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    }
    return value;
})
"#;

/// Data as JSON as Protobuf maps it, where bytes are Base64.
const REPLACE_FOR_PROTOBUF: &str = r#"
(function (encode) {
    return function (key, value) {
        if (typeof value === "bigint") return value.toString();
        return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ? encode(value) : value;
    };
})
"#;

/// What is to be turned into bytes, or back.
pub(super) struct Container<'js> {
    data: Value<'js>,
    schema: Option<Schema>,
    schema_type: String,
    /// The data of Protobuf are encoded messages, not objects.
    is_encoded: bool,
}

impl<'js> Container<'js> {
    pub(super) fn read(ctx: &Ctx<'js>, container: &Object<'js>) -> js::Result<Self> {
        let schema: Value<'js> = container.get("schema")?;
        let schema = match schema.is_object() {
            true => Some(super::config::read(ctx, "schema", &schema)?),
            false => None,
        };
        let schema_type: Option<String> = container.get("schemaType")?;
        let schema_type = schema_type.unwrap_or_default().to_uppercase();
        let format: Option<String> = container.get("protobufFormat")?;
        let is_encoded = match format.as_deref() {
            None | Some("" | "object") => false,
            Some("bytes") => true,
            Some(other) => {
                let told = format!("protobufFormat is \"{other}\": \"object\" or \"bytes\"");
                return Err(throw(ctx, &told));
            }
        };
        Ok(Self { data: container.get("data")?, schema, schema_type, is_encoded })
    }

    pub(super) fn serialize(self, ctx: &Ctx<'js>, kafka: &Kafka) -> js::Result<Value<'js>> {
        let failed = |problem: &str| throw(ctx, &format!("Failed to serialize data: {problem}"));
        let bytes = match self.schema_type.as_str() {
            "STRING" => Coerced::<String>::from_js(ctx, self.data.clone())?.0.into_bytes(),
            "BYTES" => messages::required(ctx, &self.data, "the data")?,
            "JSON" => {
                let json = json(ctx, &self.data)?.into_bytes();
                match &self.schema {
                    Some(schema) => schema.prefixed(json),
                    None => json,
                }
            }
            "AVRO" => {
                let schema = self.schema.as_ref().ok_or_else(|| failed("Avro needs a schema"))?;
                let parsed = kafka.schema(&schema.schema).map_err(|problem| failed(&problem))?;
                let data = serde_json::from_str(&json(ctx, &self.data)?)
                    .map_err(|error| failed(&error.to_string()))?;
                let bytes = parsed.write(&data).map_err(|problem| failed(&problem))?;
                schema.prefixed(bytes)
            }
            "PROTOBUF" => self.of_protobuf(ctx, kafka)?,
            other => return Err(failed(&unknown(other))),
        };
        messages::of_bytes(ctx, Some(&bytes))
    }

    pub(super) fn deserialize(self, ctx: &Ctx<'js>, kafka: &Kafka) -> js::Result<Value<'js>> {
        let failed = |problem: &str| throw(ctx, &format!("Failed to deserialize data: {problem}"));
        let bytes = messages::required(ctx, &self.data, "the data")?;
        match self.schema_type.as_str() {
            "STRING" => String::from_utf8_lossy(&bytes).into_owned().into_js(ctx),
            "BYTES" => messages::of_bytes(ctx, Some(&bytes)),
            "JSON" => {
                let bytes = if self.schema.is_some() { without_prefix(&bytes) } else { &bytes };
                let text = std::str::from_utf8(bytes).map_err(|_| failed("it is not UTF-8"))?;
                ctx.json_parse(text)
            }
            "AVRO" => {
                let schema = self.schema.as_ref().ok_or_else(|| failed("Avro needs a schema"))?;
                let parsed = kafka.schema(&schema.schema).map_err(|problem| failed(&problem))?;
                let read = parsed.read(without_prefix(&bytes));
                let value = read.map_err(|problem| failed(&problem))?;
                ctx.json_parse(value.to_string())
            }
            "PROTOBUF" if self.is_encoded => {
                let bare = protobuf::bare(&bytes).map_err(|problem| failed(&problem))?;
                messages::of_bytes(ctx, Some(bare))
            }
            "PROTOBUF" => {
                let known = self.message_type(kafka).map_err(|problem| failed(&problem))?;
                ctx.json_parse(known.read(&bytes).map_err(|problem| failed(&problem))?)
            }
            other => Err(failed(&unknown(other))),
        }
    }

    fn message_type(&self, kafka: &Kafka) -> Result<protobuf::Type, String> {
        let schema = self.schema.as_ref().ok_or("Protobuf needs a schema")?;
        protobuf::Type::of(schema, kafka)
    }

    fn of_protobuf(&self, ctx: &Ctx<'js>, kafka: &Kafka) -> js::Result<Vec<u8>> {
        let failed = |problem: String| throw(ctx, &format!("Failed to serialize data: {problem}"));
        let known = self.message_type(kafka).map_err(failed)?;
        if self.is_encoded {
            return Ok(known.prefixed(&messages::required(ctx, &self.data, "the data")?));
        }
        let make: Function<'js> = ctx.eval(REPLACE_FOR_PROTOBUF)?;
        let encode =
            |bytes: Value<'js>| super::super::bytes::of(&bytes).map(|bytes| STANDARD.encode(bytes));
        let replace = make.call((Function::new(ctx.clone(), encode)?,))?;
        known.write(&json_by(ctx, &self.data, replace)?).map_err(failed)
    }
}

impl Schema {
    /// What is written by a schema has its id before it, 0 where no registry knows it.
    fn prefixed(&self, data: Vec<u8>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(data.len() + PREFIX_BYTES);
        bytes.push(0);
        bytes.extend(self.id.to_be_bytes());
        bytes.extend(data);
        bytes
    }
}

/// The data behind the prefix, where there is one: its first byte is 0.
fn without_prefix(bytes: &[u8]) -> &[u8] {
    match bytes {
        [0, _, _, _, _, data @ ..] => data,
        bare => bare,
    }
}

fn unknown(schema_type: &str) -> String {
    format!("there is no schemaType \"{schema_type}\"")
}

fn json<'js>(ctx: &Ctx<'js>, data: &Value<'js>) -> js::Result<String> {
    json_by(ctx, data, ctx.eval(REPLACE)?)
}

fn json_by<'js>(ctx: &Ctx<'js>, data: &Value<'js>, replace: Function<'js>) -> js::Result<String> {
    let json: Object<'js> = ctx.globals().get("JSON")?;
    let stringify: Function<'js> = json.get("stringify")?;
    let text: Option<String> = stringify.call((This(json), data.clone(), replace))?;
    Ok(text.unwrap_or_else(|| "null".to_owned()))
}
