//! How a run's pods stand, as the cluster tells.

use serde_json::Value;

use crate::objects::{PART_LABEL, Part};

/// The label and the annotation that have a pod's number in its Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// A kubelet's words for a container that waits for what somebody has to mend.
const STUCK: [&str; 6] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
];

/// All pods of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The coordinator's.
    pub coordinator: Option<PodState>,
    /// The generators' that there are, by number.
    pub generators: Vec<PodState>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodState {
    /// Its name.
    pub name: String,
    /// Its number among generators.
    pub index: Option<u32>,
    /// The node that it is on.
    pub node: Option<String>,
    /// How its main container stands.
    pub standing: Standing,
}

/// How a container stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not begun, and why: `Unschedulable: 0/2 nodes are available…`.
    Pending(String),
    /// It has not begun and won't as things are, and why: `ErrImagePull: no such image`.
    Stuck(String),
    /// It runs.
    Running,
    /// It has ended.
    Ended {
        /// Its exit code; 137 where it was killed.
        code: u8,
        /// The cluster's word: `Completed`, `Error`, `OOMKilled`, `Evicted`.
        reason: String,
    },
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pending(why) | Self::Stuck(why) => write!(f, "pending ({why})"),
            Self::Running => f.write_str("running"),
            Self::Ended { code: 0, .. } => f.write_str("done"),
            Self::Ended { code, reason } => write!(f, "ended with {code} ({reason})"),
        }
    }
}

impl Seen {
    /// Of the cluster's pods.
    pub(crate) fn of(pods: &[Value]) -> Self {
        let of_part = |part: Part| {
            let is_of = move |pod: &&Value| pod["metadata"]["labels"][PART_LABEL] == part.word();
            pods.iter().filter(is_of).map(move |pod| PodState::of(pod, part))
        };
        let mut generators: Vec<PodState> = of_part(Part::Generator).collect();
        generators.sort_by_key(|pod| pod.index);
        Self { coordinator: of_part(Part::Coordinator).next(), generators }
    }
}

impl PodState {
    /// Its number among generators, or its name where it has none.
    pub(super) fn number(&self) -> String {
        self.index.map_or_else(|| self.name.clone(), |index| index.to_string())
    }

    fn of(pod: &Value, part: Part) -> Self {
        let metadata = &pod["metadata"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let index = metadata["labels"][INDEX].as_str();
        let index = index.or_else(|| metadata["annotations"][INDEX].as_str());
        Self {
            name: text(&metadata["name"]).unwrap_or_default(),
            index: index.and_then(|index| index.parse().ok()),
            node: text(&pod["spec"]["nodeName"]),
            standing: standing(pod, part.word()),
        }
    }
}

fn standing(pod: &Value, container: &str) -> Standing {
    let status = &pod["status"];
    let statuses = status["containerStatuses"].as_array();
    let own = statuses.and_then(|all| all.iter().find(|it| it["name"] == container));
    let state = own.map_or(&Value::Null, |it| &it["state"]);
    if let Some(ended) = state.get("terminated") {
        let code = ended["exitCode"].as_u64().and_then(|code| u8::try_from(code).ok());
        let reason = ended["reason"].as_str().unwrap_or("Error").to_owned();
        return Standing::Ended { code: code.unwrap_or(u8::MAX), reason };
    }
    if status["phase"] == "Failed" {
        // Evicted, or lost with its node: no container says so.
        let words = [&status["reason"], &status["message"]].map(Value::as_str);
        let words: Vec<&str> = words.into_iter().flatten().collect();
        return Standing::Ended { code: u8::MAX, reason: words.join(": ") };
    }
    if state.get("running").is_some() {
        return Standing::Running;
    }
    let why = pending(status, state);
    match state["waiting"]["reason"].as_str() {
        Some(reason) if STUCK.contains(&reason) => Standing::Stuck(why),
        _ => Standing::Pending(why),
    }
}

fn pending(status: &Value, state: &Value) -> String {
    let said = |value: &Value| {
        let message = value["message"].as_str().filter(|it| !it.is_empty());
        let reason = value["reason"].as_str()?;
        Some(message.map_or_else(|| reason.to_owned(), |message| format!("{reason}: {message}")))
    };
    let conditions = status["conditions"].as_array();
    let unscheduled = conditions.and_then(|all| {
        all.iter().find(|it| it["type"] == "PodScheduled" && it["status"] == "False")
    });
    let words = unscheduled.and_then(said).or_else(|| said(&state["waiting"]));
    words.unwrap_or_else(|| super::unbegun::NOT_SCHEDULED.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(part: &str, index: Option<&str>, status: Value) -> Value {
        let mut pod = json!({
            "metadata": { "name": format!("x-{part}"), "labels": { PART_LABEL: part } },
            "spec": { "nodeName": "node1" },
        });
        if let Some(index) = index {
            pod["metadata"]["labels"][INDEX] = index.into();
        }
        pod["status"] = status;
        pod
    }

    fn of(status: Value) -> String {
        let seen = Seen::of(&[pod("coordinator", None, status)]);
        seen.coordinator.unwrap().standing.to_string()
    }

    #[test]
    fn each_way_to_stand_is_told() {
        let container = |state: Value| {
            let statuses = json!([
                { "name": "results", "state": { "running": {} } },
                { "name": "coordinator", "state": state },
            ]);
            json!({ "phase": "Running", "containerStatuses": statuses })
        };
        assert_eq!(of(json!({ "phase": "Pending" })), "pending (not scheduled yet)");
        let conditions = json!([{ "type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/2 nodes are available" }]);
        assert_eq!(
            of(json!({ "phase": "Pending", "conditions": conditions })),
            "pending (Unschedulable: 0/2 nodes are available)"
        );
        let waiting = json!({ "waiting": { "reason": "ImagePullBackOff", "message": "no x:1" } });
        assert_eq!(of(container(waiting)), "pending (ImagePullBackOff: no x:1)");
        let is_stuck = |reason: &str| {
            let status = container(json!({ "waiting": { "reason": reason } }));
            let seen = Seen::of(&[pod("coordinator", None, status)]);
            matches!(seen.coordinator.unwrap().standing, Standing::Stuck(_))
        };
        assert!(is_stuck("ErrImageNeverPull") && !is_stuck("ContainerCreating"));
        assert_eq!(of(container(json!({ "running": {} }))), "running");
        let done = json!({ "terminated": { "exitCode": 0, "reason": "Completed" } });
        assert_eq!(of(container(done)), "done");
        let killed = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } });
        assert_eq!(of(container(killed)), "ended with 137 (OOMKilled)");
        let evicted = json!({ "phase": "Failed", "reason": "Evicted", "message": "low memory" });
        assert_eq!(of(evicted), "ended with 255 (Evicted: low memory)");
    }

    #[test]
    fn generators_are_in_the_order_of_their_numbers() {
        let pods = ["10", "2", "0"].map(|index| pod("generator", Some(index), json!({})));
        let seen = Seen::of(&pods);
        let indexes: Vec<_> = seen.generators.iter().filter_map(|pod| pod.index).collect();
        assert_eq!(indexes, [0, 2, 10]);
        assert_eq!(seen.coordinator, None);
    }
}
