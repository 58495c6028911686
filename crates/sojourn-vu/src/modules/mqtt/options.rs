//! What scripts say: of a client, of a broker, of one call.

use std::time::Duration;

use sojourn_broker_mqtt::session::Will;
use sojourn_script::js::{self, Array, Coerced, Ctx, FromJs, Function, Object, Value};
use url::Url;

use super::super::{bytes, metrics};

/// Tags of metrics.
pub(super) type Tags = Vec<(String, String)>;

const KEEP_ALIVE_S: u16 = 60;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// What `new Client` is given.
#[derive(Default)]
pub(super) struct ClientOptions<'js> {
    pub(super) client_id: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// Asked for user and password each time.
    pub(super) provider: Option<Function<'js>>,
    pub(super) will: Option<OwnWill>,
    pub(super) tags: Tags,
}

/// What is published when the client goes without a word.
pub(super) struct OwnWill {
    topic: String,
    payload: Vec<u8>,
    qos: u8,
    retain: bool,
}

impl OwnWill {
    pub(super) fn as_will(&self) -> Will<'_> {
        let Self { topic, payload, qos, retain } = self;
        Will { topic, payload, qos: *qos, retain: *retain }
    }
}

/// What `connect` is given besides a URL.
#[derive(Clone)]
pub(super) struct ConnectOptions {
    /// 0: for ever.
    pub(super) keep_alive_s: u16,
    pub(super) timeout: Duration,
    pub(super) is_clean: bool,
    /// URLs.
    pub(super) servers: Vec<String>,
    pub(super) tags: Tags,
}

/// What a call is given besides topics and payload.
#[derive(Default)]
pub(super) struct CallOptions {
    pub(super) qos: u8,
    pub(super) retain: bool,
    pub(super) tags: Tags,
}

/// What a URL says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_secure: bool,
    /// Of a WebSocket: the URL, without who we are.
    pub(super) websocket: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

impl<'js> ClientOptions<'js> {
    pub(super) fn read(ctx: &Ctx<'js>, given: Option<&Value<'js>>) -> js::Result<Self> {
        let Some(object) = given.and_then(Value::as_object) else { return Ok(Self::default()) };
        // Both spellings are in use.
        let client_id = match text(ctx, object, "client_id")? {
            Some(id) => Some(id),
            None => text(ctx, object, "clientId")?,
        };
        let will: Option<Object<'js>> = object.get("will")?;
        Ok(Self {
            client_id: client_id.unwrap_or_default(),
            user: text(ctx, object, "username")?,
            password: text(ctx, object, "password")?,
            provider: object.get("credentials_provider")?,
            will: will.map(|will| OwnWill::read(ctx, &will)).transpose()?,
            tags: tags(ctx, object)?,
        })
    }
}

impl OwnWill {
    fn read<'js>(ctx: &Ctx<'js>, will: &Object<'js>) -> js::Result<Self> {
        let payload: Value<'js> = will.get("payload")?;
        Ok(Self {
            topic: text(ctx, will, "topic")?.unwrap_or_default(),
            payload: bytes::of(&payload).unwrap_or_default(),
            qos: qos(will)?,
            retain: will.get::<_, Option<bool>>("retain")?.unwrap_or_default(),
        })
    }
}

impl ConnectOptions {
    /// Reads `(url, options)` or `(options)`.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, arguments: &[Value<'js>]) -> js::Result<Self> {
        let mut read = Self {
            keep_alive_s: KEEP_ALIVE_S,
            timeout: CONNECT_TIMEOUT,
            is_clean: true,
            servers: Vec::new(),
            tags: Vec::new(),
        };
        let mut options = arguments.get(1);
        match arguments.first() {
            Some(url) if url.is_string() => {
                read.servers.push(Coerced::<String>::from_js(ctx, url.clone())?.0);
            }
            first => options = first,
        }
        if let Some(options) = options.and_then(Value::as_object) {
            let number = |key: &str| options.get::<_, Option<f64>>(key);
            if let Some(seconds) = number("keepalive")? {
                read.keep_alive_s = seconds.clamp(0.0, u16::MAX.into()) as u16;
            }
            if let Some(ms) = number("connect_timeout")?.filter(|ms| *ms > 0.0) {
                read.timeout = Duration::from_millis(ms as u64);
            }
            if let Some(is_clean) = options.get::<_, Option<bool>>("clean_session")? {
                read.is_clean = is_clean;
            }
            let servers: Option<Vec<Coerced<String>>> = options.get("servers")?;
            read.servers.extend(servers.into_iter().flatten().map(|server| server.0));
            read.tags = tags(ctx, options)?;
        }
        Ok(read)
    }
}

