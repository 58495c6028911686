//! A run from a plan: what `run` and `demo` share.

use std::path::{Path, PathBuf};

use sojourn_engine::{KeepBounds, Processes, Progress, RunError, RunOptions, Stop, exit_code};
use sojourn_plan::Plan;
use sojourn_record::Summary;

use crate::{
    connectors::registry,
    control,
    display::{self, Beside, Shown, ShownFlags},
    errors::UsageError,
    on_kubernetes::Results,
    out_flags::OutFlags,
    outputs,
    report_file::ReportFile,
    reported::{Reported, RunFormat},
    requirements,
    shelf::Shelf,
    watchers::Watchers,
    web,
};

/// Flags of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunFlags {
    /// Run file to write [default: reports/NAME-RUNID.sojourn]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Further reports, by ending: .html, .md, .txt, .json, .xml (JUnit), .csv and .hlog (second by
    /// second), .ndjson (the kept journeys, one a line), or OUT=FILE.tmpl by a template of your
    /// own; repeatable [default: an .html beside the run file]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = RunFormat::Text)]
    pub(crate) format: RunFormat,
    /// Requirements (YAML) that the run must meet; if it does not, the exit code is that of a
    /// threshold that fails
    #[arg(long, value_name = "FILE")]
    pub(crate) nfr: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) out: OutFlags,
    #[command(flatten)]
    pub(crate) keep: KeepFlags,
    #[command(flatten)]
    pub(crate) shown: ShownFlags,
    #[command(flatten)]
    pub(crate) machine: MachineFlags,
}

impl RunFlags {
    /// What becomes here of the results of a run that is made elsewhere.
    pub(crate) fn results(&self) -> Results<'_> {
        Results {
            output: self.output.as_deref(),
            reports: &self.report,
            format: Some(self.format),
            records: None,
            nfr: self.nfr.as_deref(),
            is_quiet: self.machine.quiet,
        }
    }
}

/// How this machine makes load.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MachineFlags {
    /// Generator threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) threads: u32,
    /// Most connections per target and generator thread
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub(crate) connections: usize,
    /// What generators wait and move bytes with
    #[arg(long, value_enum, default_value_t = IoFlag::Auto, value_name = "WAY")]
    pub(crate) io: IoFlag,
    /// How late arrivals may begin so that several begin at one wake-up, as `1ms`: saves processor
    /// time at high rates, and shows as lag; 0s: not at all [default: 100us where arrivals come at
    /// 5,000/s or more on a thread, else 0s]. Where all loads are closed, over HTTP/2: how late
    /// answers may be looked at so that several are read at once [default: 500us]
    #[arg(long, value_parser = sojourn_plan::duration_ns, value_name = "D")]
    pub(crate) lag_budget: Option<u64>,
    /// Generators never sleep: they look for answers and due arrivals again and again. No wake-up
    /// is late then, and each thread takes a whole core; for accuracy tests
    #[arg(long)]
    pub(crate) spin: bool,
    /// Certificates (PEM) trusted besides the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Do not verify servers' certificates (said in the report)
    #[arg(long)]
    pub(crate) insecure: bool,
    /// No screen while the run goes on: one plain line of progress; --live off leaves that out too
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl MachineFlags {
    /// Options of a run that leaves this run file, if any.
    pub(crate) fn options(&self, run_file: Option<PathBuf>, run_id: String) -> RunOptions {
        let mut options = RunOptions::new(run_file, run_id);
        options.threads = self.threads;
        options.client.connections_max = self.connections;
        options.client.tls.ca_file.clone_from(&self.ca);
        options.client.tls.insecure = self.insecure;
        options.lag_budget_ns = self.lag_budget;
        options.client.io = self.io.into();
        options.client.spin = self.spin;
        options
    }

    /// The same of a process that makes load, whose files are on this shelf.
    pub(crate) fn options_from(
        &self,
        shelf: &Shelf,
        run_id: String,
    ) -> Result<RunOptions, UsageError> {
        let mut options = self.options(None, run_id);
        options.client.tls.ca_file =
            self.ca.as_deref().map(|path| shelf.path_of(path)).transpose()?;
        Ok(options)
    }
}

/// What generators wait and move bytes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum IoFlag {
    /// io_uring where the kernel allows it, else epoll; the report says which
    Auto,
    /// epoll: works everywhere
    Epoll,
    /// io_uring (Linux 6.0 or later), or an error where it is forbidden
    Ring,
}

impl From<IoFlag> for sojourn_http::Io {
    fn from(flag: IoFlag) -> Self {
        match flag {
            IoFlag::Auto => Self::Auto,
            IoFlag::Epoll => Self::Epoll,
            IoFlag::Ring => Self::Ring,
        }
    }
}

/// Which journeys the run file keeps with their whole timeline.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KeepFlags {
    /// Journeys kept with their whole timeline: the telling ones, or all of them
    #[arg(long, value_enum, default_value_t = Keep::Telling)]
    pub(crate) keep: Keep,
    /// Slowest journeys kept, of each kind
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) keep_slowest: u32,
    /// Most journeys kept of each class that is kept whole: lost, failed, late, duplicated, out of
    /// order; those beyond it are counted
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub(crate) keep_each: u64,
    /// Hold this much of the latest messages, such as 16MB, and keep those of kept journeys
    /// (headers that look like secrets hidden, bodies cut to 1 KiB) [default: none is kept]
    #[arg(long, value_name = "SIZE", value_parser = sojourn_plan::bytes)]
    pub(crate) keep_messages: Option<usize>,
}

