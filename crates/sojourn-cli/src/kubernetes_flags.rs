//! The flags that say how a run is made of pods.

use std::path::{Path, PathBuf};

use sojourn_clock::SECOND_NS;
use sojourn_kubernetes::{
    Cluster, Coordinating, Kubectl, Placement, RunName, Size, Times, Toleration, Wanted,
};
use sojourn_plan::{Plan, duration_ns};

use crate::{
    errors::UsageError,
    fleet_flags,
    for_pods::{Packed, webhook_ports},
    given_words::flags_given_by_id,
    on_kubernetes::{self, Results},
    plan_flags::pair,
};

/// The flags' heading in the help.
const HEADING: &str = "On Kubernetes";
/// How long a plan's setup, teardown and last looks may take beside its phases, seconds.
const BESIDE_S: u64 = 120;

/// Where a run with `--on` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum On {
    /// A Kubernetes cluster, 1.29 or later
    Kubernetes,
}

/// How a cluster is reached.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ClusterFlags {
    /// Namespace of the run [default: the context's]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) namespace: Option<String>,
    /// Context of kubectl's configuration [default: the current one]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    context: Option<String>,
    /// The kubectl to call [default: the one on PATH]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    kubectl: Option<PathBuf>,
}

impl ClusterFlags {
    /// The cluster that is meant.
    pub(crate) fn cluster(&self) -> Cluster {
        Cluster::new(Kubectl {
            program: self.kubectl.clone(),
            context: self.context.clone(),
            namespace: self.namespace.clone(),
        })
    }
}

/// Where a run's generators are, of a command that has them here unless it is told otherwise.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct OnFlags {
    /// Where the generators are: pods of a cluster that kubectl reaches, which are created, watched
    /// and deleted again
    #[arg(long, value_enum, value_name = "WHERE", requires = "generators", group = "elsewhere")]
    on: Option<On>,
    /// With --on: come back as soon as the run is created; `sojourn fleet attach` follows it
    #[arg(long, requires = "on")]
    pub(crate) detach: bool,
    /// With --on: create nothing, and print what would be created, as YAML for review, kustomize
    /// and GitOps
    #[arg(long, requires = "on", conflicts_with = "detach")]
    pub(crate) manifests: bool,
    #[command(flatten)]
    cluster: ClusterFlags,
    #[command(flatten)]
    pub(crate) pods: KubernetesFlags,
}

impl OnFlags {
    /// Whether there are to be pods.
    pub(crate) fn is_asked(&self) -> bool {
        self.on == Some(On::Kubernetes)
    }

    /// Makes the run that is asked for, or prints it.
    pub(crate) fn make(&self, asked: Asked<'_>, results: &Results<'_>) -> Result<u8, UsageError> {
        let wanted = self.pods.wanted(asked)?;
        let wanted = Wanted { namespace: self.cluster.namespace.clone(), ..wanted };
        if self.manifests {
            return on_kubernetes::print(&wanted);
        }
        on_kubernetes::start(&self.cluster.cluster(), &wanted, results, self.detach)
    }

    /// Errs when one of these flags, or one of those further ones, was given to a run that has no
    /// pods.
    pub(crate) fn refuse_without_cluster(
        command: &[&str],
        further: &[&str],
    ) -> Result<(), UsageError> {
        let (own, given) = (own_flags(), flags_given_by_id(command, &["on"]));
        let is_own =
            |(id, _): &&(String, String)| own.contains(id) || further.contains(&id.as_str());
        match given.iter().find(is_own) {
            None => Ok(()),
            Some((_, word)) => Err(UsageError::new(
                format!("{word} is for runs in a cluster"),
                "add --on kubernetes --generators N, or leave it out",
            )),
        }
    }
}

/// What a run in a cluster asks of its generators.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TermsFlags {
    /// File with the run's join key [default: a fresh key]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    key_file: Option<PathBuf>,
    /// How long generators are waited for
    #[arg(long, value_name = "D", default_value = "120s", value_parser = duration_ns)]
    #[arg(help_heading = HEADING)]
    ready_timeout: u64,
    /// What becomes of the run when a generator is lost: void, continue or abort [default: void]
    #[arg(long, value_name = "WHAT", help_heading = HEADING)]
    #[arg(value_parser = ["void", "continue", "abort"])]
    on_loss: Option<String>,
    /// How long a generator may be without a connection before it is lost [default: 30s]
    #[arg(long, value_name = "D", value_parser = reconnect_within, help_heading = HEADING)]
    reconnect_within: Option<String>,
}

