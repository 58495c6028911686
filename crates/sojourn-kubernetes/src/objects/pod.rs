//! What pods are made of. They pass the Pod Security Standard `restricted`.

use serde_json::{Value, json};

use super::{Part, labels, selector, without_nulls};
use crate::Wanted;
use crate::wanted::Size;

/// The working folder: the plan's files.
const PLAN: &str = "/plan";
/// The folder of the join key.
const KEY: &str = "/key";
/// The join key.
pub(super) const KEY_FILE: &str = "/key/join.key";
/// Its key in the Secret.
pub(super) const JOIN_KEY: &str = "join.key";
/// Words of the coordinator's that are secrets.
pub(super) const WORDS_FILE: &str = "/key/words.json";
/// Their key in the Secret.
pub(super) const WORDS: &str = "words.json";
/// The user of our images, and their group.
const USER: u32 = 65_532;
/// How long a coordinator may take to end gracefully when it is told to, seconds: it drains.
const COORDINATOR_GRACE_S: u32 = 120;
/// The same of a generator, which only has to deliver.
const GENERATOR_GRACE_S: u32 = 30;

/// A container.
pub(super) struct Container {
    pub(super) name: &'static str,
    /// After `sojourn`.
    pub(super) words: Vec<String>,
    pub(super) size: Size,
    pub(super) mounts: Vec<Value>,
    pub(super) ports: Vec<Value>,
    /// Whether it gets the plan's files as its working folder, and its variables.
    pub(super) has_plan: bool,
}

/// A part's pod, as a Job makes it.
pub(super) fn template(
    wanted: &Wanted,
    part: Part,
    containers: &[Container],
    volumes: Vec<Value>,
) -> Value {
    let is_generator = part == Part::Generator;
    let containers: Vec<Value> = containers.iter().map(|it| container(wanted, it)).collect();
    let pull_secrets = wanted.pull_secrets.iter().map(|name| json!({ "name": name }));
    let pull_secrets: Value = pull_secrets.collect::<Vec<_>>().into();
    let spread = json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        // Better two on a node than none at all.
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": { "matchLabels": selector(wanted, Part::Generator) },
    }]);
    let spec = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds":
            if is_generator { GENERATOR_GRACE_S } else { COORDINATOR_GRACE_S },
        "securityContext": security(wanted, part),
        "imagePullSecrets": only_if(!wanted.pull_secrets.is_empty(), pull_secrets),
        "topologySpreadConstraints": only_if(is_generator, spread),
        "nodeSelector": only_if(is_generator, node_selector(wanted)),
        "tolerations": only_if(is_generator, tolerations(wanted)),
        "affinity": away_from(wanted),
        "priorityClassName":
            only_if(is_generator, wanted.placement.priority_class.clone().into()),
        "containers": containers,
        "volumes": volumes,
    });
    json!({
        "metadata": { "labels": pod_labels(wanted, part), "annotations": annotations(part) },
        "spec": without_nulls(spec),
    })
}

/// The Secret's files, in their places.
pub(super) fn plan_volume(wanted: &Wanted) -> Value {
    let items = wanted.bundle.places().map(|(key, place)| json!({ "key": key, "path": place }));
    let items: Vec<Value> = items.collect();
    json!({ "name": "plan", "secret": { "secretName": wanted.name.as_str(), "items": items } })
}

pub(super) fn plan_mount() -> Value {
    json!({ "name": "plan", "mountPath": PLAN, "readOnly": true })
}

/// The join key, and the coordinator's secret words, if there are any.
pub(super) fn key_volume(wanted: &Wanted, part: Part) -> Value {
    let mut items = vec![json!({ "key": JOIN_KEY, "path": JOIN_KEY })];
    if part == Part::Coordinator && !wanted.secret_words.is_empty() {
        items.push(json!({ "key": WORDS, "path": WORDS }));
    }
    json!({ "name": "key", "secret": { "secretName": wanted.name.as_str(), "items": items } })
}

pub(super) fn key_mount() -> Value {
    json!({ "name": "key", "mountPath": KEY, "readOnly": true })
}

fn container(wanted: &Wanted, container: &Container) -> Value {
    let variables = wanted.bundle.variables().map(|(name, key)| {
        let from = json!({ "secretKeyRef": { "name": wanted.name.as_str(), "key": key } });
        json!({ "name": name, "valueFrom": from })
    });
    let variables: Vec<Value> = variables.collect();
    let Size { cpu, memory } = &container.size;
    let spec = json!({
        "name": container.name,
        "image": wanted.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sojourn"],
        "args": container.words,
        "workingDir": only_if(container.has_plan, PLAN.into()),
        "env": only_if(container.has_plan && !variables.is_empty(), variables.into()),
        "ports": only_if(!container.ports.is_empty(), container.ports.clone().into()),
        "resources": {
            "requests": { "cpu": cpu, "memory": memory, "ephemeral-storage": "64Mi" },
            // No limit of processors: it would hold the process up, which shows as latency.
            "limits": { "memory": memory, "ephemeral-storage": "2Gi" },
        },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": container.mounts,
    });
    without_nulls(spec)
}

fn security(wanted: &Wanted, part: Part) -> Value {
    let user = only_if(!wanted.leaves_user_open, USER.into());
    // A safe sysctl, allowed by `restricted`: connections to one target are bounded by ports.
    let ports = json!([{ "name": "net.ipv4.ip_local_port_range", "value": "1024 65535" }]);
    without_nulls(json!({
        "runAsNonRoot": true,
        "runAsUser": user,
        "runAsGroup": user,
        "seccompProfile": { "type": "RuntimeDefault" },
        "sysctls": only_if(part == Part::Generator, ports),
    }))
}

fn pod_labels(wanted: &Wanted, part: Part) -> Value {
    let mut labels = labels(wanted, part);
    // Sidecars would stand between generator and target, and be measured; Jobs with them that do
    // not know of Jobs never end.
    labels["sidecar.istio.io/inject"] = "false".into();
    labels
}

fn annotations(part: Part) -> Value {
    json!({
        "kubectl.kubernetes.io/default-container": part.word(),
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
        "sidecar.istio.io/inject": "false",
        "linkerd.io/inject": "disabled",
    })
}

fn node_selector(wanted: &Wanted) -> Value {
    match wanted.placement.node_labels.as_slice() {
        [] => Value::Null,
        labels => pairs(labels),
    }
}

fn tolerations(wanted: &Wanted) -> Value {
    let tolerations = wanted.placement.tolerations.iter().map(|toleration| {
        let operator = if toleration.value.is_some() { "Equal" } else { "Exists" };
        without_nulls(json!({
            "key": toleration.key,
            "operator": operator,
            "value": toleration.value,
            "effect": toleration.effect,
        }))
    });
    let tolerations: Vec<Value> = tolerations.collect();
    only_if(!tolerations.is_empty(), tolerations.into())
}

/// No part of a run beside the target: it would take what the target is measured with.
fn away_from(wanted: &Wanted) -> Value {
    if wanted.placement.away_from.is_empty() {
        return Value::Null;
    }
    json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
        "topologyKey": "kubernetes.io/hostname",
        "namespaceSelector": {},
        "labelSelector": { "matchLabels": pairs(&wanted.placement.away_from) },
    }] } })
}

fn pairs(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect())
}

fn only_if(condition: bool, value: Value) -> Value {
    if condition { value } else { Value::Null }
}
