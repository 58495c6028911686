//! How a run's pods stand, as the cluster tells.

use serde_json::Value;

use crate::objects::{ID_LABEL, PART_LABEL, Part};

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
    /// Whether it has been deleted, so that it and its files are as good as gone.
    pub is_leaving: bool,
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
    /// Of the cluster's Jobs and pods that have a run's name. Pods whose Job is not there are those
    /// of an earlier run, which are still ending.
    pub(crate) fn of(items: &[Value]) -> Self {
        let of_kind = |kind: &'static str| items.iter().filter(move |it| it["kind"] == kind);
        let label = |it: &Value, label: &str| it["metadata"]["labels"][label].clone();
        let coordinator = of_kind("Job").find(|job| is_of(job, Part::Coordinator));
        let id = coordinator.map(|job| label(job, ID_LABEL));
        let jobs = of_kind("Job").filter(|job| id.as_ref() == Some(&label(job, ID_LABEL)));
        let uids: Vec<&Value> = jobs.map(|job| &job["metadata"]["uid"]).collect();
        let is_owned = |pod: &&Value| {
            let owners = pod["metadata"]["ownerReferences"].as_array();
            owners.is_some_and(|all| all.iter().any(|owner| uids.contains(&&owner["uid"])))
        };
        let pods: Vec<&Value> = of_kind("Pod").filter(is_owned).collect();
        let of_part = |part: Part| {
            let pods = pods.iter().filter(move |pod| is_of(pod, part));
            pods.map(move |pod| PodState::of(pod, part))
        };
        let mut generators: Vec<PodState> = of_part(Part::Generator).collect();
        generators.sort_by_key(|pod| pod.index);
        Self { coordinator: of_part(Part::Coordinator).next(), generators }
    }
}

fn is_of(object: &Value, part: Part) -> bool {
    object["metadata"]["labels"][PART_LABEL] == part.word()
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
            is_leaving: metadata["deletionTimestamp"].is_string(),
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

    fn job(part: &str, id: &str) -> Value {
        json!({ "kind": "Job", "metadata": {
            "uid": format!("{part}-{id}"),
            "labels": { PART_LABEL: part, ID_LABEL: id },
        } })
    }

    fn jobs() -> [Value; 2] {
        [job("coordinator", "new"), job("generator", "new")]
    }

    /// A pod of one of these.
    fn pod(part: &str, index: Option<&str>, status: Value) -> Value {
        let mut pod = json!({
            "kind": "Pod",
            "metadata": {
                "name": format!("x-{part}"),
                "labels": { PART_LABEL: part },
                "ownerReferences": [{ "uid": format!("{part}-new") }],
            },
            "spec": { "nodeName": "node1" },
        });
        if let Some(index) = index {
            pod["metadata"]["labels"][INDEX] = index.into();
        }
        pod["status"] = status;
        pod
    }

    fn of(status: Value) -> String {
        let [coordinators, _] = jobs();
        let seen = Seen::of(&[coordinators, pod("coordinator", None, status)]);
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
            let [coordinators, _] = jobs();
            let seen = Seen::of(&[coordinators, pod("coordinator", None, status)]);
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
        let seen = Seen::of(&[jobs().as_slice(), &pods].concat());
        let indexes: Vec<_> = seen.generators.iter().filter_map(|pod| pod.index).collect();
        assert_eq!(indexes, [0, 2, 10]);
        assert_eq!(seen.coordinator, None);
    }

    /// Pods of a Job that was deleted end when they end; its other Job goes when it goes.
    #[test]
    fn pods_of_an_earlier_run_of_the_name_are_not_this_ones() {
        let mut ended = pod("coordinator", None, json!({ "phase": "Failed", "reason": "Error" }));
        ended["metadata"]["ownerReferences"][0]["uid"] = "coordinator-old".into();
        let mut going = pod("generator", Some("0"), json!({}));
        going["metadata"]["ownerReferences"][0]["uid"] = "generator-old".into();
        let new = job("coordinator", "new");
        let mut items = vec![job("generator", "old"), ended, going, new];
        assert_eq!(Seen::of(&items), Seen::default());
        items.push(pod("coordinator", None, json!({ "phase": "Pending" })));
        let seen = Seen::of(&items);
        let coordinator = seen.coordinator.unwrap();
        assert_eq!(coordinator.standing.to_string(), "pending (not scheduled yet)");
        assert_eq!(seen.generators, []);
    }
}
