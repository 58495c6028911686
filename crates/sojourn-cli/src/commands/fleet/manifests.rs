//! `sojourn fleet manifests`: what a run in a cluster would create, as YAML.

use sojourn_kubernetes::{Coordinating, Wanted};

use crate::{
    errors::UsageError,
    for_pods::Packed,
    kubernetes_flags::{Asked, KubernetesFlags, Outline, TermsFlags},
    on_kubernetes,
    out_flags::OutFlags,
    plan_flags::PlanFlags,
    runner::{KeepFlags, MachineFlags},
};

/// Print what `run --on kubernetes` would create, as YAML: for review, kustomize and GitOps
///
/// The Secret has the plan's files, its variables and the join key as they are: keep it as you keep
/// other secrets. Each run needs a --run-name of its own, or the objects of the one before deleted.
/// For scripts and attacks, add --manifests to `run --on kubernetes` and `attack -on
/// kubernetes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn fleet manifests journey.yaml --generators 8 --namespace load | kubectl create -f -
  sojourn fleet manifests journey.yaml --generators 8 --run-name nightly > base/run.yaml
  sojourn attack -targets t.txt -duration 60s -on kubernetes -generators 8 -manifests > run.yaml")]
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
    #[command(flatten)]
    terms: TermsFlags,
}

/// Prints them.
pub(super) fn run(command: &Manifests) -> Result<u8, UsageError> {
    let asked = (&command.plan, command.machine.ca.as_deref(), &command.out);
    let said: (&[&str], &[&str]) = (&["fleet", "manifests"], &["quiet"]);
    let (plan, packed) = Packed::journey_file(&command.kubernetes, asked, said)?;
    let (generators, terms) = (command.generators, command.terms.terms());
    let kind = Coordinating::Journeys;
    let outline = Outline::of(&plan)?;
    let asked = Asked { outline, generators, command: kind, packed, terms };
    let wanted = command.kubernetes.wanted(asked)?;
    on_kubernetes::print(&Wanted { namespace: command.namespace.clone(), ..wanted })
}
