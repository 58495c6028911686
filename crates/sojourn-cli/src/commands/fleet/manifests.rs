//! `sojourn fleet manifests`: what a run in a cluster would create, as YAML.

use sojourn_kubernetes::{Wanted, documents, manifests};

use crate::{
    errors::UsageError,
    kubernetes_flags::KubernetesFlags,
    out_flags::OutFlags,
    outputs,
    plan_flags::PlanFlags,
    runner::{KeepFlags, MachineFlags},
};

/// Print what `run --on kubernetes` would create, as YAML: for review, kustomize and GitOps
///
/// The Secret has the plan's files, its variables and the join key as they are: keep it as you keep
/// other secrets. Each run needs a --run-name of its own, or the objects of the one before deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn fleet manifests journey.yaml --generators 8 --namespace load | kubectl create -f -
  sojourn fleet manifests journey.yaml --generators 8 --run-name nightly > base/run.yaml")]
pub(crate) struct Manifests {
    #[command(flatten)]
    plan: PlanFlags,
    /// How many generators
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    generators: u32,
    /// Namespace to write into them [default: none, whoever creates them says]
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// One journey of each kind instead of the load
    #[arg(long = "once")]
    _once: bool,
    #[command(flatten)]
    keep: KeepFlags,
    #[command(flatten)]
    out: OutFlags,
    #[command(flatten)]
    machine: MachineFlags,
    #[command(flatten)]
    kubernetes: KubernetesFlags,
}

/// Prints them.
pub(super) fn run(command: &Manifests) -> Result<u8, UsageError> {
    let asked = (&command.plan, command.machine.ca.as_deref(), &command.out);
    let said: (&[&str], &[&str]) = (&["fleet", "manifests"], &["generators", "quiet"]);
    let wanted = command.kubernetes.wanted(asked, command.generators, said)?;
    let wanted = Wanted { namespace: command.namespace.clone(), ..wanted };
    let objects = manifests(&wanted, None)?;
    outputs::print(&documents(&comment(&wanted), &objects));
    Ok(0)
}

/// What somebody should know who finds the file.
fn comment(wanted: &Wanted) -> String {
    let Wanted { name, generators, .. } = wanted;
    let label = format!("app.kubernetes.io/instance={name}");
    format!(
        "A run of sojourn with {generators} generators. All of its objects and pods have the\n\
         label {label}. `sojourn run --on kubernetes` also makes the Job\n\
         {name} the owner of all others, which needs the uid that the cluster\n\
         gives it. Without that:\n\n\
         \x20 kubectl create -f THIS\n\
         \x20 sojourn fleet attach {name}\n\
         \x20 kubectl delete job,service,secret,networkpolicy -l {label}"
    )
}
