//! `LoadJKS`: what a Java key store has, as files in PEM.
//!
//! As the extension does it: into the folder that the test runs in, for its user's eyes only, and
//! their names are what a script gets. A file is there as a whole or not at all, since others may
//! read it at the same time.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::rc::Rc;

use serde::Deserialize;
use sojourn_keystore::{KeyStore, Problem, pem};
use sojourn_script::js::{self, Ctx, Object, Value};

use super::config;
use super::go_error::throw;
use super::shared::Kafka;
use crate::user::User;

/// Longest store.
const BYTES_MAX: u64 = 16 << 20;

/// What is wanted of which store. The certificates are those that the store has with the key:
/// `clientCertAlias` has no effect, as in the extension.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    path: String,
    password: String,
    client_key_alias: Option<String>,
    client_key_password: Option<String>,
    server_ca_alias: Option<String>,
}

/// The names of the files.
#[derive(Debug, Default, PartialEq, Eq)]
struct Files {
    certificates: Option<Vec<String>>,
    key: Option<String>,
    ca: Option<String>,
}

pub(super) fn load<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    given: &Value<'js>,
) -> js::Result<Object<'js>> {
    let wanted: Wanted = config::read(ctx, "LoadJKS", given)?;
    let files = written(&user.host.settings.kafka, &wanted);
    let files = files.map_err(|problem| throw(ctx, &format!("LoadJKS: {problem}")))?;
    let object = Object::new(ctx.clone())?;
    if let Some(certificates) = files.certificates {
        object.set("clientCertsPem", certificates)?;
    }
    for (name, file) in [("clientKeyPem", files.key), ("serverCaPem", files.ca)] {
        if let Some(file) = file {
            object.set(name, file)?;
        }
    }
    Ok(object)
}

/// Reads the store, and writes the files.
fn written(kafka: &Kafka, wanted: &Wanted) -> Result<Files, String> {
    let path = &wanted.path;
    let alias = |alias: &Option<String>| alias.clone().filter(|alias| !alias.is_empty());
    let (key, ca) = (alias(&wanted.client_key_alias), alias(&wanted.server_ca_alias));
    if path.is_empty() {
        return Err("it needs the path of a key store".to_owned());
    }
    if key.is_none() && ca.is_none() {
        return Err(format!("{path}: name a clientKeyAlias, a serverCaAlias or both"));
    }
    let wrong = |problem: Problem| format!("{path}: {problem}{}", advice(path, &problem));
    let bytes = bytes(path).map_err(|error| format!("{path}: {error}"))?;
    let store = KeyStore::read(&bytes, &wanted.password).map_err(wrong)?;
    // All of it is looked up before anything is written.
    let ca = ca.map(|alias| store.trusted(&alias).map_err(wrong)).transpose()?;
    let password = alias(&wanted.client_key_password);
    let password = password.as_ref().unwrap_or(&wanted.password);
    let key = key.map(|alias| store.key(&alias, password).map_err(wrong)).transpose()?;
    let mut files = Files::default();
    if let Some(key) = key {
        let file = |(at, der): (usize, &Vec<u8>)| {
            put(kafka, &format!("client-cert-{at}"), &pem("CERTIFICATE", der))
        };
        let certificates: Result<_, String> = key.chain.iter().enumerate().map(file).collect();
        files.certificates = Some(certificates?);
        files.key = Some(put(kafka, "client-key", &pem("PRIVATE KEY", &key.key))?);
    }
    if let Some(der) = ca {
        files.ca = Some(put(kafka, "server-ca", &pem("CERTIFICATE", der))?);
    }
    Ok(files)
}

fn bytes(path: &str) -> io::Result<Vec<u8>> {
    let length = fs::metadata(path)?.len();
    if length > BYTES_MAX {
        return Err(io::Error::other(format!("{length} bytes are no key store's")));
    }
    fs::read(path)
}

/// What turns a store of another type into one that can be read.
fn advice(path: &str, problem: &Problem) -> String {
    match problem {
        Problem::Pkcs12 | Problem::Jceks => format!(
            "; `keytool -importkeystore -srckeystore {path} -destkeystore {path}.jks \
             -deststoretype JKS` makes one of it"
        ),
        _ => String::new(),
    }
}

/// The name of a file that has this text, which is written if it is not there yet.
fn put(kafka: &Kafka, stem: &str, text: &str) -> Result<String, String> {
    kafka.pem_file(stem, text, |name| {
        let beside = format!(".{name}.{}", std::process::id());
        let written = write(&beside, text).and_then(|()| fs::rename(&beside, name));
        written.map_err(|error| format!("{name} can't be written: {error}"))
    })
}

fn write(path: &str, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
