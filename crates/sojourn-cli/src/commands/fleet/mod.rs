//! `sojourn fleet`: runs on a Kubernetes cluster.

mod attach;
mod in_pod;
mod manifests;
mod role;
mod status;

use sojourn_kubernetes::RunName;

use crate::{errors::UsageError, kubernetes_flags::ClusterFlags};

/// Runs on a Kubernetes cluster: their manifests, and those that go on
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn fleet manifests journey.yaml --generators 8 > run.yaml     what --on would create
  sojourn fleet role --namespace load --group testers                what that needs
  sojourn fleet status                                               the runs that there are
  sojourn fleet attach payments-1f00ab12                             follow one to its report
  sojourn fleet stop payments-1f00ab12
  sojourn fleet report payments-1f00ab12 --report page.html
  sojourn fleet delete payments-1f00ab12

`sojourn run journey.yaml --on kubernetes --generators 8` creates runs. The guide is
docs/fleet.md.")]
pub(crate) struct Fleet {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Manifests(Box<manifests::Manifests>),
    Role(role::RoleCommand),
    Attach(attach::Attach),
    Status(status::Status),
    /// Tell a run to end gracefully, as Ctrl-C does; who is attached gets its report
    Stop(Named),
    /// Fetch the results of a run that has ended, and report on them
    Report(attach::Attach),
    /// Delete a run with all of its objects, whether it has ended or not
    Delete(Named),
    #[command(flatten)]
    InPod(in_pod::InPod),
}

/// A run, by its name.
#[derive(Debug, clap::Args)]
struct Named {
    /// Name of the run
    #[arg(value_name = "RUN", value_parser = name)]
    name: RunName,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Does what is asked.
pub(crate) fn run(command: &Fleet) -> Result<u8, UsageError> {
    match &command.what {
        What::Manifests(command) => manifests::run(command),
        What::Role(command) => role::run(command),
        What::Attach(command) => attach::attach(command),
        What::Status(command) => status::run(command),
        What::Stop(named) => {
            named.cluster.cluster().stop(&named.name)?;
            eprintln!("run       {}, told to end", named.name);
            Ok(0)
        }
        What::Report(command) => attach::report(command),
        What::Delete(named) => delete(named),
        What::InPod(command) => in_pod::run(command),
    }
}

fn delete(named: &Named) -> Result<u8, UsageError> {
    let (cluster, name) = (named.cluster.cluster(), &named.name);
    let is_owned = cluster.generators(name)?.is_none_or(|generators| generators.is_owned);
    if is_owned {
        if !cluster.delete(name)? {
            return Err(no_run(name));
        }
    } else {
        cluster.delete_unowned(name)?;
    }
    eprintln!("run       {name}, deleted");
    Ok(0)
}

fn name(text: &str) -> Result<RunName, String> {
    RunName::parse(text).map_err(|error| error.to_string())
}

fn no_run(name: &RunName) -> UsageError {
    UsageError::new(
        format!("there is no run {name} in this namespace"),
        "`sojourn fleet status` lists them; --namespace and --context say where",
    )
}
