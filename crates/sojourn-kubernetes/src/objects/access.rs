//! Who may make runs in a namespace: the least that `sojourn run --on kubernetes` needs.

use serde_json::{Value, json};

/// The Role's name, and its binding's.
const NAME: &str = "sojourn";

/// What is done to which resources: group, resource, verbs.
pub(crate) const RULES: &[(&str, &str, &[&str])] = &[
    ("batch", "jobs", &["create", "get", "list", "watch", "delete"]),
    // Never read again, and deleted with their owner.
    ("", "secrets", &["create"]),
    ("", "services", &["create"]),
    ("networking.k8s.io", "networkpolicies", &["create"]),
    ("", "pods", &["get", "list", "watch"]),
    ("", "pods/log", &["get"]),
    // To fetch results and to stop: `get` is what WebSockets ask for up to 1.34, `create` later.
    ("", "pods/exec", &["get", "create"]),
    ("", "events", &["list", "watch"]),
];

/// To whom the Role is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user of the cluster.
    User(String),
    /// A group of users.
    Group(String),
    /// A service account of the same namespace, such as a CI runner's.
    ServiceAccount(String),
}

/// A Role that allows to make runs in one namespace, and its bindings.
pub fn role(namespace: Option<&str>, subjects: &[Subject]) -> Vec<Value> {
    let mut metadata = json!({ "name": NAME });
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    metadata["labels"] = json!({ "app.kubernetes.io/name": "sojourn" });
    let rules = RULES.iter().map(|(group, resource, verbs)| {
        json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs })
    });
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": rules.collect::<Vec<_>>(),
    });
    if subjects.is_empty() {
        return vec![role];
    }
    let group = "rbac.authorization.k8s.io";
    let subjects = subjects.iter().map(|subject| match subject {
        Subject::User(name) => json!({ "kind": "User", "apiGroup": group, "name": name }),
        Subject::Group(name) => json!({ "kind": "Group", "apiGroup": group, "name": name }),
        Subject::ServiceAccount(name) => match namespace {
            Some(namespace) => {
                json!({ "kind": "ServiceAccount", "name": name, "namespace": namespace })
            }
            None => json!({ "kind": "ServiceAccount", "name": name }),
        },
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": { "apiGroup": group, "kind": "Role", "name": NAME },
        "subjects": subjects.collect::<Vec<_>>(),
    });
    vec![role, binding]
}