impl CallOptions {
    pub(super) fn read<'js>(ctx: &Ctx<'js>, given: Option<&Value<'js>>) -> js::Result<Self> {
        let Some(object) = given.and_then(Value::as_object) else { return Ok(Self::default()) };
        Ok(Self {
            qos: qos(object)?,
            retain: object.get::<_, Option<bool>>("retain")?.unwrap_or_default(),
            tags: tags(ctx, object)?,
        })
    }
}

impl Address {
    /// `[scheme://][user[:password]@]host[:port][/path]`. The error does not show a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let whole = match text.contains("://") {
            true => text.to_owned(),
            false => format!("mqtt://{text}"),
        };
        let mut url = Url::parse(&whole).map_err(|error| format!("the broker's URL: {error}"))?;
        let (is_secure, is_websocket, usual) = match url.scheme() {
            "mqtt" | "tcp" => (false, false, 1_883),
            "mqtts" | "ssl" | "tls" => (true, false, 8_883),
            "ws" => (false, true, 80),
            "wss" => (true, true, 443),
            other => {
                let known = "mqtt, mqtts, tcp, ssl, tls, ws, wss";
                return Err(format!("the broker's URL has the scheme {other}, not one of {known}"));
            }
        };
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        let user = Some(url.username()).filter(|user| !user.is_empty()).map(decoded);
        let password = url.password().map(decoded);
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or("the broker's URL has no host")?.to_owned();
        let port = url.port().unwrap_or(usual);
        // Both are allowed where there is a host.
        url.set_username("").and_then(|()| url.set_password(None)).ok();
        url.set_fragment(None);
        let websocket = is_websocket.then(|| url.to_string());
        Ok(Self { host, port, is_secure, websocket, user, password })
    }
}

/// One topic, or a list of them.
pub(super) fn topics<'js>(ctx: &Ctx<'js>, given: Option<&Value<'js>>) -> js::Result<Vec<String>> {
    let Some(given) = given.filter(|given| !given.is_null() && !given.is_undefined()) else {
        return Ok(Vec::new());
    };
    match given.as_array() {
        Some(array) => Array::iter::<Coerced<String>>(array).map(|one| Ok(one?.0)).collect(),
        None => Ok(vec![Coerced::<String>::from_js(ctx, given.clone())?.0]),
    }
}

fn text<'js>(ctx: &Ctx<'js>, object: &Object<'js>, key: &str) -> js::Result<Option<String>> {
    let value: Value<'js> = object.get(key)?;
    if value.is_null() || value.is_undefined() {
        return Ok(None);
    }
    Ok(Some(Coerced::<String>::from_js(ctx, value)?.0))
}

/// What is no quality of service becomes one that nobody takes, so that it is refused by name.
fn qos(object: &Object<'_>) -> js::Result<u8> {
    let given: Option<f64> = object.get("qos")?;
    Ok(given.map_or(0, |qos| if (0.0..=2.0).contains(&qos) { qos as u8 } else { u8::MAX }))
}

fn tags<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> js::Result<Tags> {
    metrics::pairs(ctx, &object.get("tags")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_where_how_and_who() {
        let plain = Address::parse("broker.example").unwrap();
        assert_eq!(
            (plain.host.as_str(), plain.port, plain.is_secure),
            ("broker.example", 1_883, false)
        );
        assert_eq!(Address::parse("localhost:7").unwrap().port, 7);
        for (url, port, is_secure) in [
            ("mqtt://h", 1_883, false),
            ("tcp://h:1", 1, false),
            ("mqtts://h", 8_883, true),
            ("ssl://h", 8_883, true),
            ("tls://[::1]:9", 9, true),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!((address.port, address.is_secure), (port, is_secure), "{url}");
            assert_eq!(address.websocket, None);
        }
        let whole = Address::parse("wss://me:p%40ss@h/mqtt?x=1#y").unwrap();
        assert_eq!(whole.websocket.as_deref(), Some("wss://h/mqtt?x=1"));
        assert_eq!((whole.port, whole.is_secure), (443, true));
        assert_eq!((whole.user.as_deref(), whole.password.as_deref()), (Some("me"), Some("p@ss")));
    }

    #[test]
    fn what_is_no_url_is_named_without_the_secret() {
        for (url, part) in [
            ("http://me:s3cret@h", "the scheme http, not one of mqtt"),
            ("mqtt://me:s3cret@h:x", "invalid port"),
            ("mqtt://", "no host"),
            ("", "no host"),
        ] {
            let told = Address::parse(url).unwrap_err();
            assert!(told.contains(part) && !told.contains("s3cret"), "{url}: {told}");
        }
    }
}
