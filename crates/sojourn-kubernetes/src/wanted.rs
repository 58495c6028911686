//! What a run on a cluster is to be.

use crate::{Bundle, ClusterError, RunName};

/// Most generators of one run: further ones would need a coordinator that was tried with them.
const GENERATORS_MAX: u32 = 256;
/// The port at which the coordinator listens for generators.
pub(crate) const COORDINATOR_PORT: u16 = 7000;

/// All that a run's objects are made from.
#[derive(Clone)]
pub struct Wanted {
    /// Its name.
    pub name: RunName,
    /// What tells its pods from those of an earlier run of this name, which may still be ending:
    /// letters and digits, never the same twice.
    pub id: String,
    /// Where it is to be; `None`: the objects do not say.
    pub namespace: Option<String>,
    /// The image of all its pods; `sojourn` must be found on its `PATH`.
    pub image: String,
    /// Secrets by which the image may be pulled.
    pub pull_secrets: Vec<String>,
    /// How many generators.
    pub generators: u32,
    /// What coordinates it.
    pub command: Coordinating,
    /// That command's words: files as they stand in the bundle, and flags.
    pub words: Vec<String>,
    /// Further words of it that not everybody may see who may see its Job.
    pub secret_words: Vec<String>,
    /// Files and variables.
    pub bundle: Bundle,
    /// The join key's text: a secret.
    pub key: String,
    /// Ports at which the plan's webhook taps listen, in the coordinator's pod.
    pub webhook_ports: Vec<u16>,
    /// How long things may take.
    pub times: Times,
    /// What the coordinator's pod gets.
    pub coordinator: Size,
    /// What each generator's pod gets.
    pub generator: Size,
    /// Where generators may be.
    pub placement: Placement,
    /// Whether policies say who may connect to whom.
    pub has_network_policies: bool,
    /// Whether pods leave their user to the namespace, as OpenShift's restricted security context
    /// constraints want it, instead of naming one.
    pub leaves_user_open: bool,
}

/// The command of `sojourn` that coordinates a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinating {
    /// That of journey files.
    Journeys,
    /// That of session scripts.
    Sessions,
    /// That of k6 scripts. Its results are its standard output and the files that it writes.
    Scripts,
    /// That of attacks.
    Attack {
        /// Whether the records of all hits are among the results, besides the run file.
        has_records: bool,
    },
}

/// How long things may take, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Everything from the coordinator's start to its end.
    pub run_s: u64,
    /// How long generators are waited for, of that.
    pub ready_s: u64,
    /// How long results are kept for whom they were made, after the coordinator's end.
    pub linger_s: u64,
    /// How long the objects stay after that.
    pub keep_s: u64,
}

/// What a container gets, in Kubernetes' own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Processors that are asked for, such as `500m`. There is no limit: one would hold the
    /// process up for tens of milliseconds at a time, which would show as the target's latency.
    pub cpu: String,
    /// Memory that is asked for and is the most there is, such as `512Mi`.
    pub memory: String,
}

/// Where generators may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Labels that their nodes must have.
    pub node_labels: Vec<(String, String)>,
    /// Taints that they do not mind.
    pub tolerations: Vec<Toleration>,
    /// Labels of pods, of any namespace, beside which no generator may be: the target's.
    pub away_from: Vec<(String, String)>,
    /// Their priority class.
    pub priority_class: Option<String>,
}

/// A taint that does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// Its key.
    pub key: String,
    /// Its value; `None`: any.
    pub value: Option<String>,
    /// Its effect; `None`: any.
    pub effect: Option<String>,
}

impl Toleration {
    /// Reads `KEY`, `KEY=VALUE`, `KEY:EFFECT` or `KEY=VALUE:EFFECT`.
    ///
    /// # Errors
    /// There is no key, or no such effect.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (pair, effect) = match text.split_once(':') {
            Some((pair, effect)) => (pair, Some(effect)),
            None => (text, None),
        };
        let (key, value) = match pair.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (pair, None),
        };
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if key.is_empty() || effect.is_some_and(|it| !effects.contains(&it)) {
            return Err(format!(
                "write KEY[=VALUE][:EFFECT], with {} as effect",
                effects.join(", ")
            ));
        }
        let owned = |part: &str| part.to_owned();
        Ok(Self { key: key.to_owned(), value: value.map(owned), effect: effect.map(owned) })
    }
}

impl Wanted {
    /// Checks what objects would be refused for, or work wrongly with.
    ///
    /// # Errors
    /// What it is.
    pub fn check(&self) -> Result<(), ClusterError> {
        let wrong = |words: String| Err(ClusterError::Wanted(words));
        if !(1..=GENERATORS_MAX).contains(&self.generators) {
            return wrong(format!("{} generators: 1 to {GENERATORS_MAX} can be", self.generators));
        }
        if let Some(port) = self.webhook_ports.iter().find(|port| **port == COORDINATOR_PORT) {
            return wrong(format!(
                "a webhook channel listens at port {port}, which is the coordinator's in its pod: \
                 take another"
            ));
        }
        let secret_words = self.secret_words.iter().map(String::len).sum::<usize>();
        self.bundle.check(self.key.len() + secret_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerations_are_read_as_kubectl_writes_taints() {
        let parse = |text| Toleration::parse(text).map(|it| (it.key, it.value, it.effect));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parse("load"), Ok(("load".to_owned(), None, None)));
        assert_eq!(parse("a=b"), Ok(("a".to_owned(), some("b"), None)));
        assert_eq!(parse("a:NoExecute"), Ok(("a".to_owned(), None, some("NoExecute"))));
        let all = ("x.dev/a".to_owned(), some("b"), some("NoSchedule"));
        assert_eq!(parse("x.dev/a=b:NoSchedule"), Ok(all));
        for wrong in ["", "=b", ":NoSchedule", "a=b:Never"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
