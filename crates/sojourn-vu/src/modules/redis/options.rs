//! What a script says of a server: a URL or an object.

use std::num::NonZero;
use std::time::Duration;

use sojourn_script::js::{self, Array, Coerced, Ctx, FromJs, Object, Value};
use url::Url;

use crate::modules::bytes;
use crate::modules::grpc::TlsParams;
use crate::sockets::redis::Command;

const PORT: u16 = 6_379;
/// Connections for each processor, as k6 has them.
const POOL_SIZE: usize = 10;
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const REPLY_TIMEOUT: Duration = Duration::from_secs(3);

/// Settings whose effect is that of a pool that is kept otherwise here.
const WITHOUT_EFFECT: [&str; 6] = [
    "minIdleConns",
    "maxConnAge",
    "poolTimeout",
    "idleTimeout",
    "idleCheckFrequency",
    "writeTimeout",
];

/// See the module's page.
pub(super) struct ServerOptions {
    pub(super) host: String,
    pub(super) port: u16,
    username: Option<String>,
    password: Option<String>,
    client_name: Option<String>,
    database: u32,
    /// `None`: no TLS.
    pub(super) tls: Option<TlsParams>,
    pub(super) dial_timeout: Duration,
    pub(super) reply_timeout: Option<Duration>,
    pub(super) connections_max: usize,
}

/// What a script's value means; the error is what is wrong with it, without a secret.
type Read<T> = js::Result<Result<T, String>>;

/// Hands an inner error on.
macro_rules! held {
    ($read:expr) => {
        match $read {
            Ok(value) => value,
            Err(problem) => return Ok(Err(problem)),
        }
    };
}

impl Default for ServerOptions {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            host: "localhost".to_owned(),
            port: PORT,
            username: None,
            password: None,
            client_name: None,
            database: 0,
            tls: None,
            dial_timeout: DIAL_TIMEOUT,
            reply_timeout: Some(REPLY_TIMEOUT),
            connections_max: POOL_SIZE * processors,
        }
    }
}

impl ServerOptions {
    /// Reads a URL or an object.
    pub(super) fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Read<Self> {
        if let Some(text) = value.as_string() {
            return Ok(Self::of_url(&text.to_string()?));
        }
        let Some(object) = value.as_object() else {
            let told = "a URL (redis://host:6379/0) or an object of options is wanted";
            return Ok(Err(told.to_owned()));
        };
        let mut options = Self::default();
        let mut has_socket = false;
        for entry in object.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            if value.is_undefined() || value.is_null() {
                continue;
            }
            has_socket |= key == "socket";
            held!(options.set(ctx, &key, &value)?);
        }
        Ok(if has_socket { Ok(options) } else { Err("empty socket options".to_owned()) })
    }

    /// `redis[s]://[[user][:password]@][host][:port][/database]`.
    fn of_url(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("invalid redis URL: {why}");
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        let tls = match url.scheme() {
            "redis" => None,
            "rediss" => Some(TlsParams::default()),
            other => return Err(wrong(&format!("the scheme is redis or rediss, not \"{other}\""))),
        };
        let mut options = Self { tls, ..Self::default() };
        if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
            options.host = decoded(host);
        }
        options.port = url.port().unwrap_or(PORT);
        options.username = Some(url.username()).filter(|it| !it.is_empty()).map(decoded);
        options.password = url.password().map(decoded);
        let path = url.path().trim_matches('/');
        if !path.is_empty() {
            let number = path.parse();
            options.database =
                number.map_err(|_| wrong(&format!("\"{path}\" is no number of a database")))?;
        }
        Ok(options)
    }

    fn set<'js>(&mut self, ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Read<()> {
        let text = || Coerced::<String>::from_js(ctx, value.clone()).map(|text| text.0);
        match key {
            "socket" => match value.as_object() {
                Some(socket) => return self.set_socket(ctx, socket),
                None => return Ok(Err("the option \"socket\" must be an object".to_owned())),
            },
            "username" => self.username = Some(text()?),
            "password" => self.password = Some(text()?),
            "clientName" => self.client_name = Some(text()?),
            "database" => {
                let number = value.as_number().filter(|it| it.fract() == 0.0 && *it >= 0.0);
                let number = number.filter(|it| *it <= f64::from(u32::MAX));
                let told = || "the option \"database\" must be a number of a database".to_owned();
                self.database = held!(number.ok_or_else(told)) as u32;
            }
            "cluster" | "masterName" | "sentinelUsername" | "sentinelPassword" => {
                let told =
                    "clusters and sentinels are not spoken to here: name one server by socket";
                return Ok(Err(format!("the option \"{key}\": {told}")));
            }
            other => return Ok(Err(format!("unknown option \"{other}\""))),
        }
        Ok(Ok(()))
    }

    fn set_socket<'js>(&mut self, ctx: &Ctx<'js>, socket: &Object<'js>) -> Read<()> {
        for entry in socket.props::<String, Value<'js>>() {
            let (key, value) = entry?;
            if value.is_undefined() || value.is_null() {
                continue;
            }
            match key.as_str() {
                "host" => self.host = Coerced::<String>::from_js(ctx, value)?.0,
                "port" => {
                    let port = value.as_number().filter(|it| it.fract() == 0.0);
                    let port = port.filter(|it| (1.0..=65_535.0).contains(it));
                    let told = || "the option \"socket.port\" must be a port".to_owned();
                    self.port = held!(port.ok_or_else(told)) as u16;
                }
                "tls" => self.tls = Some(held!(tls(&value)?)),
                "dialTimeout" => {
                    let seconds = held!(seconds(&key, &value));
                    self.dial_timeout = seconds.unwrap_or(Duration::MAX);
                }
                "readTimeout" => self.reply_timeout = held!(seconds(&key, &value)),
                "poolSize" => {
                    let size = value.as_number().filter(|it| *it >= 1.0 && *it <= 65_535.0);
                    let told = || "the option \"socket.poolSize\" must be 1 at least".to_owned();
                    self.connections_max = held!(size.ok_or_else(told)) as usize;
                }
                name if WITHOUT_EFFECT.contains(&name) => {}
                other => return Ok(Err(format!("unknown option \"socket.{other}\""))),
            }
        }
        Ok(Ok(()))
    }

    /// What each connection begins with.
    pub(super) fn greeting(&self) -> Vec<Command> {
        let command = |parts: &[&str]| parts.iter().map(|part| part.as_bytes().to_vec()).collect();
        let mut greeting = Vec::new();
        match (&self.username, &self.password) {
            (Some(user), password) => {
                greeting.push(command(&["AUTH", user, password.as_deref().unwrap_or_default()]));
            }
            (None, Some(password)) => greeting.push(command(&["AUTH", password])),
            (None, None) => {}
        }
        if self.database > 0 {
            greeting.push(command(&["SELECT", &self.database.to_string()]));
        }
        if let Some(name) = &self.client_name {
            greeting.push(command(&["CLIENT", "SETNAME", name]));
        }
        greeting
    }
}

