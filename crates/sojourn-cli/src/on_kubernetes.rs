//! A run in a cluster, from this terminal: created, followed, fetched, reported.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sojourn_clock::SECOND_NS;
use sojourn_engine::{EXIT_FAILED, EXIT_INTERRUPTED, EXIT_VOID, Stop};
use sojourn_kubernetes::{
    Cluster, ClusterError, Coordinating, Ended, Events, Follow, Generators, RunName, Standing,
    Unbegun, Wanted, documents, manifests,
};

use crate::{
    errors::{EXIT_USAGE, UsageError},
    outputs,
    pause::pause,
    report_file::ReportFile,
    reported::{Reported, RunFormat},
    requirements, signals,
};

/// Exit codes of a coordinator that came to a verdict.
const VERDICTS: [u8; 4] = [0, EXIT_VOID, EXIT_INTERRUPTED, EXIT_FAILED];
/// Those of a k6 script's, of which one says that the figures lack something.
const SCRIPT_VERDICTS: std::ops::RangeInclusive<u8> = EXIT_FAILED..=110;
const SCRIPT_LACKS: u8 = 109;
/// Between two looks at a cluster.
const LOOK_NS: u64 = SECOND_NS;

/// What becomes of a run's results here.
pub(crate) struct Results<'a> {
    /// The run file to write.
    pub(crate) output: Option<&'a Path>,
    /// Further reports.
    pub(crate) reports: &'a [PathBuf],
    /// What is printed; `None`: nothing, and no page is written unless one of `reports` is one.
    pub(crate) format: Option<RunFormat>,
    /// Where an attack's records go, which are fetched instead of the run file.
    pub(crate) records: Option<&'a OsStr>,
    /// Requirements that the run must meet.
    pub(crate) nfr: Option<&'a Path>,
    /// Nothing is told meanwhile.
    pub(crate) is_quiet: bool,
}

impl Results<'_> {
    /// Errs when one of them could not be made in the end: better before the run.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        let records = self.records.filter(|to| *to != "stdout");
        records.map(created).transpose()?;
        self.reports.iter().try_for_each(|path| ReportFile::of(path).map(drop))?;
        self.nfr.map(requirements::read).transpose().map(drop)
    }
}

fn created(file: &OsStr) -> Result<File, UsageError> {
    File::create(Path::new(file)).map_err(|error| UsageError::file("open", file, &error))
}