impl KeepFlags {
    fn apply(&self, options: &mut RunOptions) {
        options.keep_all = self.keep == Keep::All;
        options.keep = KeepBounds {
            slowest: self.keep_slowest as usize,
            each_max: self.keep_each,
            messages_bytes: self.keep_messages.unwrap_or(0),
        };
    }
}

/// Which journeys' timelines the run file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Keep {
    /// The lost, failed, late, duplicated and out-of-order ones, the slowest, and a sample
    Telling,
    /// Every one: an audit
    All,
}

/// A report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people, in a terminal
    Text,
    /// For programs
    Json,
    /// For browsers
    Html,
}

impl Format {
    /// The one that a file's name asks for by its ending.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Self::Html),
            "json" => Some(Self::Json),
            "txt" | "text" => Some(Self::Text),
            _ => None,
        }
    }
}

/// What is special about a run.
#[derive(Debug, Default)]
pub(crate) struct How {
    /// One journey of each kind instead of the load.
    pub(crate) once: bool,
    /// Everything is told on standard error.
    pub(crate) debug: bool,
    /// Something else writes on standard error while the run goes on.
    pub(crate) speaks: bool,
    /// Generators in processes of their own.
    pub(crate) processes: Option<Processes>,
    /// Which of several runs it is; empty where it is the only one.
    pub(crate) of: String,
}

/// What became of a run.
pub(crate) struct Made {
    pub(crate) code: u8,
    pub(crate) run_file: PathBuf,
    pub(crate) reports: Vec<PathBuf>,
}

/// Makes a run and its reports.
pub(crate) fn make(
    plan: &Plan,
    flags: &RunFlags,
    how: How,
    stop: &Stop,
) -> Result<Made, UsageError> {
    make_with(plan, flags, how, &mut |options, progress| {
        sojourn_engine::run(plan, options, &registry(), stop, progress)
    })
}

/// What makes a run: its options, and who is told how it goes.
pub(crate) type Conduct<'a> =
    &'a mut dyn FnMut(&RunOptions, &mut dyn FnMut(&Progress<'_>)) -> Result<Summary, RunError>;

/// The same of a run that `conduct` makes.
pub(crate) fn make_with(
    plan: &Plan,
    flags: &RunFlags,
    how: How,
    conduct: Conduct<'_>,
) -> Result<Made, UsageError> {
    for path in &flags.report {
        ReportFile::of(path)?;
    }
    let wanted = flags.nfr.as_deref().map(requirements::read).transpose()?;
    let run_id = run_id();
    let run_file = outputs::run_file(flags.output.as_deref(), &plan.name, &run_id)?;
    let mut options = flags.machine.options(Some(run_file.clone()), run_id);
    options.once = how.once;
    options.processes = how.processes;
    flags.keep.apply(&mut options);
    let narration = how.debug.then(|| narrate(&mut options));
    for warning in &plan.warnings {
        eprintln!("warning: {warning}");
    }
    let mut watchers = Watchers::default();
    let run = (options.run_id.as_str(), plan);
    flags.out.watch(&mut watchers, run, flags.machine.ca.clone())?;
    let beside = Beside {
        is_silent: how.debug,
        wants_line: flags.machine.quiet || how.speaks || how.once,
        ..Beside::default()
    };
    let control = control::listen(plan, &options.run_id, &options.rate);
    let web = flags.shown.web.as_deref();
    let web = web.map(|address| web::open(address, Some(&run_file))).transpose()?;
    let of = how.of;
    let asked = Shown { live: flags.shown.live, web, beside, of, ..Shown::default() };
    display::show(&mut watchers, asked, plan, &options.rate)?;
    watchers.listen(&mut options);
    let summary = conduct(&options, &mut |progress| watchers.second(progress));
    watchers.end();
    drop(control);
    drop(options);
    if let Some(thread) = narration {
        // It ends when the last sender is gone.
        let _ignored = thread.join();
    }
    let summary = summary?;
    let reported = Reported::held_against(&run_file, wanted.as_ref())?;
    reported.print(flags.format)?;
    let asked =
        if flags.report.is_empty() { vec![page_beside(&run_file)] } else { flags.report.clone() };
    let reports = asked.iter().map(|report| reported.write(report)).collect::<Result<_, _>>()?;
    Ok(Made { code: reported.code(exit_code(&summary)), run_file, reports })
}

/// Says where everything is.
pub(crate) fn say_where(made: &Made) {
    eprintln!("run file  {}", made.run_file.display());
    for report in &made.reports {
        eprintln!("report    {}", report.display());
    }
}

/// Tells every request, event and decision on standard error, on a thread of its own.
fn narrate(options: &mut RunOptions) -> std::thread::JoinHandle<()> {
    let (sender, receiver) = crossbeam_channel::bounded::<String>(10_000);
    options.narrator = Some(sender);
    let start_ns = sojourn_clock::now_ns();
    std::thread::spawn(move || {
        for words in receiver {
            let at_ms = (sojourn_clock::now_ns() - start_ns) as f64 / 1e6;
            eprintln!("{at_ms:>10.2} ms  {}", words.trim_end().replace('\n', "\n               "));
        }
    })
}

fn page_beside(run_file: &Path) -> PathBuf {
    run_file.with_extension("html")
}

/// The time and eight random digits: sorts by age, and is unique enough for a run marker.
pub(crate) fn run_id() -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("{now}-{}", &random[..8])
}
