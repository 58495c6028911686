//! What is read of the system's own resources while the load goes on: processes, control groups,
//! and figures that Prometheus knows.

use std::{path::PathBuf, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::{Secret, Server, read::channels::server_of};

/// Longest name of a resource.
const NAME_MAX: usize = 100;

/// A resource that is read once a second beside the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Name, in reports; `None`: the process's or the group's own.
    pub name: Option<String>,
    /// Where its figures are.
    pub source: ResourceSource,
}

/// Where a resource's figures are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceSource {
    /// A process of this machine, with its threads and children.
    Process {
        /// Its number.
        pid: u32,
    },
    /// A control group of this machine.
    Cgroup {
        /// Its folder; one that begins nowhere is below `/sys/fs/cgroup`.
        path: PathBuf,
    },
    /// An instant query that Prometheus answers.
    Query {
        /// Who answers; `None`: the command line says.
        prometheus: Option<Arc<Prometheus>>,
        /// The query, in PromQL.
        query: String,
    },
}

/// A server that answers PromQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prometheus {
    /// Where: `http://` or `https://`, perhaps with a path before `/api/v1`.
    pub server: Server,
    /// Headers of each request.
    pub headers: Vec<(String, Secret)>,
}

impl Resource {
    /// Reads `[NAME=]PID`.
    pub fn process(text: &str) -> Result<Self, String> {
        let (name, pid) = named(text);
        let pid = pid.parse().ok().filter(|pid| (1..=4_194_304).contains(pid));
        let pid = pid.ok_or("write NAME=PID or PID: the number of a process, such as api=4711")?;
        Ok(Self { name: checked(name)?, source: ResourceSource::Process { pid } })
    }

    /// Reads `[NAME=]PATH`. An equals sign after a slash is the path's own.
    pub fn cgroup(text: &str) -> Result<Self, String> {
        let (name, path) = match named(text) {
            (Some(name), _) if name.contains('/') => (None, text),
            parts => parts,
        };
        if path.is_empty() {
            return Err("write NAME=PATH or PATH, such as api=/sys/fs/cgroup/api.slice".to_owned());
        }
        Ok(Self { name: checked(name)?, source: ResourceSource::Cgroup { path: path.into() } })
    }

    /// Reads `NAME=PROMQL`.
    pub fn query(text: &str) -> Result<Self, String> {
        let (name, query) = named(text);
        let hint = "write NAME=PROMQL, such as queue='sum(queue_length)'";
        let name = checked(name).map_err(|why| format!("{why}: {hint}"))?.ok_or(hint)?;
        if query.trim().is_empty() {
            return Err(hint.to_owned());
        }
        let source = ResourceSource::Query { prometheus: None, query: query.to_owned() };
        Ok(Self { name: Some(name), source })
    }

    /// What it is, in words without secrets.
    pub fn in_words(&self) -> String {
        match &self.source {
            ResourceSource::Process { pid } => format!("process {pid}"),
            ResourceSource::Cgroup { path } => format!("cgroup {}", path.display()),
            ResourceSource::Query { query, .. } => format!("query {query}"),
        }
    }
}

/// What stands before the first equals sign, and what behind it.
fn named(text: &str) -> (Option<&str>, &str) {
    text.split_once('=').map_or((None, text), |(name, rest)| (Some(name), rest))
}

fn checked(name: Option<&str>) -> Result<Option<String>, String> {
    let Some(name) = name else { return Ok(None) };
    match is_name(name) {
        true => Ok(Some(name.to_owned())),
        false => Err("a name has letters, digits, `_`, `-` and `.`".to_owned()),
    }
}

/// Whether this can name a resource.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=NAME_MAX).contains(&name.len()) && name.chars().all(fits)
}

