//! `sojourn fleet attach` and `report`: a run that somebody else began, or this user earlier.

use std::path::PathBuf;

use sojourn_clock::SECOND_NS;
use sojourn_kubernetes::{Generators, RunName, Standing};

use super::{name, no_run};
use crate::{
    errors::UsageError,
    kubernetes_flags::ClusterFlags,
    on_kubernetes::{Attached, Results},
    reported::RunFormat,
    signals,
};

/// How long the coordinator of a run that is there may take to begin.
const BEGIN_NS: u64 = 300 * SECOND_NS;

/// Follow a run to its end, as if this terminal had begun it
#[derive(Debug, clap::Args)]
pub(crate) struct Attach {
    /// Name of the run
    #[arg(value_name = "RUN", value_parser = name)]
    name: RunName,
    /// Run file to write [default: reports/RUN.sojourn]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Further reports, by ending, as of `sojourn run`; repeatable
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    format: RunFormat,
    /// Requirements (YAML) that the run must meet
    #[arg(long, value_name = "FILE")]
    nfr: Option<PathBuf>,
    /// Nothing on the terminal while the run goes on
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    cluster: ClusterFlags,
}

impl Attach {
    fn results(&self) -> Results<'_> {
        Results {
            output: self.output.as_deref(),
            reports: &self.report,
            format: Some(self.format),
            records: None,
            nfr: self.nfr.as_deref(),
            is_quiet: self.quiet,
        }
    }

    /// Errs for what is made of a run file, where there is none.
    fn refuse_what_is_of_run_files(&self, generators: Generators) -> Result<(), UsageError> {
        let is_asked = self.output.is_some() || !self.report.is_empty() || self.nfr.is_some();
        match generators.has_files && is_asked {
            false => Ok(()),
            true => Err(UsageError::new(
                format!(
                    "{} is a run of a k6 script, which has a summary and no run file",
                    self.name
                ),
                "leave --output, --report and --nfr out: the summary is printed, and files that \
                 the test has written are written here",
            )),
        }
    }
}

/// Follows it.
pub(super) fn attach(command: &Attach) -> Result<u8, UsageError> {
    let results = command.results();
    results.check()?;
    let cluster = command.cluster.cluster();
    let generators = cluster.generators(&command.name)?.ok_or_else(|| no_run(&command.name))?;
    command.refuse_what_is_of_run_files(generators)?;
    let (name, begin_ns) = (&command.name, BEGIN_NS);
    let attached = Attached { cluster: &cluster, name, generators, begin_ns, is_ours: false };
    attached.stay(&results, &signals::stop_cluster_on_signals())
}

/// Fetches and reports; nothing of the run is deleted.
pub(super) fn report(command: &Attach) -> Result<u8, UsageError> {
    let results = command.results();
    results.check()?;
    let cluster = command.cluster.cluster();
    let coordinator = cluster.look(&command.name)?.coordinator;
    let coordinator = coordinator.ok_or_else(|| no_run(&command.name))?;
    let Standing::Ended { code, .. } = coordinator.standing else {
        return Err(UsageError::new(
            format!("the coordinator of {} is {}", command.name, coordinator.standing),
            format!("sojourn fleet attach {} waits for its end", command.name),
        ));
    };
    let has_files = cluster.generators(&command.name)?.is_some_and(|it| it.has_files);
    let generators = Generators { count: 0, is_owned: false, has_files };
    command.refuse_what_is_of_run_files(generators)?;
    let name = &command.name;
    let attached = Attached { cluster: &cluster, name, generators, begin_ns: 0, is_ours: false };
    if has_files {
        attached.hand_files()?;
        return Ok(code);
    }
    Ok(attached.report(&results)?.stored_code())
}
