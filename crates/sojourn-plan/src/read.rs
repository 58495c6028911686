//! Reading a journey file.
//!
//! Text becomes a tree of values with places ([`node`]), `${NAME}` is replaced in its scalars, and
//! each section is taken apart by its shape. Nothing stops at the first problem: each is reported
//! at its place, and what depends on something already reported is left alone.

mod batch;
pub(crate) mod channels;
mod clock;
pub(crate) mod conditions;
mod data;
mod environment;
mod expression;
mod fan_out;
pub(crate) mod fields;
mod http;
mod journeys;
mod limits;
mod load_shapes;
mod loads;
mod names;
pub(crate) mod node;
mod one_of;
mod order;
pub(crate) mod origin;
mod poison;
pub(crate) mod problems;
mod profiles;
pub(crate) mod publish;
mod replay;
mod resources;
mod retry;
mod secrets;
mod selectors;
pub(crate) mod shape;
pub(crate) mod shapes;
mod stages;
mod steps;
pub(crate) mod templates;
mod thresholds;
pub(crate) mod units;
mod users;

use std::io::{Cursor, Read};
use std::path::Path;

use crate::{Action, Channel, Connector, Plan, StageSource};

pub(crate) use conditions::OPERATORS;
use fields::Fields;
use journeys::Weighted;
pub use journeys::usual_linger_ns;
pub use names::is_name;
use node::Node;
use origin::Origin;
use problems::Problems;
use templates::{Compiler, Scope};

/// What the command line changes about a file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Base for relative URLs.
    pub target: Option<String>,
    /// Labels to add.
    pub labels: Vec<(String, String)>,
    /// Seed.
    pub seed: Option<u64>,
    /// Variables for `${NAME}`, looked up before the environment.
    pub environment: Vec<(String, String)>,
}

/// Reads the files that a plan names, relative to the plan's own folder.
pub trait Files {
    /// The file's text.
    fn read(&self, path: &Path) -> std::io::Result<String>;
    /// The file's bytes; by default those of its text.
    fn read_bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.read(path).map(String::into_bytes)
    }
    /// The file's bytes piece by piece, for large ones; by default all at once.
    fn open(&self, path: &Path) -> std::io::Result<Box<dyn Read>> {
        self.read_bytes(path).map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>)
    }
    /// An environment variable, for `${NAME}`.
    fn variable(&self, name: &str) -> Option<String>;
}

/// One thing wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// File as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, with the offending text.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// Everything found wrong; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n"))]
pub struct PlanErrors(pub Vec<PlanError>);

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Reads a journey file's text into a plan. Relative paths in it are handed to `files` as they are.
pub fn read(
    file: &str,
    text: &str,
    files: &dyn Files,
    overrides: &Overrides,
) -> Result<Plan, PlanErrors> {
    let (mut reader, root) = Reader::begin(file, text, files, overrides)?;
    let plan = reader.plan(&root, text, overrides);
    match plan {
        Some(plan) if reader.problems.is_empty() => Ok(plan),
        _ => Err(reader.problems.into_errors()),
    }
}

/// The channels of a journey file; whatever else it holds, or lacks, is passed over.
pub fn read_channels(
    file: &str,
    text: &str,
    files: &dyn Files,
    overrides: &Overrides,
) -> Result<Vec<Channel>, PlanErrors> {
    let (mut reader, root) = Reader::begin(file, text, files, overrides)?;
    let sections = reader.problems.map(&root).unwrap_or_default();
    let channels = match sections.iter().find(|(key, _)| key.name == "channels") {
        Some((_, node)) => reader.channels(node),
        None => {
            let hint = Some("`channels:` names what there is to listen to".to_owned());
            reader.problems.at(&root, "no channels", hint);
            Vec::new()
        }
    };
    match reader.problems.is_empty() {
        true => Ok(channels),
        false => Err(reader.problems.into_errors()),
    }
}

/// What reading knows so far.
pub struct Reader<'a> {
    /// What was found wrong.
    pub problems: Problems<'a>,
    /// Where named files are.
    pub files: &'a dyn Files,
    /// What makes templates.
    pub compiler: Compiler,
    /// Base of relative URLs: not given, given but wrong, or known.
    target: Option<Option<Origin>>,
    channel_names: Vec<String>,
    /// By channel; `None`: it can't be read.
    connectors: Vec<Option<Connector>>,
    variables: Vec<String>,
    /// Foreign clocks, in the order in which they come up.
    clocks: Vec<clock::Known>,
    warnings: Vec<String>,
    /// Whether journeys carry a trace context unless they say otherwise.
    trace: bool,
    /// Some journey could not be read: names may be missing that the file has.
    journeys_broken: bool,
}

impl<'a> Reader<'a> {
    /// A reader for a file's text, and the tree of its values with `${NAME}` replaced. Errs when
    /// the text is not YAML.
    pub fn begin(
        file: &'a str,
        text: &'a str,
        files: &'a dyn Files,
        overrides: &Overrides,
    ) -> Result<(Self, Node), PlanErrors> {
        let mut problems = Problems::new(file, text);
        let mut root = match Node::parse(text) {
            Ok(root) => root,
            Err(wrong) => {
                problems.at_byte(wrong.at, wrong.message, wrong.hint);
                return Err(problems.into_errors());
            }
        };
        environment::substitute(&mut root, text, files, overrides, &mut problems);
        let reader = Self {
            problems,
            files,
            compiler: Compiler::new(Vec::new()),
            target: None,
            channel_names: Vec::new(),
            connectors: Vec::new(),
            variables: Vec::new(),
            clocks: Vec::new(),
            warnings: Vec::new(),
            trace: false,
            journeys_broken: false,
        };
        Ok((reader, root))
    }
}