impl TermsFlags {
    /// Their ids.
    pub(crate) const IDS: [&str; 4] = ["key_file", "ready_timeout", "on_loss", "reconnect_within"];

    /// What of them is not the coordinator's to know by its words.
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms { key_file: self.key_file.as_deref(), ready_ns: self.ready_timeout }
    }
}

/// What a run in a cluster asks of its generators, but for what is said to its coordinator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    /// The file with its join key; `None`: a fresh one.
    pub(crate) key_file: Option<&'a Path>,
    /// How long generators are waited for.
    pub(crate) ready_ns: u64,
}

impl Terms<'_> {
    /// The join key: 244 random bits, unless there is one.
    fn key(&self) -> Result<String, UsageError> {
        let fresh = || uuid::Uuid::new_v4().simple().to_string();
        match self.key_file {
            None => Ok(fresh() + &fresh()),
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    UsageError::unreadable(file, &error, "leave --key-file out for a fresh key")
                })?;
                Ok(text.trim().to_owned())
            }
        }
    }
}

/// What a run's objects say of its plan.
pub(crate) struct Outline {
    pub(crate) name: String,
    /// Where its webhooks listen.
    pub(crate) webhook_ports: Vec<u16>,
    /// How long it lasts at most, nanoseconds.
    pub(crate) lasts_ns: u64,
}

impl Outline {
    /// Of a plan. Errs where one of its webhooks listens where nobody reaches its pod.
    pub(crate) fn of(plan: &Plan) -> Result<Self, UsageError> {
        let load_ns = plan.load.iter().map(|load| load.warmup_ns + load.steady_ns + load.drain_ns);
        let after_ns = plan.journeys.iter().map(|journey| journey.within_ns + journey.linger_ns);
        Ok(Self {
            name: plan.name.clone(),
            webhook_ports: webhook_ports(plan)?,
            lasts_ns: load_ns.max().unwrap_or(0) + after_ns.max().unwrap_or(0),
        })
    }
}

/// A run that is to be made of pods.
pub(crate) struct Asked<'a> {
    pub(crate) outline: Outline,
    pub(crate) generators: u32,
    pub(crate) command: Coordinating,
    /// What goes along.
    pub(crate) packed: Packed,
    pub(crate) terms: Terms<'a>,
}

/// What the pods are.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KubernetesFlags {
    /// Image of all pods, with `sojourn` on its PATH; `sojourn image save` makes one
    #[arg(long, value_name = "IMAGE", default_value_t = usual_image(), help_heading = HEADING)]
    image: String,
    /// Secret by which the image may be pulled, repeatable
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    image_pull_secret: Vec<String>,
    /// Name of the run in the cluster, and of its Service [default: the plan's, and some letters]
    #[arg(long, value_name = "NAME", value_parser = run_name, help_heading = HEADING)]
    run_name: Option<RunName>,
    /// Further file that pods need, such as a broker's certificates, repeatable. What the run reads
    /// before it begins is there anyway; together 1 MiB
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) pod_file: Vec<PathBuf>,
    /// File that the run reads by this absolute path and that the image has at the same path,
    /// repeatable: it does not go along, so it may be larger
    #[arg(long, value_name = "PATH", help_heading = HEADING)]
    pub(crate) in_image: Vec<PathBuf>,
    /// Processors that each generator asks for
    #[arg(long, value_name = "CPU", default_value = "1", help_heading = HEADING)]
    generator_cpu: String,
    /// Memory of each generator
    #[arg(long, value_name = "MEMORY", default_value = "512Mi", help_heading = HEADING)]
    generator_memory: String,
    /// Processors that the coordinator asks for
    #[arg(long, value_name = "CPU", default_value = "500m", help_heading = HEADING)]
    coordinator_cpu: String,
    /// Memory of the coordinator
    #[arg(long, value_name = "MEMORY", default_value = "512Mi", help_heading = HEADING)]
    coordinator_memory: String,
    /// Label that generators' nodes must have, repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, help_heading = HEADING)]
    node_selector: Vec<(String, String)>,
    /// Taint that generators do not mind, repeatable
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]", value_parser = Toleration::parse)]
    #[arg(help_heading = HEADING)]
    toleration: Vec<Toleration>,
    /// Label of the target's pods, of any namespace: no pod of the run is on a node of theirs
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, help_heading = HEADING)]
    away_from: Vec<(String, String)>,
    /// Priority class of generators
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    priority_class: Option<String>,
    /// Make no network policies, where the namespace allows none
    #[arg(long, help_heading = HEADING)]
    no_network_policy: bool,
    /// Leave pods' user to the namespace, as OpenShift wants it
    #[arg(long, help_heading = HEADING)]
    openshift: bool,
    /// How long results are kept in the coordinator's pod for whoever did not wait
    // A command that has another `--linger` calls it otherwise.
    #[arg(long = "linger", value_name = "D", default_value = "10m", value_parser = duration_ns)]
    #[arg(help_heading = HEADING)]
    results_linger: u64,
    /// How long the finished objects stay
    #[arg(long, value_name = "D", default_value = "1h", value_parser = duration_ns)]
    #[arg(help_heading = HEADING)]
    ttl: u64,
}

