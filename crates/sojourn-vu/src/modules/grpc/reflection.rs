//! What a server says about its services (grpc.reflection.v1, or v1alpha of older servers).

use std::collections::BTreeMap;
use std::rc::Rc;

use prost_reflect::DescriptorPool;
use sojourn_script::js::{self, Ctx};
use tokio::sync::mpsc::Sender;

use super::call;
use super::client::Connection;
use super::protos;
use super::status_word;
use super::wire::{self, Wire};
use crate::host::OperationId;
use crate::sockets::Event as Any;
use crate::sockets::grpc::{Call, Event, Metadata, Order, Status, code};
use crate::user::{Outcome, User};

/// The protocol's versions, the newer one first.
const VERSIONS: [&str; 2] = ["v1", "v1alpha"];

/// Most files that are asked for.
const FILES_MAX: usize = 4_096;

// Fields of a request.
const FILE_BY_NAME: u8 = 3;
const FILE_WITH_SYMBOL: u8 = 4;
const LIST_SERVICES: u8 = 7;

// Fields of an answer.
const FILES: u64 = 4;
const SERVICES: u64 = 6;
const ERROR: u64 = 7;

/// All that the server describes.
pub(super) fn fetch(
    ctx: &Ctx<'_>,
    user: &Rc<User>,
    connection: &Connection,
    metadata: &Metadata,
) -> js::Result<Result<DescriptorPool, String>> {
    let mut last = Status::default();
    for version in VERSIONS {
        match fetch_with(ctx, user, connection, metadata, version)? {
            Ok(files) => return Ok(pool(user, files)),
            Err(status) => last = status,
        }
        if last.code != code::UNIMPLEMENTED {
            break;
        }
    }
    let (word, message) = (status_word(last.code), last.message);
    Ok(Err(format!("error invoking reflect API: rpc error: code = {word} desc = {message}")))
}

/// One pool for all users of one server.
fn pool(user: &User, files: BTreeMap<String, Vec<u8>>) -> Result<DescriptorPool, String> {
    let files: Vec<_> = files.into_values().collect();
    let key = files.concat();
    user.host.settings.protos.get(key, || protos::of_files(&files))
}

type Files = BTreeMap<String, Vec<u8>>;

fn fetch_with(
    ctx: &Ctx<'_>,
    user: &Rc<User>,
    connection: &Connection,
    metadata: &Metadata,
    version: &str,
) -> js::Result<Result<Files, Status>> {
    let call = Call {
        path: format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"),
        metadata: metadata.clone(),
        timeout: Some(std::time::Duration::from_secs(60)),
        user_agent: call::user_agent(user),
    };
    let begun = call::begin(user, connection, call);
    let (operation, _, orders) = match begun {
        Ok(begun) => begun,
        Err(problem) => return Ok(Err(Status::new(code::INTERNAL, problem))),
    };
    let talk = Talk { ctx, user, operation, orders };
    let files = talk.files();
    user.links.end(operation);
    files
}

/// A stream of questions and answers.
struct Talk<'a, 'js> {
    ctx: &'a Ctx<'js>,
    user: &'a Rc<User>,
    operation: OperationId,
    orders: Sender<Order>,
}

impl Talk<'_, '_> {
    fn files(&self) -> js::Result<Result<Files, Status>> {
        let services = match self.ask(wire::text(LIST_SERVICES, "*"))? {
            Ok(answer) => services(&answer),
            Err(status) => return Ok(Err(status)),
        };
        let mut files = Files::new();
        let mut wanted: Vec<_> =
            services.iter().map(|name| wire::text(FILE_WITH_SYMBOL, name)).collect();
        let mut asked = Vec::new();
        while let Some(question) = wanted.pop() {
            let answer = match self.ask(question)? {
                Ok(answer) => answer,
                Err(status) => return Ok(Err(status)),
            };
            for file in described(&answer) {
                let (name, imports) = names(&file);
                files.insert(name, file);
                for import in imports {
                    if !files.contains_key(&import) && !asked.contains(&import) {
                        wanted.push(wire::text(FILE_BY_NAME, &import));
                        asked.push(import);
                    }
                }
            }
            if files.len() > FILES_MAX {
                let told = format!("the server describes more than {FILES_MAX} files");
                return Ok(Err(Status::new(code::RESOURCE_EXHAUSTED, told)));
            }
        }
        Ok(Ok(files))
    }

    /// One question, one answer.
    fn ask(&self, question: Vec<u8>) -> js::Result<Result<bytes::Bytes, Status>> {
        self.orders.try_send(Order::Message(question)).ok();
        loop {
            let outcome = self.user.wait_or_throw(self.ctx, self.operation)?;
            let Outcome::Socket(arrival) = outcome else { continue };
            match arrival.event {
                Any::Grpc(Event::Message(bytes)) => {
                    return Ok(match refusal(&bytes) {
                        Some(status) => Err(status),
                        None => Ok(bytes),
                    });
                }
                Any::Grpc(Event::Ended(status)) => return Ok(Err(*status)),
                _ => {}
            }
        }
    }
}

/// The parts of an answer in a field.
fn parts(bytes: &[u8], wanted: u64) -> Vec<&[u8]> {
    let part = |(number, value)| match value {
        Wire::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    };
    wire::fields(bytes).into_iter().filter_map(part).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn services(answer: &[u8]) -> Vec<String> {
    let lists = parts(answer, SERVICES);
    let services = lists.iter().flat_map(|list| parts(list, 1));
    let names = services.flat_map(|service| parts(service, 1)).map(text);
    // What describes the others need not be described.
    names.filter(|name| !name.starts_with("grpc.reflection.")).collect()
}

fn described(answer: &[u8]) -> Vec<Vec<u8>> {
    let sets = parts(answer, FILES);
    sets.iter().flat_map(|set| parts(set, 1)).map(<[u8]>::to_vec).collect()
}

/// A file's name and those of the files it imports.
fn names(file: &[u8]) -> (String, Vec<String>) {
    let name = parts(file, 1).first().map(|name| text(name)).unwrap_or_default();
    (name, parts(file, 3).into_iter().map(text).collect())
}

fn refusal(answer: &[u8]) -> Option<Status> {
    let error = *parts(answer, ERROR).first()?;
    let code = wire::fields(error).into_iter().find_map(|field| match field {
        (1, Wire::Varint(code)) => Some(code as u32),
        _ => None,
    });
    let message = parts(error, 2).first().map(|message| text(message)).unwrap_or_default();
    Some(Status::new(code.unwrap_or(code::UNKNOWN), message))
}
