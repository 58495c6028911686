//! How a run's parts find each other, and who else may connect to them.

use serde_json::{Value, json};

use super::jobs::webhook_name;
use super::{Part, metadata, selector};
use crate::Wanted;
use crate::wanted::COORDINATOR_PORT;

/// Where the coordinator is found, by generators and by whoever sends webhooks.
///
/// An address of its own (not a headless name): a name that was asked for before the pod was there
/// stays unknown for as long as name servers remember that. It leads to the pod even before that
/// is ready, since readiness says nothing here.
pub(super) fn service(wanted: &Wanted) -> Value {
    let mut ports =
        vec![json!({ "name": "generators", "port": COORDINATOR_PORT, "targetPort": "generators" })];
    ports.extend(wanted.webhook_ports.iter().map(|port| {
        let name = webhook_name(*port);
        json!({ "name": name, "port": port, "targetPort": name })
    }));
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(wanted, wanted.name.as_str(), Part::Coordinator),
        "spec": {
            "type": "ClusterIP",
            "publishNotReadyAddresses": true,
            "selector": selector(wanted, Part::Coordinator),
            "ports": ports,
        },
    })
}

/// Only generators connect to the coordinator, but to its webhooks anybody does; nobody connects
/// to generators.
pub(super) fn policies(wanted: &Wanted) -> [Value; 2] {
    let mut ingress = vec![json!({
        "from": [{ "podSelector": { "matchLabels": selector(wanted, Part::Generator) } }],
        "ports": [{ "protocol": "TCP", "port": COORDINATOR_PORT }],
    })];
    if !wanted.webhook_ports.is_empty() {
        let ports = wanted.webhook_ports.iter();
        let ports = ports.map(|port| json!({ "protocol": "TCP", "port": port }));
        ingress.push(json!({ "ports": ports.collect::<Vec<_>>() }));
    }
    let policy = |name: &str, part: Part, ingress: Vec<Value>| {
        json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata(wanted, name, part),
            "spec": {
                "podSelector": { "matchLabels": selector(wanted, part) },
                "policyTypes": ["Ingress"],
                "ingress": ingress,
            },
        })
    };
    [
        policy(wanted.name.as_str(), Part::Coordinator, ingress),
        policy(&wanted.name.generators(), Part::Generator, Vec::new()),
    ]
}
