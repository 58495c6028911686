//! Modules at `https:` addresses: fetched once, then kept in a folder.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Exchange, Origin, TlsOptions, next_location,
    origin_host_header, redirected_method, write_request,
};
use sojourn_script::Fetch;
use url::Url;

use super::why_not_bundled;

/// Longest module, bytes.
const BYTES_MAX: usize = 16 << 20;
const TIMEOUT_NS: u64 = 60 * sojourn_clock::SECOND_NS;
const REDIRECTS_MAX: usize = 10;

/// Fetches modules, with servers' certificates verified, and keeps them.
#[derive(Debug)]
pub(crate) struct RemoteModules {
    /// Where they are kept; `None` where there is no such folder.
    folder: Option<PathBuf>,
    tls: TlsOptions,
}

impl RemoteModules {
    /// Keeps modules in `$XDG_CACHE_HOME/sojourn/modules`, or in `~/.cache/sojourn/modules`.
    pub(crate) fn new() -> Self {
        let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let cache = named("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| named("HOME").map(|home| Path::new(&home).join(".cache")));
        let folder = cache.map(|cache| cache.join("sojourn").join("modules"));
        Self { folder, tls: TlsOptions::default() }
    }

    /// The file in which the module at this URL is kept.
    fn file(&self, url: &str) -> Option<PathBuf> {
        let digest = Sha256::digest(url.as_bytes());
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.as_ref()?.join(name + ".js"))
    }

    fn get(&self, url: &str) -> Result<String, String> {
        let config = ClientConfig { tls: self.tls.clone(), ..ClientConfig::default() };
        let mut client = Client::new(config).map_err(|error| error.to_string())?;
        let mut origin = Origin::parse(url).map_err(|error| error.to_string())?;
        let parsed = Url::parse(url).map_err(|error| error.to_string())?;
        let mut path = match parsed.query() {
            Some(query) => format!("{}?{query}", parsed.path()),
            None => parsed.path().to_owned(),
        };
        for _ in 0..=REDIRECTS_MAX {
            if !origin.tls {
                return Err("it redirects to an address without TLS".to_owned());
            }
            let response = answer(&mut client, &origin, &path)?;
            if response.status == 200 {
                return String::from_utf8(response.body).map_err(|_| "it is no text".to_owned());
            }
            let location = response.header("location");
            let Some(location) = location.filter(|_| is_redirect(response.status)) else {
                return Err(format!("the server answered with status {}", response.status));
            };
            (origin, path) =
                next_location(&origin, &path, location).map_err(|error| error.to_string())?;
        }
        Err(format!("it redirects more than {REDIRECTS_MAX} times"))
    }
}

fn is_redirect(status: u16) -> bool {
    redirected_method(status, "GET").is_some()
}

/// One request to its end.
fn answer(
    client: &mut Client,
    origin: &Origin,
    path: &str,
) -> Result<sojourn_http::Response, String> {
    let mut bytes = Vec::new();
    let headers = [("User-Agent", "sojourn"), ("Accept", "*/*")];
    write_request("GET", path, &origin_host_header(origin), &headers, &[], &mut bytes)
        .map_err(|error| error.to_string())?;
    let origin = client.origin(origin);
    let exchange = Exchange {
        token: 0,
        origin,
        bytes: &bytes,
        head_only: false,
        timeout_ns: TIMEOUT_NS,
        body: BodyPolicy::Keep { bytes_max: BYTES_MAX },
    };
    client.send(sojourn_clock::now_ns(), exchange);
    let mut completions = Vec::new();
    while completions.is_empty() {
        let until_ns = sojourn_clock::now_ns() + TIMEOUT_NS;
        client.wait_until(until_ns, &mut completions).map_err(|error| error.to_string())?;
    }
    let completion = completions.pop().ok_or("there is no answer")?;
    completion.outcome.map_err(|failure| failure.to_string())
}

/// Writes the file so that nobody ever reads a part of it.
fn keep(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = file.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, file)
}

impl Fetch for RemoteModules {
    fn fetch(&self, url: &str) -> Result<String, String> {
        let url = url.split('#').next().unwrap_or(url);
        let file = self.file(url);
        if let Some(known) = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) {
            return Ok(known);
        }
        let problem = match self.get(url) {
            Ok(text) => {
                // A module that can't be kept is fetched again the next time.
                file.map(|file| keep(&file, &text).ok());
                return Ok(text);
            }
            Err(problem) => problem,
        };
        let mut told = problem;
        if let Some(reason) = why_not_bundled(url) {
            told = format!("it is not built in ({reason}), and fetching it failed: {told}");
        }
        if let Some(file) = file {
            let file = file.display();
            told = format!("{told}; without a network it is read from {file}, if it is there");
        }
        Err(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(folder: &Path) -> RemoteModules {
        RemoteModules { folder: Some(folder.to_owned()), tls: TlsOptions::default() }
    }

    #[test]
    fn what_is_kept_needs_no_network() {
        let folder = tempfile::tempdir().expect("a folder");
        let modules = modules(folder.path());
        // Nothing listens on this port.
        let url = "https://127.0.0.1:1/a.js";
        let problem = modules.fetch(url).expect_err("no network");
        let file = modules.file(url).expect("a file");
        assert!(problem.contains(file.to_str().expect("text")), "{problem}");
        keep(&file, "export default 1").expect("kept");
        assert_eq!(modules.fetch("https://127.0.0.1:1/a.js#x").as_deref(), Ok("export default 1"));
        let aws = modules.fetch("https://127.0.0.1:1/aws.js").expect_err("not there");
        assert!(!aws.contains("not built in"), "{aws}");
    }
}