impl KubernetesFlags {
    /// The run that is asked for.
    pub(crate) fn wanted(&self, asked: Asked<'_>) -> Result<Wanted, UsageError> {
        let Asked { outline, generators, command, packed, terms } = asked;
        let letters = uuid::Uuid::new_v4().simple().to_string();
        let name = match &self.run_name {
            Some(name) => name.clone(),
            None => RunName::of_plan(&outline.name, &letters[..8])?,
        };
        Ok(Wanted {
            name,
            id: letters[8..16].to_owned(),
            namespace: None,
            image: self.image.clone(),
            pull_secrets: self.image_pull_secret.clone(),
            generators,
            command,
            words: packed.words,
            secret_words: packed.secret_words,
            bundle: packed.bundle,
            key: terms.key()?,
            webhook_ports: outline.webhook_ports,
            times: self.times(outline.lasts_ns, terms.ready_ns),
            coordinator: size(&self.coordinator_cpu, &self.coordinator_memory),
            generator: size(&self.generator_cpu, &self.generator_memory),
            placement: Placement {
                node_labels: self.node_selector.clone(),
                tolerations: self.toleration.clone(),
                away_from: self.away_from.clone(),
                priority_class: self.priority_class.clone(),
            },
            has_network_policies: !self.no_network_policy,
            leaves_user_open: self.openshift,
        })
    }

    fn times(&self, lasts_ns: u64, ready_ns: u64) -> Times {
        let run_ns = lasts_ns + ready_ns;
        let seconds = |ns: u64| ns.div_ceil(SECOND_NS);
        Times {
            run_s: seconds(run_ns) + BESIDE_S,
            ready_s: seconds(ready_ns),
            linger_s: seconds(self.results_linger),
            keep_s: seconds(self.ttl),
        }
    }
}

/// The image that `sojourn image save` makes unless told otherwise.
pub(crate) fn usual_image() -> String {
    format!("localhost/sojourn:{}", env!("CARGO_PKG_VERSION"))
}

fn run_name(text: &str) -> Result<RunName, String> {
    RunName::parse(text).map_err(|error| error.to_string())
}

fn size(cpu: &str, memory: &str) -> Size {
    Size { cpu: cpu.to_owned(), memory: memory.to_owned() }
}

/// The text as it was given, if it can be one.
fn reconnect_within(text: &str) -> Result<String, String> {
    fleet_flags::reconnect_within(text).map(|_| text.to_owned())
}

/// The ids of the flags that say where a run is and what its pods are.
pub(crate) fn own_flags() -> Vec<String> {
    let all = <OnFlags as clap::Args>::augment_args(clap::Command::new("own"));
    all.get_arguments().map(|argument| argument.get_id().to_string()).collect()
}
