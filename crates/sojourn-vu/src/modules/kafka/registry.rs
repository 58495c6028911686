//! `SchemaRegistry`: schemas asked for and registered, and the serdes that use them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sojourn_avro::Registry;
use sojourn_plan::{Secret, Server};
use sojourn_script::js::{self, Ctx, Object, Value};
use url::Url;

use super::super::function;
use super::access::Tls;
use super::config;
use super::go_error::throw;
use super::serdes::Container;
use super::shared::{Kafka, lock};
use super::waiting;
use crate::user::User;

/// What a subject's name may not have as it is in a path (RFC 3986, section 2.3).
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Most schemas that one of Protobuf may import, with all that they import.
const IMPORTS_MAX: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RegistryConfig {
    url: Option<String>,
    basic_auth: Option<BasicAuth>,
    tls: Option<Tls>,
    enable_caching: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BasicAuth {
    username: String,
    password: String,
}

/// A schema, as scripts hand it over and get it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Schema {
    enable_caching: bool,
    pub(super) id: u32,
    pub(super) schema: String,
    schema_type: Option<String>,
    version: u32,
    references: Vec<Json>,
    subject: String,
    /// Of Protobuf: the message that is meant, the first without a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_name: Option<String>,
    /// Of Protobuf: the texts of what is imported, by the names of the imports.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) dependencies: BTreeMap<String, String>,
}

/// What a subject's name is made of.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SubjectName {
    schema: String,
    topic: String,
    element: String,
    subject_name_strategy: String,
    /// Of a schema that is no JSON: the full name of its message.
    message_name: Option<String>,
}

struct Own {
    user: Rc<User>,
    /// `None` where no registry is configured: the serdes work without.
    server: Option<Server>,
    enable_caching: bool,
}

pub(super) fn make<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    given: Value<'js>,
) -> js::Result<Object<'js>> {
    let config: RegistryConfig = config::read(ctx, "SchemaRegistry", &given)?;
    let enable_caching = config.enable_caching == Some(true);
    let wrong = |problem: String| throw(ctx, &format!("SchemaRegistry: {problem}"));
    let server = config.server().map_err(wrong)?;
    let own = Rc::new(Own { user: Rc::clone(user), server, enable_caching });
    let object = Object::new(ctx.clone())?;
    let this = Rc::clone(&own);
    function(&object, "getSchema", move |ctx: Ctx<'js>, given: Value<'js>| {
        let wanted: Schema = config::read(&ctx, "getSchema", &given)?;
        this.ask(&ctx, "get schema from schema registry", wanted, get)
    })?;
    let this = Rc::clone(&own);
    function(&object, "createSchema", move |ctx: Ctx<'js>, given: Value<'js>| {
        let wanted: Schema = config::read(&ctx, "createSchema", &given)?;
        this.ask(&ctx, "create schema", wanted, create)
    })?;
    function(&object, "getSubjectName", |ctx: Ctx<'js>, given: Value<'js>| {
        let asked: SubjectName = config::read(&ctx, "getSubjectName", &given)?;
        asked.name().map_err(|problem| throw(&ctx, &problem))
    })?;
    let this = Rc::clone(&own);
    function(&object, "serialize", move |ctx: Ctx<'js>, given: Object<'js>| {
        Container::read(&ctx, &given)?.serialize(&ctx, this.kafka())
    })?;
    function(&object, "deserialize", move |ctx: Ctx<'js>, given: Object<'js>| {
        Container::read(&ctx, &given)?.deserialize(&ctx, own.kafka())
    })?;
    Ok(object)
}

impl Own {
    fn kafka(&self) -> &Kafka {
        &self.user.host.settings.kafka
    }

    /// Asks the registry for something, or remembers what it said.
    fn ask<'js>(
        &self,
        ctx: &Ctx<'js>,
        what: &str,
        wanted: Schema,
        ask: fn(&mut Registry, &Schema) -> Result<Answer, String>,
    ) -> js::Result<Value<'js>> {
        let failed =
            |problem: String| throw(ctx, &format!("Failed to {what}., OriginalError: {problem}"));
        let server = self.server.as_ref();
        let server = server.ok_or_else(|| failed("no URL of a registry is configured".into()))?;
        let question = format!("{} {what} {wanted:?}", server.address());
        let is_kept = self.enable_caching || wanted.enable_caching;
        if let Some(known) = self.kafka().remembered(&question).filter(|_| is_kept) {
            return ctx.json_parse(known.to_string());
        }
        let registry: Arc<Mutex<Registry>> = self.kafka().registry(server).map_err(failed)?;
        let asked = wanted.clone();
        let work = move || ask(&mut lock(&registry), &asked);
        let answer = waiting::blocking(ctx, &self.user, work)?.map_err(failed)?;
        if let Some(parsed) = answer.parsed {
            self.kafka().keep_schema(&answer.schema.schema, parsed).map_err(failed)?;
        }
        let known = json!(answer.schema);
        if is_kept {
            self.kafka().remember(question, &known);
        }
        ctx.json_parse(known.to_string())
    }
}

