//! A run in a cluster: made, watched, fetched, stopped and deleted.

mod follow;
mod kubectl;
mod log;
mod pods;
mod preflight;
mod results;
mod unbegun;

use serde_json::Value;

pub use follow::{Ended, Events, Follow};
pub use kubectl::Kubectl;
pub use log::LogLines;
pub use pods::{PodState, Seen, Standing};
pub use preflight::Denied;
pub use unbegun::Unbegun;

use crate::objects::{ID_LABEL, PART_LABEL, Part, RESULTS_LABEL, RUN_LABEL};
use crate::{ClusterError, RunName, Wanted, manifests};
use kubectl::list;

/// What a run consists of.
const OWNED: &str = "job,service,secret,networkpolicy";

/// A run's generators, as their Job says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generators {
    /// How many.
    pub count: u32,
    /// Whether they, and all else, go with the coordinator's Job.
    pub is_owned: bool,
    /// Whether the run's results are what its coordinator prints and writes, and no run file.
    pub has_files: bool,
}

/// A cluster's namespace, through `kubectl`.
#[derive(Clone, Debug)]
pub struct Cluster {
    kubectl: Kubectl,
}

impl Cluster {
    /// The one that `kubectl` reaches.
    pub fn new(kubectl: Kubectl) -> Self {
        Self { kubectl }
    }

    /// How it is reached.
    pub fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Creates a run's objects, all or none.
    ///
    /// # Errors
    /// One was refused; what had been created is deleted again.
    pub fn create(&self, wanted: &Wanted) -> Result<(), ClusterError> {
        let objects = manifests(wanted, None)?;
        let words = ["create", "-f", "-", "-o", "json"];
        let created = self.kubectl.documents(&words, Some(&list(&objects[..1])));
        // Without an answer nobody knows what was done.
        let created = created.inspect_err(|_| self.delete_if_it_is(wanted))?;
        let uid = created.first().and_then(|job| job["metadata"]["uid"].as_str());
        let uid = uid.ok_or_else(|| self.kubectl.refused(&words, "the Job has no uid"))?;
        let owned = manifests(wanted, Some(uid))?;
        let words = ["create", "-f", "-", "-o", "name"];
        self.kubectl.ask(&words, Some(&list(&owned[1..]))).map(drop).inspect_err(|_| {
            // Said is why it failed; what is left goes with its time to live.
            let _ignored = self.delete(&wanted.name);
        })
    }

    /// Deletes the Job of this name if it is that of this very run, and not of an earlier one.
    fn delete_if_it_is(&self, wanted: &Wanted) {
        let words = ["get", "job", wanted.name.as_str(), "--ignore-not-found", "-o", "json"];
        let found = self.kubectl.documents(&words, None).unwrap_or_default();
        if found.iter().any(|job| job["metadata"]["labels"][ID_LABEL] == wanted.id.as_str()) {
            // Said is why it was not created; what is left goes with its time to live.
            let _ignored = self.delete(&wanted.name);
        }
    }

    /// Deletes a run's coordinator's Job, and with it everything that it owns; false where there
    /// is none.
    ///
    /// # Errors
    /// The cluster refused.
    pub fn delete(&self, name: &RunName) -> Result<bool, ClusterError> {
        let words = ["delete", "job", name.as_str(), "--cascade=background", "--wait=false"];
        let said = self.kubectl.run(&words, None)?;
        match said.succeeded {
            true => Ok(true),
            false if said.complaint.contains("(NotFound)") => Ok(false),
            false => Err(self.kubectl.refused(&words, &said.complaint)),
        }
    }

    /// Deletes the objects of a run that was created of printed manifests, so that nothing owns
    /// them: by their label.
    ///
    /// # Errors
    /// The cluster refused, which those who may only make runs by [`Cluster::create`] will see.
    pub fn delete_unowned(&self, name: &RunName) -> Result<(), ClusterError> {
        let label = format!("{RUN_LABEL}={name}");
        let words = ["delete", OWNED, "-l", label.as_str(), "--wait=false"];
        self.kubectl.ask(&words, None).map(drop)
    }