impl Prometheus {
    /// Reads a URL: `http(s)://[user:password@]host[:port][/path]`. Errors have no secrets.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text.trim()).map_err(|error| format!("not a URL: {error}"))?;
        let (tls, port) = match url.scheme() {
            "http" => (false, 80),
            "https" => (true, 443),
            other => return Err(format!("`{other}://` is not spoken here: http or https")),
        };
        let server = server_of(&url, tls, port).ok_or("a URL without a host")?;
        Ok(Self { server, headers: Vec::new() })
    }

    /// Path and query of the request that asks for a query's value at this instant.
    pub fn target(&self, query: &str) -> String {
        let (path, given) = self.server.path.split_once('?').unwrap_or((&self.server.path, ""));
        let path = path.trim_end_matches('/');
        let base = if path.is_empty() { String::new() } else { format!("/{path}") };
        let query = utf8_percent_encode(query, NON_ALPHANUMERIC);
        let given = if given.is_empty() { String::new() } else { format!("&{given}") };
        format!("{base}/api/v1/query?query={query}{given}")
    }

    /// Headers of each request: the URL's user and password, and those given.
    pub fn request_headers(&self) -> Vec<(String, Secret)> {
        let mut headers = self.headers.clone();
        if let Some(user) = &self.server.user
            && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        {
            let password = self.server.password.as_ref().map_or("", Secret::reveal);
            let encoded = STANDARD.encode(format!("{user}:{password}"));
            headers.push(("authorization".to_owned(), Secret::new(format!("Basic {encoded}"))));
        }
        headers
    }

    /// What no message may repeat, the longest first.
    pub fn secrets(&self) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = self.server.password.iter().cloned().collect();
        for (_, value) in self.request_headers() {
            // Without the word before it, too.
            let bare = value.reveal().rsplit(' ').next().unwrap_or_default().to_owned();
            secrets.extend([Secret::new(bare), value]);
        }
        secrets.retain(|secret| secret.reveal().len() >= 4);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.reveal().len()));
        secrets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_stands_before_the_first_equals_sign() {
        let process = Resource::process("api=42").unwrap();
        assert_eq!(process.name.as_deref(), Some("api"));
        assert_eq!(process.source, ResourceSource::Process { pid: 42 });
        assert_eq!(Resource::process("42").unwrap().name, None);
        for wrong in ["", "0", "-1", "api=", "a b=1", "x=4194305", "=3"] {
            assert!(Resource::process(wrong).is_err(), "{wrong}");
        }
        let group = Resource::cgroup("api=/a/b=c").unwrap();
        assert_eq!(group.name.as_deref(), Some("api"));
        assert_eq!(group.in_words(), "cgroup /a/b=c");
        assert_eq!(Resource::cgroup("/a/b=c").unwrap().name, None);
        assert!(Resource::cgroup("api=").is_err());
        let query = Resource::query("queue=sum(length{job=\"x\"})").unwrap();
        assert_eq!(query.in_words(), "query sum(length{job=\"x\"})");
        for wrong in ["sum(x)", "length{job=\"x\"}", "queue=", "queue= "] {
            assert!(Resource::query(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_url_says_where_and_as_whom_and_its_password_is_never_shown() {
        let server = Prometheus::parse("https://u:s%20ecret@h:9/prom/?dedup=true").unwrap();
        assert_eq!(server.target("a b"), "/prom/api/v1/query?query=a%20b&dedup=true");
        let headers = server.request_headers();
        assert_eq!(headers[0].1.reveal(), "Basic dTpzIGVjcmV0");
        assert!(!format!("{server:?}").contains("ecret"));
        assert_eq!(server.secrets().len(), 3);
        let plain = Prometheus::parse("http://127.0.0.1:9090").unwrap();
        assert_eq!(plain.target("up"), "/api/v1/query?query=up");
        assert!(plain.request_headers().is_empty());
        for wrong in ["127.0.0.1:9090", "ftp://h", "http://"] {
            assert!(Prometheus::parse(wrong).is_err(), "{wrong}");
        }
    }
}