/// What a registry has said.
struct Answer {
    schema: Schema,
    /// With the schemas that it refers to, if it refers to any.
    parsed: Option<sojourn_avro::Schema>,
}

/// A version of a subject, the latest without one.
fn get(registry: &mut Registry, wanted: &Schema) -> Result<Answer, String> {
    let version = match wanted.version {
        0 => "latest".to_owned(),
        version => version.to_string(),
    };
    let path = format!("{}/versions/{version}", subject(wanted)?);
    let said = registry.fetch(&path).map_err(|miss| miss.to_string())?;
    answer(registry, wanted, said)
}

/// Registers a schema; one that is there already stays.
fn create(registry: &mut Registry, wanted: &Schema) -> Result<Answer, String> {
    let subject = subject(wanted)?;
    let mut body = json!({ "schema": wanted.schema, "references": wanted.references });
    if let Some(kind) = wanted.schema_type.as_ref().filter(|kind| !kind.is_empty()) {
        body["schemaType"] = json!(kind);
    }
    let path = format!("{subject}/versions");
    let mut said = registry.send(&path, &body).map_err(|miss| miss.to_string())?;
    said["schema"] = json!(wanted.schema);
    said["references"] = json!(wanted.references);
    // Its version is told when it is looked up.
    if let Ok(known) = registry.send(&subject, &body) {
        said["version"] = known["version"].clone();
    }
    answer(registry, wanted, said)
}

fn subject(wanted: &Schema) -> Result<String, String> {
    match wanted.subject.is_empty() {
        true => Err("a schema needs a subject".to_owned()),
        false => Ok(format!("/subjects/{}", utf8_percent_encode(&wanted.subject, IN_PATH))),
    }
}