/// Seconds; `None` for -1, which means for ever.
fn seconds(key: &str, value: &Value<'_>) -> Result<Option<Duration>, String> {
    match value.as_number() {
        Some(-1.0) => Ok(None),
        Some(seconds) if seconds > 0.0 && seconds < 1e9 => {
            Ok(Some(Duration::from_secs_f64(seconds)))
        }
        _ => Err(format!("the option \"socket.{key}\" must be a number of seconds, or -1")),
    }
}

/// Certificates as PEM: texts, or buffers that hold them.
fn tls(value: &Value<'_>) -> Read<TlsParams> {
    let Some(object) = value.as_object() else {
        return Ok(Err("the option \"socket.tls\" must be an object".to_owned()));
    };
    let mut params = TlsParams::default();
    for entry in object.props::<String, Value<'_>>() {
        let (key, value) = entry?;
        match key.as_str() {
            "ca" => {
                let all = match value.as_array() {
                    Some(array) => array_of(array)?,
                    None => vec![value.clone()],
                };
                for one in &all {
                    params.roots.push(held!(pem(&key, one)));
                }
            }
            "cert" => params.cert = Some(held!(pem(&key, &value))),
            "key" => params.key = Some(held!(pem(&key, &value))),
            other => return Ok(Err(format!("unknown option \"socket.tls.{other}\""))),
        }
    }
    Ok(Ok(params))
}

fn array_of<'js>(array: &Array<'js>) -> js::Result<Vec<Value<'js>>> {
    array.iter().collect()
}

fn pem(key: &str, value: &Value<'_>) -> Result<String, String> {
    let text = bytes::of(value).and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| {
        format!("the option \"socket.tls.{key}\" must be PEM: a text, or a buffer that holds it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_say_where_and_who() {
        let options = ServerOptions::of_url("rediss://me:p%40ss@[::1]:7000/3").unwrap();
        assert_eq!((options.host.as_str(), options.port), ("[::1]", 7_000));
        assert!(options.tls.is_some());
        let greeting = options.greeting();
        let text = |at: usize| {
            greeting[at].iter().map(|part| String::from_utf8_lossy(part)).collect::<Vec<_>>()
        };
        assert_eq!(
            (text(0), text(1)),
            (vec!["AUTH".into(), "me".into(), "p@ss".into()], vec!["SELECT".into(), "3".into()],)
        );
        let plain = ServerOptions::of_url("redis://:pw@host").unwrap();
        assert_eq!((plain.port, plain.tls.is_none()), (PORT, true));
        assert_eq!(plain.greeting(), [vec![b"AUTH".to_vec(), b"pw".to_vec()]]);
        assert!(ServerOptions::of_url("redis://").unwrap().greeting().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_without_the_secret() {
        for (url, part) in [
            ("http://me:s3cret@host", "not \"http\""),
            ("redis://me:s3cret@host/first", "\"first\" is no number"),
            ("redis://me:s3cret@host:x", "invalid redis URL"),
            ("nonsense", "invalid redis URL"),
        ] {
            let Err(told) = ServerOptions::of_url(url) else { panic!("{url}") };
            assert!(told.contains(part) && !told.contains("s3cret"), "{told}");
        }
    }
}
