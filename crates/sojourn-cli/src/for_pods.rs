//! What goes along to the pods of a run: files and variables, and the words that name them there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use sojourn_engine::Parcel;
use sojourn_kubernetes::Bundle;
use sojourn_plan::{Connector, Plan, ResourceSource};

use crate::{
    errors::UsageError,
    given_words::flags_given,
    kubernetes_flags::{KubernetesFlags, own_flags},
    out_flags::OutFlags,
    plan_flags::PlanFlags,
    shelf::Shelf,
};

/// The command whose words the coordinator gets, and which of its flags it does not.
pub(crate) type Said<'a> = (&'a [&'a str], &'a [&'a str]);

/// What goes along.
pub(crate) struct Packed {
    pub(crate) bundle: Bundle,
    /// The coordinator's words, in which files stand as they do in the bundle.
    pub(crate) words: Vec<String>,
    /// Those of them that are for the Secret alone.
    pub(crate) secret_words: Vec<String>,
}

impl Packed {
    /// A journey file or a script, and what was read for it.
    pub(crate) fn of(
        pods: &KubernetesFlags,
        file: &Path,
        noted: &Parcel,
        ca: Option<&Path>,
    ) -> Result<Self, UsageError> {
        let mut bundle = Bundle::below(&folder(file)?)?;
        let mut words = vec![bundle.add_file(file)?];
        let files = noted.files.keys().map(Path::new);
        refuse_unread_in_image(pods, files.clone())?;
        for file in files.filter(|file| !pods.in_image.iter().any(|it| it == file)) {
            bundle.add_file(file)?;
        }
        for file in &pods.pod_file {
            bundle.add_file(file)?;
        }
        if let Some(ca) = ca {
            words.push(format!("--ca={}", bundle.add_file(ca)?));
        }
        let mut packed = Self { bundle, words, secret_words: Vec::new() };
        packed.set_variables(noted)?;
        Ok(packed)
    }

    /// The variables that were asked for.
    pub(crate) fn set_variables(&mut self, noted: &Parcel) -> Result<(), UsageError> {
        let asked =
            noted.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (name, value) in asked {
            self.bundle.set_variable(name, value)?;
        }
        Ok(())
    }

    /// A journey file as its plan, and all that goes along for it.
    pub(crate) fn journey_file(
        pods: &KubernetesFlags,
        (flags, ca, out): (&PlanFlags, Option<&Path>, &OutFlags),
        (command, not_for_pods): Said<'_>,
    ) -> Result<(Plan, Self), UsageError> {
        let shelf = Shelf::noting();
        let plan = flags.read_from(&shelf)?;
        refuse_what_pods_lack(&plan, out)?;
        out.ask_for_variables(&shelf)?;
        let mut packed = Self::of(pods, &flags.file, &shelf.into_parcel(), ca)?;
        for (name, value) in &flags.env {
            packed.bundle.set_variable(name, value)?;
        }
        let not_for_pods = [&["env", "ca"][..], not_for_pods].concat();
        packed.words.extend(words_for_pods((command, &not_for_pods))?);
        Ok((plan, packed))
    }
}

/// The flags that were given to this command, but for those that say how pods are made, and some.
pub(crate) fn words_for_pods((command, not_for_pods): Said<'_>) -> Result<Vec<String>, UsageError> {
    let mut without = own_flags();
    without.extend(["generators", "key_file", "ready_timeout"].map(str::to_owned));
    without.extend(not_for_pods.iter().map(|it| (*it).to_owned()));
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let given = flags_given(command, &without);
    refuse_passwords(&given)?;
    Ok(given)
}

/// Errs where an image is to have a file by a path that means another one in pods, or none.
pub(crate) fn refuse_unread_in_image<'a>(
    pods: &KubernetesFlags,
    files: impl Iterator<Item = &'a Path> + Clone,
) -> Result<(), UsageError> {
    let is_read = |path: &PathBuf| path.is_absolute() && files.clone().any(|it| it == path);
    match pods.in_image.iter().find(|path| !is_read(path)) {
        None => Ok(()),
        Some(path) => Err(UsageError::new(
            format!("--in-image {}: the run reads no such path", path.display()),
            "write the absolute path that the image has it at, and the same where it is read; it \
             must be on this machine too, where the run is checked",
        )),
    }
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
pub(crate) fn refuse_what_pods_lack(plan: &Plan, out: &OutFlags) -> Result<(), UsageError> {
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
pub(crate) fn names_user(text: &str) -> bool {
    let behind = text.split_once("://").map_or("", |(_, behind)| behind);
    behind.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The ports of a plan's webhooks.
pub(crate) fn webhook_ports(plan: &Plan) -> Result<Vec<u16>, UsageError> {
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