    /// The words of a `kubectl` that does the same.
    pub fn delete_unowned_words(&self, name: &RunName) -> String {
        format!("{} delete {OWNED} -l {RUN_LABEL}={name}", self.kubectl.shown())
    }

    /// The runs that there are: the coordinators' Jobs.
    ///
    /// # Errors
    /// The cluster refused.
    pub fn runs(&self) -> Result<Vec<Value>, ClusterError> {
        let labels =
            format!("app.kubernetes.io/name=sojourn,{PART_LABEL}={}", Part::Coordinator.word());
        let found = self.kubectl.documents(&["get", "jobs", "-l", &labels, "-o", "json"], None)?;
        let items = found.into_iter().next().and_then(|mut list| match list["items"].take() {
            Value::Array(items) => Some(items),
            _ => None,
        });
        Ok(items.unwrap_or_default())
    }

    /// What a run's generators are; `None` where there is no such run.
    ///
    /// # Errors
    /// The cluster refused.
    pub fn generators(&self, name: &RunName) -> Result<Option<Generators>, ClusterError> {
        let job = name.generators();
        let words = ["get", "job", job.as_str(), "--ignore-not-found", "-o", "json"];
        let found = self.kubectl.documents(&words, None)?;
        Ok(found.first().map(|job| Generators {
            count: job["spec"]["completions"]
                .as_u64()
                .and_then(|it| it.try_into().ok())
                .unwrap_or(0),
            is_owned: job["metadata"]["ownerReferences"][0]["name"] == name.as_str(),
            has_files: job["metadata"]["labels"][RESULTS_LABEL.0] == RESULTS_LABEL.1,
        }))
    }

    /// The run's pods, as they are now.
    ///
    /// # Errors
    /// The cluster can't be asked.
    pub fn look(&self, name: &RunName) -> Result<Seen, ClusterError> {
        let labels = format!("{RUN_LABEL}={name}");
        let words = ["get", "jobs,pods", "-l", &labels, "-o", "json"];
        let found = self.kubectl.documents(&words, None)?;
        let items = found.first().and_then(|list| list["items"].as_array());
        Ok(Seen::of(items.map_or(&[], Vec::as_slice)))
    }

    /// The last words of the Job controller on why it makes no pods for a Job of the run: a quota,
    /// a policy.
    ///
    /// # Errors
    /// The cluster can't be asked.
    pub fn refusal(&self, job: &str) -> Result<Option<String>, ClusterError> {
        let of = format!("involvedObject.kind=Job,involvedObject.name={job},reason=FailedCreate");
        let words = ["get", "events", "--field-selector", &of, "-o", "json"];
        let found = self.kubectl.documents(&words, None)?;
        let events = found.first().and_then(|list| list["items"].as_array());
        let last = events.and_then(|events| events.last());
        Ok(last.and_then(|event| event["message"].as_str()).map(str::to_owned))
    }

    /// Tells the coordinator to end gracefully, as Ctrl-C does.
    ///
    /// # Errors
    /// There is no coordinator, or the cluster refused.
    pub fn stop(&self, name: &RunName) -> Result<(), ClusterError> {
        let pod = self.coordinator_pod(name)?;
        let container = Part::Coordinator.word();
        let words = ["exec", &pod, "-c", container, "--", "sojourn", "fleet", "interrupt"];
        self.exec(&words).map(drop)
    }

    /// The pod of the run's coordinator.
    fn coordinator_pod(&self, name: &RunName) -> Result<String, ClusterError> {
        let seen = self.look(name)?;
        seen.coordinator.map(|pod| pod.name).ok_or_else(|| {
            ClusterError::Kubectl(format!(
                "run {name} has no coordinator in this namespace: it has ended and was deleted, or \
                 never was"
            ))
        })
    }

    /// Runs words that end with a command in a pod: flags of `kubectl` can't stand behind those.
    fn exec(&self, words: &[&str]) -> Result<Vec<u8>, ClusterError> {
        let mut out = Vec::new();
        self.kubectl.stream(words, &mut out)?;
        Ok(out)
    }
}