/// Prints what would be created, as YAML.
pub(crate) fn print(wanted: &Wanted) -> Result<u8, UsageError> {
    let objects = manifests(wanted, None)?;
    outputs::print(&documents(&comment(wanted), &objects));
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

/// Creates a run, and stays with it unless that is not wanted.
pub(crate) fn start(
    cluster: &Cluster,
    wanted: &Wanted,
    results: &Results<'_>,
    is_detached: bool,
) -> Result<u8, UsageError> {
    results.check()?;
    look_first(cluster, wanted)?;
    let stop = signals::stop_cluster_on_signals();
    cluster.create(wanted)?;
    let name = &wanted.name;
    eprintln!("run       {name}, created");
    if is_detached {
        eprintln!("follow    sojourn fleet attach {name}\nstop      sojourn fleet stop {name}");
        println!("{name}");
        return Ok(0);
    }
    let begin_ns = wanted.times.ready_s * SECOND_NS;
    let has_files = wanted.command == Coordinating::Scripts;
    let generators = Generators { count: wanted.generators, is_owned: true, has_files };
    Attached { cluster, name, generators, begin_ns, is_ours: true }.stay(results, &stop)
}

/// Everything that can be known before anything is created.
fn look_first(cluster: &Cluster, wanted: &Wanted) -> Result<(), UsageError> {
    let version = cluster.version()?;
    let namespace = cluster.namespace()?;
    eprintln!("cluster   Kubernetes {version}, namespace {namespace}");
    let denied = cluster.denied(&namespace, wanted)?;
    if !denied.is_empty() {
        let denied: Vec<String> = denied
            .iter()
            .map(|it| {
                let reason = it.reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
                format!("  {} {}{reason}", it.verb, it.resource)
            })
            .collect();
        return Err(UsageError::new(
            format!("in namespace {namespace} you may not\n{}", denied.join("\n")),
            format!(
                "who administers it can allow that: sojourn fleet role --namespace {namespace} \
                 --user YOU | kubectl apply -f -"
            ),
        ));
    }
    for warning in cluster.try_create(&namespace, wanted)? {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// A run that somebody stays with.
pub(crate) struct Attached<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) name: &'a RunName,
    pub(crate) generators: Generators,
    /// How long the coordinator may take to begin.
    pub(crate) begin_ns: u64,
    /// Whether this process created it, so that one that never begins is its to delete.
    pub(crate) is_ours: bool,
}

impl Attached<'_> {
    /// Follows it to its end, fetches and reports; the exit code.
    pub(crate) fn stay(&self, results: &Results<'_>, stop: &Stop) -> Result<u8, UsageError> {
        let is_quiet = results.is_quiet;
        let say: Events = Arc::new(move |line| {
            if !is_quiet {
                eprintln!("{line}");
            }
        });
        let mut follow =
            Follow::new(self.cluster, self.name, self.generators.count, self.begin_ns, say);
        let mut telling = Telling::default();
        let ended = loop {
            let is_to_end = stop.graceful();
            if stop.at_once() || (is_to_end && self.has_nobody_to_tell(&mut telling)) {
                self.delete();
                return Ok(EXIT_INTERRUPTED);
            }
            let looked = follow.look().map_err(|error| self.left_alone(&error.to_string()))?;
            match looked {
                Some(ended) => break ended,
                // Until the next look, or until something else is asked for.
                None => pause(LOOK_NS, || stop.at_once() || stop.graceful() != is_to_end),
            }
        };
        drop(follow);
        match ended {
            Ended::Coordinator { code: EXIT_USAGE, without, .. }
                if self.is_ours && !without.is_empty() =>
            {
                Err(self.never_began(&without))
            }
            Ended::Coordinator { code, reason, .. } => self.finish(code, &reason, results),
            Ended::Gone => Ok(self.gone()),
            Ended::NeverBegan(who) => Err(self.never_began(&[who])),
        }
    }

    /// Says why a run could not begin, and deletes it where it was created here: left alone, pods
    /// that wait for room would come when nobody needs them, or have machines bought for them.
    fn never_began(&self, who: &[Unbegun]) -> UsageError {
        let hint = if self.is_ours {
            self.delete();
            "nothing was loaded, and everything is deleted again".to_owned()
        } else {
            format!(
                "nothing was loaded so far, and it is left as it is; `sojourn fleet delete {}` \
                 takes it away",
                self.name
            )
        };
        let who: Vec<_> = who
            .iter()
            .map(|Unbegun { who, why }| format!("{who} of {} never began: {why}", self.name))
            .collect();
        UsageError::new(who.join("\n"), hint)
    }

    /// Tells the coordinator to end gracefully, unless it has been told. True where the cluster
    /// says that there is none yet: then nothing has been measured. Whatever else keeps it from
    /// being told may pass, and is no reason to delete a run with its results.
    fn has_nobody_to_tell(&self, telling: &mut Telling) -> bool {
        if telling.is_told {
            return false;
        }
        let Err(error) = self.cluster.stop(self.name) else {
            telling.is_told = true;
            return false;
        };
        let seen = self.cluster.look(self.name).map(|seen| seen.coordinator);
        let is_none = match seen {
            Ok(coordinator) => coordinator
                .is_none_or(|it| matches!(it.standing, Standing::Pending(_) | Standing::Stuck(_))),
            Err(_) => false,
        };
        let complaint = error.to_string();
        if !is_none && telling.complaint != complaint {
            eprintln!("the coordinator could not be told to end, which is tried again: {error}");
            telling.complaint = complaint;
        }
        is_none
    }

    /// Fetches what an ended coordinator left, and reports on it.
    fn finish(&self, code: u8, reason: &str, results: &Results<'_>) -> Result<u8, UsageError> {
        if code == EXIT_USAGE {
            self.say_how_to_look();
            self.release();
            return Ok(code);
        }
        let has_files = self.generators.has_files;
        let is_verdict = VERDICTS.contains(&code) || (has_files && SCRIPT_VERDICTS.contains(&code));
        if !is_verdict {
            eprintln!("void: the coordinator ended with {code} ({reason}) before its run did");
        }
        let fetched = match results.records {
            Some(to) => self.hand_records(to).map(|()| None),
            None if has_files => self.hand_files().map(|()| None),
            None => self.report(results).map(Some),
        };
        let code = match fetched {
            // A deleted pod's coordinator ends as it was told to, which may be seen before it goes.
            Err(_) if self.is_gone() => return Ok(self.gone()),
            Ok(reported) if is_verdict => reported.map_or(code, |it| it.code(code)),
            Ok(_) => EXIT_VOID,
            Err(error) if is_verdict => return Err(error),
            Err(error) => {
                // One that was evicted or killed may have left nothing. If it is the way there that
                // fails, whoever comes later finds it: it is not released.
                eprintln!("{error}");
                self.say_how_to_look();
                return Ok(EXIT_VOID);
            }
        };
        let is_void = code == EXIT_VOID || (has_files && code == SCRIPT_LACKS);
        if is_void {
            self.say_how_to_look();
        }
        if is_void || !self.generators.is_owned {
            self.release();
        }
        if !is_void {
            self.delete();
        }
        Ok(code)
    }

    /// Whether the coordinator's pod is no longer there, or on its way.
    fn is_gone(&self) -> bool {
        let seen = self.cluster.look(self.name);
        seen.is_ok_and(|seen| seen.coordinator.is_none_or(|pod| pod.is_leaving))
    }

    /// Says so; the exit code.
    fn gone(&self) -> u8 {
        eprintln!("void: the coordinator's pod is gone, and the run's results with it");
        self.say_how_to_look();
        EXIT_VOID
    }

    /// Prints what the coordinator of a k6 script has printed, and writes here what it has written.
    pub(crate) fn hand_files(&self) -> Result<(), UsageError> {
        let failed = |error: ClusterError| {
            UsageError::new(
                format!("what the test came to could not be fetched: {error}"),
                format!("it is kept for a while: sojourn fleet report {}", self.name),
            )
            .with_code(EXIT_VOID)
        };
        let mut to = outputs::while_read(std::io::stdout());
        self.cluster.fetch_printed(self.name, &mut to).map_err(failed)?;
        let packed = self.cluster.fetch_files(self.name).map_err(failed)?;
        for file in sojourn_kubernetes::pod::unpack(&packed[..], Path::new("."))? {
            eprintln!("file      {}", file.display());
        }
        Ok(())
    }

    /// Fetches the records of an attack to where they are wanted.
    fn hand_records(&self, to: &OsStr) -> Result<(), UsageError> {
        let to: Box<dyn Write + Send> = match to.to_str() {
            Some("stdout") => Box::new(outputs::while_read(std::io::stdout())),
            _ => Box::new(created(to)?),
        };
        let mut to = std::io::BufWriter::new(to);
        self.cluster.fetch_records(self.name, &mut to).map_err(|error| {
            UsageError::new(
                format!("the records could not be fetched whole: {error}"),
                format!(
                    "its run file is kept for a while: sojourn fleet report {}; ask for fewer \
                     bytes of each by -max-body 0",
                    self.name
                ),
            )
            .with_code(EXIT_VOID)
        })
    }

    /// Fetches the run file, and makes the reports that are wanted.
    pub(crate) fn report(&self, results: &Results<'_>) -> Result<Reported, UsageError> {
        let wanted = results.nfr.map(requirements::read).transpose()?;
        let usual = PathBuf::from(format!("reports/{}.sojourn", self.name));
        let path = results.output.unwrap_or(&usual);
        let run_file = outputs::run_file(Some(path), "", "")?;
        self.cluster.fetch(self.name, &run_file).map_err(|error| {
            UsageError::new(
                format!("the run file could not be fetched: {error}"),
                format!("it is kept for a while: sojourn fleet report {}", self.name),
            )
            .with_code(sojourn_engine::EXIT_VOID)
        })?;
        let reported = Reported::held_against(&run_file, wanted.as_ref())?;
        if let Some(format) = results.format {
            reported.print(format)?;
        }
        eprintln!("run file  {}", run_file.display());
        let beside = results.format.map(|_| run_file.with_extension("html"));
        let reports: &[PathBuf] =
            if results.reports.is_empty() { beside.as_slice() } else { results.reports };
        for report in reports {
            eprintln!("report    {}", reported.write(report)?.display());
        }
        Ok(reported)
    }

    /// Deletes the run, unless it was created of printed manifests: then it is whose they are.
    fn delete(&self) {
        if !self.generators.is_owned {
            eprintln!("delete    {}", self.cluster.delete_unowned_words(self.name));
            return;
        }
        match self.cluster.delete(self.name) {
            Ok(_) => eprintln!("run       {}, deleted", self.name),
            Err(error) => eprintln!("warning: {error}; `sojourn fleet delete {}`", self.name),
        }
    }

    /// Lets the pod end, so that its time to live begins.
    fn release(&self) {
        if let Err(error) = self.cluster.release(self.name) {
            eprintln!("warning: the results are kept for a while longer: {error}");
        }
    }

    fn say_how_to_look(&self) {
        let (kubectl, name) = (self.cluster.kubectl().shown(), self.name);
        eprintln!(
            "look      {kubectl} get pods -l app.kubernetes.io/instance={name} -o wide\n\
             look      {kubectl} logs -l app.kubernetes.io/instance={name} --prefix --tail=50\n\
             look      {kubectl} get events --sort-by=.lastTimestamp\n\
             delete    sojourn fleet delete {name}"
        );
    }

    fn left_alone(&self, error: &str) -> UsageError {
        UsageError::new(
            format!("{error}; nobody was heard of for minutes, and the run goes on without us"),
            format!("sojourn fleet attach {}", self.name),
        )
    }
}

