//! The flags that say how a run is made of pods.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use sojourn_clock::SECOND_NS;
use sojourn_engine::Parcel;
use sojourn_kubernetes::{
    Bundle, Cluster, Kubectl, Placement, RunName, Size, Times, Toleration, Wanted,
};
use sojourn_plan::{Connector, Plan, ResourceSource, duration_ns};

use crate::{
    errors::UsageError,
    fleet_flags,
    given_words::flags_given,
    out_flags::OutFlags,
    plan_flags::{PlanFlags, pair},
    shelf::Shelf,
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
    /// File with the run's join key [default: a fresh key]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    key_file: Option<PathBuf>,
    /// Further file that pods need, such as a broker's certificates, repeatable. What the journey
    /// file reads itself is there anyway; together 1 MiB
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pod_file: Vec<PathBuf>,
    /// File that the journey file reads by this absolute path and that the image has at the same
    /// path, repeatable: it does not go along, so it may be larger
    #[arg(long, value_name = "PATH", help_heading = HEADING)]
    in_image: Vec<PathBuf>,
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
    /// How long results are kept in the coordinator's pod for whoever did not wait
    #[arg(long, value_name = "D", default_value = "10m", value_parser = duration_ns)]
    #[arg(help_heading = HEADING)]
    linger: u64,
    /// How long the finished objects stay
    #[arg(long, value_name = "D", default_value = "1h", value_parser = duration_ns)]
    #[arg(help_heading = HEADING)]
    ttl: u64,
}

