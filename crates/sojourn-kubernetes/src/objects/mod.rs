//! A run's objects, as plain JSON values.

mod access;
mod jobs;
mod network;
mod pod;
mod secret;

use serde_json::{Map, Value, json};

pub(crate) use access::RULES as ACCESS;
pub use access::{Subject, role};
pub(crate) use jobs::{FILES_FILE, KEEPER, PRINTED_FILE, RECORDS_FILE, RESULTS, RUN_FILE};

use crate::{ClusterError, Coordinating, Wanted};

/// What an object is for, among those of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Coordinator,
    Generator,
}

impl Part {
    /// Its word, in labels and as the container's name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::Generator => "generator",
        }
    }
}

/// The label that has a run's name, on each of its objects and pods.
pub(crate) const RUN_LABEL: &str = "app.kubernetes.io/instance";
/// The label that tells the coordinator's objects from the generators'.
pub(crate) const PART_LABEL: &str = "app.kubernetes.io/component";
/// The label that tells a run's objects and pods from those of another one of its name.
pub(crate) const ID_LABEL: &str = "sojourn/run-id";
/// The label of a run whose results are no run file, and what it says then.
pub(crate) const RESULTS_LABEL: (&str, &str) = ("sojourn/results", "files");

/// All objects of a run: the coordinator's Job first, which owns the others.
///
/// `owner`: the uid that the cluster gave that Job; `None`: the objects are not owned, and are
/// told from others by their names and labels.
///
/// # Errors
/// See [`Wanted::check`].
pub fn manifests(wanted: &Wanted, owner: Option<&str>) -> Result<Vec<Value>, ClusterError> {
    wanted.check()?;
    let mut objects = vec![jobs::coordinator(wanted)];
    let mut owned = vec![network::service(wanted), secret::secret(wanted)];
    if wanted.has_network_policies {
        owned.extend(network::policies(wanted));
    }
    owned.push(jobs::generators(wanted));
    if let Some(uid) = owner {
        owned.iter_mut().for_each(|object| own(object, wanted, uid));
    }
    objects.append(&mut owned);
    Ok(objects)
}

/// Makes an object vanish with the coordinator's Job. It does not hold up that one's deletion
/// (`blockOwnerDeletion`), which some clusters allow to few.
fn own(object: &mut Value, wanted: &Wanted, uid: &str) {
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": wanted.name.as_str(),
        "uid": uid,
    }]);
}

/// An object's metadata.
fn metadata(wanted: &Wanted, name: &str, part: Part) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    if let Some(namespace) = &wanted.namespace {
        metadata.insert("namespace".to_owned(), namespace.as_str().into());
    }
    metadata.insert("labels".to_owned(), labels(wanted, part));
    Value::Object(metadata)
}

/// The labels of an object and its pods.
fn labels(wanted: &Wanted, part: Part) -> Value {
    let mut labels = json!({
        "app.kubernetes.io/name": "sojourn",
        RUN_LABEL: wanted.name.as_str(),
        PART_LABEL: part.word(),
        ID_LABEL: wanted.id,
    });
    if wanted.command == Coordinating::Scripts {
        let (name, value) = RESULTS_LABEL;
        labels[name] = value.into();
    }
    labels
}

/// Labels by which a part's pods are found, and no pod of an earlier run of the name.
fn selector(wanted: &Wanted, part: Part) -> Value {
    json!({
        RUN_LABEL: wanted.name.as_str(),
        PART_LABEL: part.word(),
        ID_LABEL: wanted.id,
    })
}

/// A map without the entries that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.collect())
        }
        other => other,
    }
}