fn answer(registry: &mut Registry, wanted: &Schema, said: Json) -> Result<Answer, String> {
    let number = |name: &str| said[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let id = number("id").ok_or("the registry has told no id")?;
    let text = said["schema"].as_str().ok_or("the registry has told no schema")?;
    let references = said["references"].as_array().cloned().unwrap_or_default();
    let kind = said["schemaType"].as_str().map(str::to_owned);
    let kind = kind.or_else(|| wanted.schema_type.clone()).unwrap_or_else(|| "AVRO".to_owned());
    let parsed = match references.is_empty() || kind != "AVRO" {
        true => None,
        false => Some(registry.resolve(&said).map_err(|miss| miss.to_string())?),
    };
    let mut dependencies = wanted.dependencies.clone();
    if kind == "PROTOBUF" {
        fetch_imports(registry, &references, &mut dependencies)?;
    }
    let schema = Schema {
        enable_caching: wanted.enable_caching,
        id,
        schema: text.to_owned(),
        schema_type: Some(kind),
        version: number("version").unwrap_or(wanted.version),
        references,
        subject: wanted.subject.clone(),
        message_name: wanted.message_name.clone(),
        dependencies,
    };
    Ok(Answer { schema, parsed })
}

/// The texts that these references stand for, and those that they refer to in turn.
fn fetch_imports(
    registry: &mut Registry,
    references: &[Json],
    known: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    let mut open = references.to_vec();
    while let Some(reference) = open.pop() {
        let name = reference["name"].as_str().ok_or("a reference has no name")?.to_owned();
        if known.contains_key(&name) {
            continue;
        }
        if known.len() >= IMPORTS_MAX {
            return Err(format!("the schema has more than {IMPORTS_MAX} references"));
        }
        let subject = reference["subject"].as_str().ok_or("a reference has no subject")?;
        let subject = utf8_percent_encode(subject, IN_PATH);
        let version = reference["version"].as_i64().unwrap_or(-1);
        let version = if version > 0 { version.to_string() } else { "latest".to_owned() };
        let said = registry.fetch(&format!("/subjects/{subject}/versions/{version}"));
        let said = said.map_err(|miss| format!("the reference \"{name}\": {miss}"))?;
        let text = said["schema"].as_str().ok_or("the registry has told no schema")?;
        known.insert(name, text.to_owned());
        open.extend(said["references"].as_array().cloned().unwrap_or_default());
    }
    Ok(())
}

impl SubjectName {
    fn name(&self) -> Result<String, String> {
        match self.subject_name_strategy.as_str() {
            "TopicNameStrategy" | "" => {
                let element = self.element.to_lowercase();
                match element.as_str() {
                    "key" | "value" => Ok(format!("{}-{element}", self.topic)),
                    _ => Err(format!("element is \"{}\": KEY or VALUE", self.element)),
                }
            }
            "RecordNameStrategy" => self.record(),
            "TopicRecordNameStrategy" => Ok(format!("{}-{}", self.topic, self.record()?)),
            other => Err(format!("Unknown subject name strategy: {other}")),
        }
    }

    /// The full name of the schema's record.
    fn record(&self) -> Result<String, String> {
        if let Some(name) = self.message_name.as_ref().filter(|name| !name.is_empty()) {
            return Ok(name.clone());
        }
        let schema: Json = serde_json::from_str(&self.schema)
            .map_err(|error| format!("the schema is not JSON, and no messageName says: {error}"))?;
        let name = schema["name"].as_str().ok_or("the schema has no name")?;
        Ok(match schema["namespace"].as_str().filter(|space| !space.is_empty()) {
            Some(space) if !name.contains('.') => format!("{space}.{name}"),
            _ => name.to_owned(),
        })
    }
}

impl RegistryConfig {
    fn server(&self) -> Result<Option<Server>, String> {
        let Some(text) = self.url.as_deref().filter(|url| !url.is_empty()) else {
            return Ok(None);
        };
        let tls = self.tls.as_ref().filter(|tls| tls.enable_tls == Some(true));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let whole = match text.contains("://") {
            true => text.to_owned(),
            false => format!("{scheme}://{text}"),
        };
        // The text may hold a password.
        let url = Url::parse(&whole).map_err(|error| format!("its URL is none: {error}"))?;
        let (host, port) = url.host_str().zip(url.port_or_known_default()).ok_or("no host")?;
        let mut server = Server {
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            tls: url.scheme() == "https",
            path: url.path().trim_start_matches('/').to_owned(),
            ..Server::default()
        };
        if !url.username().is_empty() {
            server.user = Some(url.username().to_owned());
            server.password = url.password().map(Secret::new);
        }
        if let Some(auth) = self.basic_auth.as_ref().filter(|auth| !auth.username.is_empty()) {
            server.user = Some(auth.username.clone());
            server.password = Some(Secret::new(auth.password.clone()));
        }
        if let Some(tls) = tls {
            server.trust.insecure = tls.insecure_skip_tls_verify == Some(true);
            server.trust.ca = file(tls.server_ca_pem.as_deref())?;
            server.trust.cert = file(tls.client_cert_pem.as_deref())?;
            server.trust.key = file(tls.client_key_pem.as_deref())?;
        }
        Ok(Some(server))
    }
}

fn file(given: Option<&str>) -> Result<Option<PathBuf>, String> {
    match given.filter(|given| !given.is_empty()) {
        Some(text) if text.contains("-----BEGIN") => {
            Err("tls: certificates of a registry are named by their files".to_owned())
        }
        given => Ok(given.map(PathBuf::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_named_by_strategy() {
        let schema = r#"{"type":"record","name":"Order","namespace":"shop","fields":[]}"#;
        let name = |strategy: &str, element: &str| {
            let (subject_name_strategy, element) = (strategy.to_owned(), element.to_owned());
            let (schema, topic) = (schema.to_owned(), "orders".to_owned());
            let message_name = None;
            SubjectName { schema, topic, element, subject_name_strategy, message_name }.name()
        };
        assert_eq!(name("TopicNameStrategy", "KEY").unwrap(), "orders-key");
        assert_eq!(name("TopicNameStrategy", "VALUE").unwrap(), "orders-value");
        assert_eq!(name("RecordNameStrategy", "VALUE").unwrap(), "shop.Order");
        assert_eq!(name("TopicRecordNameStrategy", "VALUE").unwrap(), "orders-shop.Order");
        assert!(name("Other", "KEY").unwrap_err().contains("Other"));
        assert!(name("", "x").is_err());
    }

    #[test]
    fn addresses_of_registries() {
        let server = |json: &str| serde_json::from_str::<RegistryConfig>(json).unwrap().server();
        assert_eq!(server("{}"), Ok(None));
        let plain = server(r#"{"url":"localhost:8081"}"#).unwrap().unwrap();
        assert_eq!((plain.host.as_str(), plain.port, plain.tls), ("localhost", 8081, false));
        let json = r#"{"url":"https://registry/api/","basicAuth":{"username":"u","password":"p"}}"#;
        let whole = server(json).unwrap().unwrap();
        assert_eq!((whole.port, whole.tls, whole.path.as_str()), (443, true, "api/"));
        assert_eq!(whole.user.as_deref(), Some("u"));
        assert!(server(r#"{"url":"http://"}"#).is_err());
    }
}
