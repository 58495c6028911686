//! What is looked at before anything is created: the server, access, and whether it would take the
//! objects.

use serde_json::{Value, json};

use super::Cluster;
use super::kubectl::list;
use crate::objects::ACCESS;
use crate::{ClusterError, Wanted, manifests};

/// The oldest server, minor version of 1: Indexed Jobs whose pods are not replaced.
const MINOR_MIN: u32 = 29;

/// Something that may not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// `create`.
    pub verb: String,
    /// `jobs`, `pods/exec`.
    pub resource: String,
    /// The cluster's word on it.
    pub reason: Option<String>,
}

impl Cluster {
    /// The server's version, `1.34.3`.
    ///
    /// # Errors
    /// It does not answer, or is too old.
    pub fn version(&self) -> Result<String, ClusterError> {
        let words = ["version", "-o", "json"];
        let found = self.kubectl().documents(&words, None)?;
        let server = found.first().map_or(&Value::Null, |all| &all["serverVersion"]);
        let number = |name: &str| {
            let text = server[name].as_str().unwrap_or_default();
            // Some providers write `29+`.
            text.trim_end_matches('+').parse::<u32>().unwrap_or(0)
        };
        let version = server["gitVersion"].as_str().unwrap_or("of no version").to_owned();
        if (number("major"), number("minor")) < (1, MINOR_MIN) {
            return Err(ClusterError::Kubectl(format!(
                "the cluster is Kubernetes {version}: its Jobs would replace lost generators in \
                 mid-run; 1.{MINOR_MIN} or later is needed"
            )));
        }
        Ok(version.trim_start_matches('v').to_owned())
    }

    /// The namespace that objects go to which name none.
    ///
    /// # Errors
    /// `kubectl` can't say.
    pub fn namespace(&self) -> Result<String, ClusterError> {
        let probe = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x" } });
        let words = ["create", "--dry-run=client", "-f", "-", "-o", "json"];
        let found = self.kubectl().documents(&words, Some(&list(&[probe])))?;
        let namespace = found.first().and_then(|probe| probe["metadata"]["namespace"].as_str());
        Ok(namespace.unwrap_or("default").to_owned())
    }

    /// What of all that a run needs its user may not do.
    ///
    /// # Errors
    /// The cluster can't be asked.
    pub fn denied(&self, namespace: &str, wanted: &Wanted) -> Result<Vec<Denied>, ClusterError> {
        let needed: Vec<(&str, &str, &str)> = ACCESS
            .iter()
            .filter(|(_, resource, _)| {
                wanted.has_network_policies || *resource != "networkpolicies"
            })
            .flat_map(|(group, resource, verbs)| {
                verbs.iter().map(move |verb| (*group, *resource, *verb))
            })
            .filter(|(_, resource, verb)| !(*resource == "pods/exec" && *verb == "get"))
            .collect();
        let answers = self.review(namespace, &needed)?;
        let denied = needed.iter().zip(answers).filter(|(_, (is_allowed, _))| !is_allowed);
        let denied = denied.map(|((_, resource, verb), (_, reason))| Denied {
            verb: (*verb).to_owned(),
            resource: (*resource).to_owned(),
            reason,
        });
        Ok(denied.collect())
    }

    /// Asks for each (group, resource, verb) whether it is allowed: all in one call.
    fn review(
        &self,
        namespace: &str,
        needed: &[(&str, &str, &str)],
    ) -> Result<Vec<(bool, Option<String>)>, ClusterError> {
        let reviews: Vec<Value> = needed
            .iter()
            .map(|(group, resource, verb)| {
                let (resource, part) = resource.split_once('/').unwrap_or((*resource, ""));
                json!({
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": { "resourceAttributes": {
                        "namespace": namespace,
                        "group": group,
                        "resource": resource,
                        "subresource": part,
                        "verb": verb,
                    } },
                })
            })
            .collect();
        let words = ["create", "-f", "-", "-o", "json"];
        let answers = self.kubectl().documents(&words, Some(&list(&reviews)))?;
        // A list comes back as one, or object by object.
        let items = answers.first().and_then(|first| first["items"].as_array());
        let answers = items.unwrap_or(&answers);
        if answers.len() != needed.len() {
            return Err(self.kubectl().refused(&words, "access reviews were not all answered"));
        }
        let answers = answers.iter().map(|answer| {
            let status = &answer["status"];
            let reason = status["reason"].as_str().filter(|it| !it.is_empty());
            (status["allowed"].as_bool() == Some(true), reason.map(str::to_owned))
        });
        Ok(answers.collect())
    }

    /// Has the server try to create everything, for nothing; its warnings.
    ///
    /// # Errors
    /// It would refuse an object: which, and why.
    pub fn try_create(
        &self,
        namespace: &str,
        wanted: &Wanted,
    ) -> Result<Vec<String>, ClusterError> {
        let mut objects = manifests(wanted, None)?;
        // Pods that a namespace forbids show in the Job's events only, unless one is tried itself;
        // who may not create pods can't try.
        if self.review(namespace, &[("", "pods", "create")])?.iter().all(|(it, _)| *it) {
            let pods: Vec<Value> = objects.iter().filter_map(pod_of).collect();
            objects.extend(pods);
        }
        let words = ["create", "--dry-run=server", "-f", "-", "-o", "name"];
        let said = self.kubectl().ask(&words, Some(&list(&objects)))?;
        let warnings = said.complaint.lines().filter_map(|line| line.strip_prefix("Warning: "));
        let mut warnings: Vec<String> = warnings.map(str::to_owned).collect();
        warnings.dedup();
        Ok(warnings)
    }
}

/// The pod that a Job would make.
fn pod_of(job: &Value) -> Option<Value> {
    let template = job["spec"].get("template")?;
    let mut pod = json!({ "apiVersion": "v1", "kind": "Pod" });
    pod["metadata"] = template["metadata"].clone();
    pod["metadata"]["name"] = job["metadata"]["name"].clone();
    pod["spec"] = template["spec"].clone();
    Some(pod)
}
