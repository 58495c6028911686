//! The section `resources`: what is read of the system's own processes, control groups and
//! Prometheus while the load goes on.

use std::sync::Arc;

use super::Reader;
use super::channels::TLS;
use super::fields::Fields;
use super::node::{Key, Node};
use super::shape::Kind::{Count, Map, Named, Text};
use super::shape::{Field, Shape};
use crate::resource::is_name;
use crate::{Prometheus, Resource, ResourceSource};

/// Schemes of Prometheus, and the port that a hint names.
const SCHEMES: &[(&str, bool, u16)] = &[("http", false, 9090), ("https", true, 443)];
/// Most resources of a plan.
const RESOURCES_MAX: usize = 64;
/// The greatest number that Linux gives a process.
const PID_MAX: u64 = 4_194_304;

pub(crate) static RESOURCE: Shape = Shape {
    name: "a resource",
    doc: "What is read once a second while the load goes on: one of `pid`, `cgroup`, `prometheus`.",
    fields: &[
        Field::new("name", Text, "Name, in reports; the process's or the group's own by default."),
        Field::new("pid", Count, "A process of this machine, with its threads and children."),
        Field::new("cgroup", Text, "A control group: its folder, as /sys/fs/cgroup/api.slice."),
        Field::new("prometheus", Text, "URL of a server that answers PromQL, with `observe`."),
        Field::new("observe", Named(&Text), "Queries in PromQL, by the name of their figure."),
        Field::new("headers", Named(&Text), "Headers of the queries' requests."),
        Field::new("tls", Map(&TLS), "How the TLS of `prometheus` is trusted."),
    ],
};

impl Reader<'_> {
    /// The resources, in their order.
    pub(super) fn resources(&mut self, node: &Node) -> Vec<Resource> {
        let mut found = Vec::new();
        for item in self.problems.list(node).unwrap_or_default() {
            found.extend(self.resource(item).unwrap_or_default());
        }
        if found.len() > RESOURCES_MAX {
            let message = format!("{} resources: a plan has at most {RESOURCES_MAX}", found.len());
            self.problems.at(node, message, None);
        }
        for (place, resource) in found.iter().enumerate() {
            let known = |other: &Resource| other.name.is_some() && other.name == resource.name;
            if found[..place].iter().any(known) {
                let name = resource.name.as_deref().unwrap_or_default();
                self.problems.at(node, format!("two resources are named `{name}`"), None);
            }
        }
        found
    }

    fn resource(&mut self, node: &Node) -> Option<Vec<Resource>> {
        let fields = Fields::of(node, &RESOURCE, &mut self.problems)?;
        let sources = fields.given(&["pid", "cgroup", "observe"]);
        match sources.as_slice() {
            [(key, value)] => match key.name.as_str() {
                "observe" => self.observed(value, &fields),
                of => {
                    let others = fields.given(&["prometheus", "headers", "tls"]);
                    self.refuse(&others, "goes with `observe`");
                    let name = self.resource_name(&fields)?;
                    let source = match of {
                        "pid" => self.process(value)?,
                        _ => ResourceSource::Cgroup { path: self.problems.text(value)?.into() },
                    };
                    Some(vec![Resource { name, source }])
                }
            },
            [] if fields.has_unknown => None,
            [] => {
                let hint = "give `pid`, `cgroup`, or `prometheus` with `observe`";
                self.problems.at(node, "a resource of nothing", Some(hint.to_owned()));
                None
            }
            [_, second, ..] => {
                let hint = Some("make it two resources".to_owned());
                self.problems.at_byte(second.0.range.start, "two resources in one", hint);
                None
            }
        }
    }

    fn refuse(&mut self, given: &[(&Key, &Node)], why: &str) {
        for (key, _) in given {
            self.problems.at_byte(key.range.start, format!("`{}` {why}", key.name), None);
        }
    }

    fn process(&mut self, node: &Node) -> Option<ResourceSource> {
        let pid = self.problems.count(node, 1, PID_MAX)?;
        Some(ResourceSource::Process { pid: u32::try_from(pid).ok()? })
    }

    /// `None` within: it has no name of the user's choice.
    fn resource_name(&mut self, fields: &Fields<'_>) -> Option<Option<String>> {
        let Some(node) = fields.get("name") else { return Some(None) };
        let name = self.problems.text(node)?.to_owned();
        self.check_resource(node.range.start, &name)?;
        Some(Some(name))
    }

    fn check_resource(&mut self, byte: usize, name: &str) -> Option<()> {
        if is_name(name) {
            return Some(());
        }
        let hint = Some("names have letters, digits, `_`, `-` and `.`".to_owned());
        let shown = super::fields::shown(name);
        self.problems.at_byte(byte, format!("`{shown}` can't name a resource"), hint);
        None
    }

    /// A resource for each query.
    fn observed(&mut self, node: &Node, fields: &Fields<'_>) -> Option<Vec<Resource>> {
        self.refuse(&fields.given(&["name"]), "is of `pid` and `cgroup`: each query has its own");
        let headers = self.secret_headers(fields)?;
        let prometheus = match fields.get("prometheus") {
            Some(_) => {
                let server = self.server_at("prometheus", fields, SCHEMES)?;
                Some(Arc::new(Prometheus { server, headers }))
            }
            None => {
                self.refuse(&fields.given(&["headers", "tls"]), "goes with `prometheus`");
                None
            }
        };
        let mut found = Vec::new();
        for (key, value) in self.problems.map(node)? {
            self.check_resource(key.range.start, &key.name)?;
            let query = self.problems.text(value)?.to_owned();
            if query.trim().is_empty() {
                self.problems.at(value, "an empty query", None);
            }
            let prometheus = prometheus.clone();
            let source = ResourceSource::Query { prometheus, query };
            found.push(Resource { name: Some(key.name.clone()), source });
        }
        Some(found)
    }
}