/// The command whose words the coordinator gets, and which of its flags it does not.
pub(crate) type Said<'a> = (&'a [&'a str], &'a [&'a str]);

impl KubernetesFlags {
    /// The run that is asked for.
    pub(crate) fn wanted(
        &self,
        (plan_flags, ca, out): (&PlanFlags, Option<&Path>, &OutFlags),
        generators: u32,
        (command, not_for_pods): Said<'_>,
    ) -> Result<Wanted, UsageError> {
        let shelf = Shelf::noting();
        let plan = plan_flags.read_from(&shelf)?;
        refuse_what_pods_lack(&plan, out)?;
        out.ask_for_variables(&shelf)?;
        let (bundle, mut words) = self.bundle(plan_flags, &shelf.into_parcel(), ca)?;
        let mut without = own_flags();
        without.extend(["env", "ca", "namespace", "context", "kubectl"].map(str::to_owned));
        without.extend(not_for_pods.iter().map(|it| (*it).to_owned()));
        let without: Vec<&str> = without.iter().map(String::as_str).collect();
        let given = flags_given(command, &without);
        refuse_passwords(&given)?;
        words.extend(given);
        words.extend(self.on_loss.iter().map(|it| format!("--on-loss={it}")));
        words.extend(self.reconnect_within.iter().map(|it| format!("--reconnect-within={it}")));
        let letters = uuid::Uuid::new_v4().simple().to_string();
        let name = match &self.run_name {
            Some(name) => name.clone(),
            None => RunName::of_plan(&plan.name, &letters[..8])?,
        };
        Ok(Wanted {
            name,
            id: letters[8..16].to_owned(),
            namespace: None,
            image: self.image.clone(),
            pull_secrets: self.image_pull_secret.clone(),
            generators,
            words,
            bundle,
            key: self.key()?,
            webhook_ports: webhook_ports(&plan)?,
            times: self.times(&plan),
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

    /// Errs when one of these flags was given to a run that has no pods.
    pub(crate) fn refuse_without_cluster(&self, command: &[&str]) -> Result<(), UsageError> {
        let (mut own, given) = (own_flags(), flags_given(command, &[]));
        own.extend(["namespace", "context", "kubectl"].map(str::to_owned));
        let is_own = |word: &&String| {
            let name = word.trim_start_matches("--").split('=').next().unwrap_or_default();
            own.contains(&name.replace('-', "_"))
        };
        match given.iter().find(is_own) {
            None => Ok(()),
            Some(word) => Err(UsageError::new(
                format!("{word} is for runs in a cluster"),
                "add --on kubernetes --generators N, or leave it out",
            )),
        }
    }

    /// What goes along, and the first word: the plan's file there.
    fn bundle(
        &self,
        plan_flags: &PlanFlags,
        noted: &Parcel,
        ca: Option<&Path>,
    ) -> Result<(Bundle, Vec<String>), UsageError> {
        let mut bundle = Bundle::below(&folder(&plan_flags.file)?)?;
        let mut words = vec![bundle.add_file(&plan_flags.file)?];
        let files = noted.files.keys().map(Path::new);
        self.refuse_unread_in_image(files.clone())?;
        for file in files.filter(|file| !self.in_image.iter().any(|it| it == file)) {
            bundle.add_file(file)?;
        }
        for file in &self.pod_file {
            bundle.add_file(file)?;
        }
        if let Some(ca) = ca {
            words.push(format!("--ca={}", bundle.add_file(ca)?));
        }
        let asked =
            noted.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let variables = asked.chain(plan_flags.env.iter().map(|(name, value)| (name, value)));
        for (name, value) in variables {
            bundle.set_variable(name, value)?;
        }
        Ok((bundle, words))
    }

    /// Errs where an image is to have a file by a path that means another one in pods, or none.
    fn refuse_unread_in_image<'a>(
        &self,
        files: impl Iterator<Item = &'a Path> + Clone,
    ) -> Result<(), UsageError> {
        let is_read = |path: &PathBuf| path.is_absolute() && files.clone().any(|it| it == path);
        match self.in_image.iter().find(|path| !is_read(path)) {
            None => Ok(()),
            Some(path) => Err(UsageError::new(
                format!("--in-image {}: the journey file reads no such path", path.display()),
                "write the absolute path that the image has it at, and the same in the journey \
                 file; it must be on this machine too, where the plan is checked",
            )),
        }
    }

    /// The join key: 244 random bits, unless there is one.
    fn key(&self) -> Result<String, UsageError> {
        let fresh = || uuid::Uuid::new_v4().simple().to_string();
        match &self.key_file {
            None => Ok(fresh() + &fresh()),
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    UsageError::unreadable(file, &error, "leave --key-file out for a fresh key")
                })?;
                Ok(text.trim().to_owned())
            }
        }
    }

    fn times(&self, plan: &Plan) -> Times {
        let load_ns = plan.load.iter().map(|load| load.warmup_ns + load.steady_ns + load.drain_ns);
        let after_ns = plan.journeys.iter().map(|journey| journey.within_ns + journey.linger_ns);
        let run_ns = load_ns.max().unwrap_or(0) + after_ns.max().unwrap_or(0) + self.ready_timeout;
        let seconds = |ns: u64| ns.div_ceil(SECOND_NS);
        Times {
            run_s: seconds(run_ns) + BESIDE_S,
            ready_s: seconds(self.ready_timeout),
            linger_s: seconds(self.linger),
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

/// The ids of the flags above.
fn own_flags() -> Vec<String> {
    let all = <KubernetesFlags as clap::Args>::augment_args(clap::Command::new("own"));
    all.get_arguments().map(|argument| argument.get_id().to_string()).collect()
}

/// The folder whose files pods can have: this one, as far as the plan is in it, so that names of
/// files mean the same there; else the plan's.
fn folder(plan: &Path) -> Result<PathBuf, UsageError> {
    let unreadable = |error| {
        let hint = "`sojourn init > journey.yaml` writes a first journey file";
        UsageError::unreadable(plan, &error, hint)
    };
    let here = std::env::current_dir().and_then(|it| it.canonicalize()).map_err(unreadable)?;
    let of_plan = std::path::absolute(plan).map_err(unreadable)?;
    let of_plan =
        of_plan.parent().unwrap_or_else(|| Path::new("/")).canonicalize().map_err(unreadable)?;
    Ok(if of_plan.starts_with(&here) { here } else { of_plan })
}

/// What a plan may name that is on this machine alone.
fn refuse_what_pods_lack(plan: &Plan, out: &OutFlags) -> Result<(), UsageError> {
    let is_here = |source: &ResourceSource| !matches!(source, ResourceSource::Query { .. });
    if plan.resources.iter().any(|resource| is_here(&resource.source)) {
        return Err(UsageError::new(
            "processes and control groups of this machine can't be read from pods",
            "ask Prometheus about the target's: --prometheus URL --observe NAME=PROMQL",
        ));
    }
    let is_file = |out: &&String| out.starts_with("ndjson=") || out.starts_with("parquet=");
    match out.out.iter().find(is_file) {
        None => Ok(()),
        Some(out) => Err(UsageError::new(
            format!("--out {out} would write a file in a pod, which goes with it"),
            "make it of the run file afterwards: `sojourn report RUNFILE --report FILE.ndjson`",
        )),
    }
}

/// Errs when a URL of the command line has a user or a password: it would stand in the Job, which
/// more people may read than the Secret.
fn refuse_passwords(given: &[String]) -> Result<(), UsageError> {
    const OF_OUTPUTS: &str = "leave it out: the token or header for it is taken from \
                              SOJOURN_PROMETHEUS_TOKEN, OTEL_EXPORTER_OTLP_HEADERS or \
                              INFLUX_TOKEN, and goes along in the Secret";
    const OF_PLANS: &str = "write the URL into the journey file, with ${NAME} in place of the \
                            password: file and variable go along in the Secret";
    let flags = [("--out", OF_OUTPUTS), ("--target", OF_PLANS), ("--prometheus", OF_PLANS)];
    for word in given {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if let Some((flag, hint)) = flags.iter().find(|(flag, _)| *flag == name)
            && names_user(value)
        {
            let message = format!(
                "{flag} has a URL with a user or a password, which all could read who may read \
                 Jobs"
            );
            return Err(UsageError::new(message, *hint));
        }
    }
    Ok(())
}

/// Whether there is a user or a password in a URL.
fn names_user(text: &str) -> bool {
    let behind = text.split_once("://").map_or("", |(_, behind)| behind);
    behind.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The ports of a plan's webhooks.
fn webhook_ports(plan: &Plan) -> Result<Vec<u16>, UsageError> {
    let mut ports = Vec::new();
    for channel in &plan.channels {
        let Connector::Webhook(webhook) = &channel.connector else { continue };
        let address: Option<SocketAddr> = webhook.listen.parse().ok();
        let is_reached = |it: &SocketAddr| !it.ip().is_loopback() && it.port() != 0;
        let Some(address) = address.filter(is_reached) else {
            return Err(UsageError::new(
                format!(
                    "channel `{}` listens at {}, where nobody reaches its pod",
                    channel.name, webhook.listen
                ),
                "write `listen: 0.0.0.0:9000`; in the cluster it is http://RUN-NAME.NAMESPACE:9000 \
                 then, with the run's --run-name",
            ));
        };
        if !ports.contains(&address.port()) {
            ports.push(address.port());
        }
    }
    Ok(ports)
}
