//! What scripts say about connections and calls.

use std::time::Duration;

use sojourn_k6::duration::Nanos;
use sojourn_script::js::{self, Coerced, Ctx, FromJs, Object, Value};

use super::super::bytes;
use crate::sockets::grpc::Metadata;

/// How long connecting may take without a word on it, and a call.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Most bytes of a message that comes, without a word on it.
const RECEIVE_BYTES_MAX: usize = 4 << 20;

/// The parameters of `connect`.
#[derive(Debug)]
pub(super) struct ConnectParams {
    pub(super) is_plaintext: bool,
    pub(super) timeout: Duration,
    pub(super) reflects: bool,
    pub(super) reflect_metadata: Metadata,
    pub(super) receive_bytes_max: usize,
    pub(super) send_bytes_max: usize,
    pub(super) authority: Option<String>,
    pub(super) tls: Option<TlsParams>,
}

/// PEM texts, and the password of an encrypted key.
#[derive(Default)]
pub(in crate::modules) struct TlsParams {
    pub(in crate::modules) cert: Option<String>,
    pub(in crate::modules) key: Option<String>,
    pub(in crate::modules) password: Option<String>,
    pub(in crate::modules) roots: Vec<String>,
}

impl std::fmt::Debug for TlsParams {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TlsParams").field("cert", &self.cert).finish_non_exhaustive()
    }
}

impl ConnectParams {
    /// Reads them. The inner error is for the script, without what they are parameters of.
    pub(super) fn read<'js>(
        ctx: &Ctx<'js>,
        value: Option<&Value<'js>>,
    ) -> js::Result<Result<Self, String>> {
        let mut params = Self {
            is_plaintext: false,
            timeout: TIMEOUT,
            reflects: false,
            reflect_metadata: Vec::new(),
            receive_bytes_max: RECEIVE_BYTES_MAX,
            send_bytes_max: i32::MAX as usize,
            authority: None,
            tls: None,
        };
        let Some(object) = value.and_then(Value::as_object) else { return Ok(Ok(params)) };
        for entry in object.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            if let Err(problem) = params.set(ctx, &key, &value)? {
                return Ok(Err(problem));
            }
        }
        Ok(Ok(params))
    }

    fn set<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        key: &str,
        value: &Value<'js>,
    ) -> js::Result<Result<(), String>> {
        let done = match key {
            "plaintext" => flag(ctx, key, value)?.map(|held| self.is_plaintext = held),
            "reflect" => flag(ctx, key, value)?.map(|held| self.reflects = held),
            "timeout" => timeout(value)?.map(|held| self.timeout = held),
            "maxReceiveSize" => size(ctx, key, value)?.map(|held| self.receive_bytes_max = held),
            "maxSendSize" => size(ctx, key, value)?.map(|held| self.send_bytes_max = held),
            "reflectMetadata" => {
                metadata(ctx, "reflectMetadata", value)?.map(|held| self.reflect_metadata = held)
            }
            "authority" => {
                self.authority = Some(Coerced::<String>::from_js(ctx, value.clone())?.0);
                Ok(())
            }
            "tls" => tls(value)?.map(|held| self.tls = held),
            other => Err(format!("unknown connect param: \"{other}\"")),
        };
        Ok(done)
    }
}

/// The parameters of a call.
#[derive(Debug, Default)]
pub(super) struct CallParams {
    pub(super) metadata: Metadata,
    pub(super) tags: Vec<(String, String)>,
    pub(super) timeout: Option<Duration>,
    /// The answer is not made into an object.
    pub(super) discards: bool,
}

impl CallParams {
    /// Reads them; without a word on it a call takes no longer than a minute.
    pub(super) fn of_call<'js>(
        ctx: &Ctx<'js>,
        value: Option<&Value<'js>>,
    ) -> js::Result<Result<Self, String>> {
        let read = Self::of_stream(ctx, value)?;
        Ok(read.map(|read| Self { timeout: read.timeout.or(Some(TIMEOUT)), ..read }))
    }

    /// Reads them; without a word on it a stream takes as long as it will.
    pub(super) fn of_stream<'js>(
        ctx: &Ctx<'js>,
        value: Option<&Value<'js>>,
    ) -> js::Result<Result<Self, String>> {
        let mut params = Self::default();
        let Some(object) = value.and_then(Value::as_object) else { return Ok(Ok(params)) };
        for entry in object.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            let done = match key.as_str() {
                "metadata" => metadata(ctx, "metadata", &value)?.map(|held| params.metadata = held),
                "tags" => {
                    if value.is_object() {
                        params.tags = super::super::metrics::pairs(ctx, &value)?;
                    }
                    Ok(())
                }
                "timeout" => timeout(&value)?.map(|held| params.timeout = Some(held)),
                "discardResponseMessage" => {
                    params.discards = Coerced::<bool>::from_js(ctx, value)?.0;
                    Ok(())
                }
                other => Err(format!("unknown param: \"{other}\"")),
            };
            if let Err(problem) = done {
                return Ok(Err(problem));
            }
        }
        Ok(Ok(params))
    }
}

fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> js::Result<String> {
    let json = ctx.json_stringify(value.clone())?;
    json.map_or_else(|| Ok("undefined".to_owned()), |json| json.to_string())
}

fn flag<'js>(ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> js::Result<Result<bool, String>> {
    match value.as_bool() {
        Some(held) => Ok(Ok(held)),
        None => {
            let shown = shown(ctx, value)?;
            Ok(Err(format!("invalid {key} value: '{shown}', it needs to be boolean")))
        }
    }
}

fn size<'js>(ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> js::Result<Result<usize, String>> {
    let whole = value.as_number().filter(|number| number.fract() == 0.0);
    Ok(match whole {
        Some(number) if number >= 0.0 => Ok(number as usize),
        Some(number) => {
            Err(format!("invalid {key} value: '{number}, it needs to be a positive integer"))
        }
        None => {
            let shown = shown(ctx, value)?;
            Err(format!("invalid {key} value: '{shown}', it needs to be an integer"))
        }
    })
}

/// Milliseconds, or a text such as `1m30s`.
fn timeout(value: &Value<'_>) -> js::Result<Result<Duration, String>> {
    if let Some(ms) = value.as_number() {
        return Ok(Ok(Duration::from_nanos((ms.max(0.0) * 1e6) as u64)));
    }
    let text = value.as_string().map(js::String::to_string).transpose()?.unwrap_or_default();
    let wrong = |_| format!("invalid timeout value: time: invalid duration \"{text}\"");
    Ok(Nanos::parse(&text).map(|parsed| Duration::from_nanos(parsed.ns())).map_err(wrong))
}

/// Names are in small letters; values of those in `-bin` are bytes, all others text.
fn metadata<'js>(
    ctx: &Ctx<'js>,
    what: &str,
    value: &Value<'js>,
) -> js::Result<Result<Metadata, String>> {
    if value.is_null() || value.is_undefined() {
        return Ok(Ok(Vec::new()));
    }
    let wrong = |why: String| Ok(Err(format!("invalid {what} param: {why}")));
    let Some(object) = value.as_object() else {
        return wrong("must be an object with key-value pairs".to_owned());
    };
    let mut pairs = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        let is_binary = name.ends_with("-bin");
        if is_binary == value.is_string() {
            let kind = if is_binary { "binary" } else { "a string" };
            return wrong(format!("\"{name}\" value must be {kind}"));
        }
        let Some(bytes) = bytes::of(&value) else {
            let kind = if is_binary { "binary" } else { "a string" };
            return wrong(format!("\"{name}\" value must be {kind}"));
        };
        let name = name.to_ascii_lowercase();
        if http::HeaderName::try_from(name.as_str()).is_err() {
            return wrong(format!("\"{name}\" is no name that can be sent"));
        }
        if !is_binary && http::HeaderValue::from_bytes(&bytes).is_err() {
            return wrong(format!("\"{name}\" has a value that can't be sent"));
        }
        pairs.push((name, bytes));
    }
    let _ = ctx;
    Ok(Ok(pairs))
}

fn tls(value: &Value<'_>) -> js::Result<Result<Option<TlsParams>, String>> {
    if value.is_null() || value.is_undefined() {
        return Ok(Ok(None));
    }
    let Some(object) = value.as_object() else {
        return Ok(Err("invalid tls value: it needs to be an object".to_owned()));
    };
    let mut params = TlsParams::default();
    let text = |name: &str| -> js::Result<Result<Option<String>, String>> {
        let value: Value<'_> = object.get(name)?;
        if value.is_null() || value.is_undefined() {
            return Ok(Ok(None));
        }
        match value.as_string() {
            Some(text) => Ok(Ok(Some(text.to_string()?))),
            None => {
                Ok(Err(format!("invalid tls {name} value: it needs to be a PEM formatted string")))
            }
        }
    };
    match (text("cert")?, text("key")?, text("password")?) {
        (Ok(cert), Ok(key), Ok(password)) => {
            params.cert = cert;
            params.key = key;
            params.password = password;
        }
        (Err(problem), ..) | (_, Err(problem), _) | (.., Err(problem)) => return Ok(Err(problem)),
    }
    roots(object, &mut params)?;
    Ok(Ok(Some(params)))
}

fn roots(object: &Object<'_>, params: &mut TlsParams) -> js::Result<()> {
    let value: Value<'_> = object.get("cacerts")?;
    if let Some(text) = value.as_string() {
        params.roots.push(text.to_string()?);
    } else if let Some(list) = value.into_array() {
        for text in list.iter::<String>() {
            params.roots.push(text?);
        }
    }
    Ok(())
}