impl Reader<'_> {
    fn plan(&mut self, root: &Node, text: &str, overrides: &Overrides) -> Option<Plan> {
        let fields = Fields::of(root, &shapes::FILE, &mut self.problems)?;
        let mut plan = Plan { text: secrets::masked(text, root), ..Plan::default() };
        self.header(&fields, &mut plan, overrides);
        if let Some(node) = fields.get("data") {
            self.compiler.data = self.data(node);
        }
        if let Some(node) = fields.get("channels") {
            plan.channels = self.channels(node);
        }
        let mut scope = Scope::default();
        if let Some(node) = fields.get("setup") {
            plan.setup = self.plain_steps(node, &mut scope);
        }
        if let Some(node) = fields.get("refresh") {
            plan.refresh = self.refresh(node, &mut scope);
        }
        let journeys = match fields.get("journeys") {
            Some(node) => self.journeys(node, &scope),
            None => Vec::new(),
        };
        let declared = fields.get("journeys").and_then(|node| match &node.content {
            node::Content::Map(entries) => Some(entries.len()),
            _ => None,
        });
        self.journeys_broken = declared != Some(journeys.len());
        self.check_clocks();
        if let Some(node) = fields.get("teardown") {
            plan.teardown = self.plain_steps(node, &mut scope);
        }
        if let Some(node) = fields.get("load") {
            plan.load = self.loads(node, &journeys);
        }
        self.warn_unused(&plan, &journeys);
        poison::append(journeys, &mut plan);
        if let Some(node) = fields.get("limits") {
            self.limits(node, &mut plan);
        }
        if let Some(node) = fields.get("thresholds") {
            plan.thresholds = self.thresholds(node, &plan);
        }
        limits::add_thresholds(&mut plan);
        if let Some(node) = fields.get("health") {
            plan.health = self.health(node)?;
        }
        if let Some(node) = fields.get("resources") {
            plan.resources = self.resources(node);
        }
        plan.data = std::mem::take(&mut self.compiler.data);
        plan.variables = std::mem::take(&mut self.variables);
        plan.clocks = self.clocks.drain(..).map(|known| known.name).collect();
        plan.warnings = std::mem::take(&mut self.warnings);
        Some(plan)
    }

    /// What names the plan and says where it goes.
    fn header(&mut self, fields: &Fields<'_>, plan: &mut Plan, overrides: &Overrides) {
        let mut text = |name| {
            let node = fields.get(name)?;
            self.problems.text(node).map(str::to_owned)
        };
        plan.name = text("name").unwrap_or_else(|| "unnamed".to_owned());
        plan.suite = text("suite");
        if let Some(node) = fields.get("labels") {
            for (key, value) in self.problems.map(node).unwrap_or_default() {
                let value = self.problems.text(value).unwrap_or_default();
                plan.labels.push((key.name.clone(), value.to_owned()));
            }
        }
        for (name, value) in &overrides.labels {
            plan.labels.retain(|(known, _)| known != name);
            plan.labels.push((name.clone(), value.clone()));
        }
        if let Some(node) = fields.get("seed") {
            plan.seed = self.problems.count(node, 0, u64::MAX).unwrap_or_default();
        }
        plan.seed = overrides.seed.unwrap_or(plan.seed);
        self.trace = fields.get("trace").and_then(|node| self.problems.flag(node)).unwrap_or(false);
        if let Some(node) = fields.get("allow_hosts") {
            plan.allowed_hosts = self.texts(node).unwrap_or_default();
        }
        let in_file = fields.get("target");
        if let Some(target) = &overrides.target {
            let origin = Origin::target(target.trim());
            self.target = Some(origin.as_ref().ok().cloned());
            if let Err((message, hint)) = origin {
                self.problems.push(PlanError {
                    file: "--target".to_owned(),
                    line: 1,
                    column: 1,
                    message,
                    hint,
                });
            }
        } else if let Some(node) = in_file {
            let origin = self.problems.text(node).map(|text| Origin::target(text.trim()));
            self.target = Some(origin.as_ref().and_then(|origin| origin.as_ref().ok().cloned()));
            if let Some(Err((message, hint))) = origin {
                self.problems.at(node, message, hint);
            }
        }
    }

    /// What is declared but has no part in the run is probably a slip.
    fn warn_unused(&mut self, plan: &Plan, journeys: &[Weighted]) {
        for (place, channel) in plan.channels.iter().enumerate() {
            let stages = journeys.iter().flat_map(|weighted| &weighted.journey.stages);
            let is_used = stages.into_iter().any(|stage| match &stage.source {
                StageSource::Event { channel, .. } => *channel == place,
                StageSource::Poll(_) => false,
            });
            let steps = journeys.iter().flat_map(|weighted| &weighted.journey.steps);
            let is_published_to = steps.into_iter().any(|step| match &step.action {
                Action::Publish(action) => action.channel == place,
                Action::Http(_) => false,
            });
            if !is_used && !is_published_to {
                let name = &channel.name;
                self.warnings.push(format!("no stage is seen on channel `{name}`"));
            }
        }
        for (place, weighted) in journeys.iter().enumerate() {
            let mut chosen = plan.load.iter().flat_map(|load| &load.journeys);
            if !chosen.any(|&(chosen, _)| chosen == place) {
                let name = &weighted.journey.name;
                self.warnings.push(format!("no load entry starts journey `{name}`"));
            }
        }
    }
}

/// The JSON Schema of journey files.
pub fn schema() -> serde_json::Value {
    crate::schema::of_file()
}
