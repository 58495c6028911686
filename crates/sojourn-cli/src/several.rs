//! Several runs one after the other, under one Ctrl-C: what searches, sweeps and rehearsals share.

use std::{
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use sojourn_engine::{Progress, Stop, exit_code};
use sojourn_plan::Plan;
use sojourn_record::RunFile;
use sojourn_report::{ReportModel, RunLine};

use crate::{
    connectors::registry,
    display::{self, Beside, Shown, ShownFlags},
    errors::UsageError,
    outputs,
    pause::pause,
    runner::{Format, MachineFlags, run_id},
    signals,
    watchers::Watchers,
    web::{self, WebSink},
};

/// Why keys leave the rate alone.
const FIXED_RATE: &str = "each run has the rate that it is there for";

/// Where reports of several runs go, and their run files.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SeveralFlags {
    /// Folder in which the runs' files are kept [default: they are removed]
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Further reports, by ending: .html, .json, .txt [default: an .html in reports/]
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    shown: ShownFlags,
    #[command(flatten)]
    machine: MachineFlags,
}

/// Runs to be made one after the other.
pub(crate) struct Several<'a> {
    flags: &'a SeveralFlags,
    folder: Folder,
    /// One dashboard for all of them.
    web: Option<WebSink>,
    /// Asked for by signals: no further run.
    pub(crate) stop: Stop,
    name: String,
    made: usize,
}

/// A run that has been made.
pub(crate) struct Done {
    pub(crate) code: u8,
    pub(crate) run: RunFile,
    pub(crate) model: ReportModel,
    /// Its line in the report of all.
    pub(crate) line: RunLine,
}

impl<'a> Several<'a> {
    /// Checks where things go, before the first run. `kind` is a word for files: `search`.
    pub(crate) fn new(flags: &'a SeveralFlags, kind: &str) -> Result<Self, UsageError> {
        for path in &flags.report {
            outputs::check_name(path)?;
        }
        let folder = Folder::make(flags.runs.as_deref(), kind)?;
        let web = flags.shown.web.as_deref();
        let web =
            web.map(|address| web::open(address, Some(&folder.path.join(kind)))).transpose()?;
        let stop = signals::stop_several_on_signals();
        Ok(Self { flags, folder, web, stop, name: kind.to_owned(), made: 0 })
    }

    /// Whether nothing but the reports is to be printed.
    pub(crate) fn say(&self, words: &str) {
        if !self.flags.machine.quiet {
            eprintln!("{words}");
        }
    }

    /// Makes a run; `of` says on displays and before each line of progress which one it is.
    /// `is_enough` is asked every second whether the load may end.
    pub(crate) fn make(
        &mut self,
        plan: &Plan,
        of: &str,
        is_enough: &dyn Fn(&Progress<'_>) -> bool,
    ) -> Result<Done, UsageError> {
        self.made += 1;
        let run_id = run_id();
        let file =
            self.folder.path.join(format!("{}-{:02}-{run_id}.sojourn", self.name, self.made));
        let mut options = self.flags.machine.options(Some(file.clone()), run_id);
        let mut watchers = Watchers::default();
        self.web.iter().for_each(|web| web.begin(&file));
        let shown = Shown {
            live: self.flags.shown.live,
            web: self.web.clone(),
            beside: Beside { wants_line: self.flags.machine.quiet, ..Beside::default() },
            of: of.to_owned(),
            fixed_rate: Some(FIXED_RATE),
        };
        display::show(&mut watchers, shown, plan, &options.rate)?;
        watchers.listen(&mut options);
        // Its own, since ending one run early is not stopping them all.
        let own = Stop::default();
        let mut ended = false;
        let summary = sojourn_engine::run(plan, &options, &registry(), &own, &mut |progress| {
            if self.stop.graceful() && !own.graceful() || self.stop.at_once() && !own.at_once() {
                own.request();
            }
            if !ended && is_enough(progress) {
                ended = true;
                own.request();
            }
            watchers.second(progress);
        });
        watchers.end();
        let summary = summary?;
        let run = RunFile::open(&file)?;
        let model = ReportModel::from_run(&run);
        let kept = self.folder.is_kept.then(|| file.display().to_string());
        let line = RunLine::new(&run, &model, kept);
        Ok(Done { code: exit_code(&summary), run, model, line })
    }

    /// Waits, unless it is to stop.
    pub(crate) fn pause(&self, seconds: f64) {
        pause((seconds * 1e9) as u64, || self.stop.graceful());
    }

    /// Prints and writes the report; `render` makes it in a format, with colour or without.
    pub(crate) fn publish(
        &self,
        name: &str,
        render: &dyn Fn(Format, bool) -> Result<String, UsageError>,
    ) -> Result<(), UsageError> {
        outputs::print(&render(self.flags.format, outputs::wants_colour())?);
        let usual = vec![outputs::beside_reports(name, &self.name, "html")?];
        let reports = if self.flags.report.is_empty() { &usual } else { &self.flags.report };
        for path in reports {
            // Names were checked before the first run.
            let format = Format::of_name(path).unwrap_or(Format::Text);
            outputs::write(path, &render(format, false)?)?;
            eprintln!("report    {}", path.display());
        }
        if self.folder.is_kept {
            eprintln!("run files {}", self.folder.path.display());
        }
        Ok(())
    }
}

/// A folder of run files: kept, or removed with all that is in it.
struct Folder {
    path: PathBuf,
    is_kept: bool,
}

impl Folder {
    fn make(asked: Option<&Path>, kind: &str) -> Result<Self, UsageError> {
        let is_kept = asked.is_some();
        let path = asked.map_or_else(
            || std::env::temp_dir().join(format!("sojourn-{kind}-{}", run_id())),
            Path::to_path_buf,
        );
        // Only for this user: what a run file holds is nobody else's business.
        let made = std::fs::DirBuilder::new().recursive(is_kept).mode(0o700).create(&path);
        made.map_err(|error| {
            UsageError::new(
                format!("cannot make the folder {}: {error}", path.display()),
                "choose another place with --runs",
            )
        })?;
        Ok(Self { path, is_kept })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_kept {
            // What is left in a temporary folder harms nobody.
            let _ignored = std::fs::remove_dir_all(&self.path);
        }
    }
}