/// What has become of telling a coordinator to end.
#[derive(Default)]
struct Telling {
    is_told: bool,
    /// Why it could not be, as it was said last.
    complaint: String,
}

#[cfg(test)]
mod tests {
    use sojourn_kubernetes::Kubectl;

    use super::*;

    /// Somebody else may be waiting for it.
    #[test]
    fn a_run_that_never_began_is_deleted_by_who_created_it_alone() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes/kubectl.sh");
        let name = RunName::parse("pay-1").unwrap();
        for is_ours in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("owned.json"), "{}").unwrap();
            let cluster = Cluster::new(Kubectl {
                program: Some(script.clone()),
                context: Some(folder.path().display().to_string()),
                namespace: None,
            });
            let generators = Generators { count: 2, is_owned: true, has_files: false };
            let attached =
                Attached { cluster: &cluster, name: &name, generators, begin_ns: 0, is_ours };
            let results = Results {
                output: None,
                reports: &[],
                format: Some(RunFormat::Text),
                records: None,
                nfr: None,
                is_quiet: true,
            };
            let error = attached.stay(&results, &Stop::default()).unwrap_err();
            assert!(error.to_string().contains("never began: ImagePullBackOff"), "{error}");
            assert_eq!(folder.path().join("deleted").exists(), is_ours);
        }
    }
}
