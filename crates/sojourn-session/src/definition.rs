//! What a session script declares: plain data, the same whenever the script is evaluated.

use std::path::PathBuf;
use std::sync::Arc;

use sojourn_plan::PlanError;

use crate::compare::Comparison;
use crate::extract::Extractor;
use crate::generator::Generator;
use crate::mix::Mix;
use crate::target::Targets;
use crate::text::Text;

/// A test: who is loaded, by whom, and how.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Hosts that may be asked.
    pub targets: Targets,
    /// When clients arrive. One after another, never empty.
    pub phases: Vec<Phase>,
    /// What the test asks of its generators.
    pub options: TestOptions,
    /// What clients do; at least one, no name twice.
    pub sessions: Vec<Session>,
    /// Values that are known only while a client runs, by what [`Text`] calls them.
    pub placeholders: Vec<Placeholder>,
    /// Generated values.
    pub generators: Vec<Generator>,
    /// Files with rows, and files that are bodies.
    pub sources: Vec<Source>,
    /// Rows that sessions pick.
    pub picks: Vec<Pick>,
    /// Channels that messages go to and events come from.
    pub channels: Vec<Declared>,
    /// Stages: events of a channel that sessions wait for. A channel with a `key` is one, too.
    pub stages: Vec<Declared>,
    /// Files that the script imports, one by the other.
    pub modules: Vec<PathBuf>,
    /// What is probably a slip, each at its place.
    pub warnings: Vec<PlanError>,
}

/// A channel or a stage as a script writes it: in the words of journey files.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name, no other's of its sort.
    pub name: String,
    /// Its fields.
    pub written: serde_json::Map<String, serde_json::Value>,
    /// Where the script declares it.
    pub place: Place,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as it was given; of imported files their path.
    pub file: Arc<str>,
    /// From 1; 0 where nothing is known.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// A stretch of time in which clients arrive, with exponential gaps.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Length, seconds.
    pub duration_s: f64,
    /// Clients a second; 0 launches none.
    pub rate_per_s: f64,
    /// Most clients that are launched.
    pub clients_max: Option<u32>,
    /// Shown while it runs; at most 32 characters.
    pub name: Option<String>,
    /// Which sessions they take.
    pub mix: Mix,
}

/// What a test asks of its generators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOptions {
    /// Class of generators: one of [`SIZINGS`].
    pub sizing: Option<String>,
    /// Where they are.
    pub region: Option<String>,
    /// Their channel of releases.
    pub engine: Option<String>,
    /// Steps of these tags are left out.
    pub exclude_tags: Vec<String>,
    /// Whether clients keep cookies.
    pub cookies: bool,
}

impl TestOptions {
    /// Which of the script's options change nothing, in words; `None` where all are heeded.
    pub fn ignored(&self) -> Option<String> {
        let options =
            [("sizing", &self.sizing), ("region", &self.region), ("engine", &self.engine)];
        let given: Vec<String> = options
            .into_iter()
            .filter_map(|(name, value)| Some(format!("cluster.{name} ({})", value.as_ref()?)))
            .collect();
        let are = if given.len() == 1 { "is" } else { "are" };
        (!given.is_empty()).then(|| {
            let list = given.join(", ");
            format!(
                "{list} of setTestOptions() {are} ignored: the load comes from where Sojourn runs, \
                 --generators and --threads size it"
            )
        })
    }
}

impl Default for TestOptions {
    fn default() -> Self {
        let (sizing, region, engine, exclude_tags) = (None, None, None, Vec::new());
        Self { sizing, region, engine, exclude_tags, cookies: true }
    }
}

/// The classes of generators that definitions know.
pub const SIZINGS: [&str; 7] =
    ["preflight", "tiny", "small", "medium", "large", "xlarge", "2xlarge"];

/// What a client does.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// A step and where it is declared.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// Where the script says so.
    pub place: Place,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Asks a target.
    Request(Box<Request>),
    /// Pauses.
    Wait(Wait),
    /// Repeats its steps as often as a text says, which is written once, before.
    Times(Text, Vec<Step>),
    /// Does the first steps if the condition holds, else the second.
    If(Condition, Vec<Step>, Vec<Step>),
    /// Repeats its steps until the test ends.
    ForEver(Vec<Step>),
    /// Repeats its steps while the condition holds.
    While(Condition, Vec<Step>),
    /// Repeats its steps for every item.
    ForEach(Items, Vec<Step>),
    /// Ends the client.
    Abort,
    /// Counts whether a condition holds.
    Check(Check),
    /// Sets a variable.
    Set {
        /// Its name.
        name: String,
        /// What it becomes.
        value: Text,
    },
    /// Picks a row: an index into [`Definition::picks`].
    Pick(u32),
    /// Writes to the user's log.
    Log(Text),
    /// Sends a message.
    Publish(Box<Publish>),
    /// Waits for an event.
    Expect(Box<Expect>),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`.
    pub verb: String,
    /// With parameters filled in; relative if it has no scheme.
    pub url: Text,
    /// Under which it is reported.
    pub tag: Option<String>,
    /// Header fields, those that are set for the whole session among them.
    pub headers: Vec<(String, Text)>,
    /// Whether a compressed answer is asked for.
    pub gzip: bool,
    /// Name and password.
    pub authentication: Option<(Text, Text)>,
    /// What is sent.
    pub payload: Payload,
    /// What is taken out of the answer.
    pub extractions: Vec<Extraction>,
}

/// What a request sends.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Nothing.
    None,
    /// Text as it is; a form is text too, encoded already.
    Text {
        /// What is sent.
        text: Text,
        /// Whether it is a form, which has a content type of its own.
        is_form: bool,
    },
    /// A file: an index into [`Definition::sources`].
    File(u32),
}

/// A value taken out of an answer or event.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The variable that it becomes; empty where nothing is found.
    pub variable: String,
    /// Where it is.
    pub from: Extractor,
}

/// A pause. Texts are seconds.
#[derive(Clone, Debug)]
pub enum Wait {
    /// As long as it says.
    Fixed(Text),
    /// Uniform between two lengths.
    Uniform(Text, Text),
    /// Exponential, of this mean.
    Exponential(Text),
}

/// A comparison of two texts.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Left side.
    pub left: Text,
    /// How they are compared.
    pub compare: Comparison,
    /// Right side.
    pub right: Text,
}

/// What steps are repeated for.
#[derive(Clone, Debug)]
pub struct Items {
    /// The variable that is the item.
    pub variable: String,
    /// What is gone through.
    pub list: List,
}

/// A list of items.
#[derive(Clone, Debug)]
pub enum List {
    /// Known to the script.
    Texts(Vec<Text>),
    /// A text that is a JSON list.
    Json(Text),
}

/// A check or an assertion.
#[derive(Clone, Debug)]
pub struct Check {
    /// Under which it is counted.
    pub name: String,
    /// What must hold.
    pub condition: Condition,
    /// Whether the client ends when it does not.
    pub is_assertion: bool,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Publish {
    /// Where it goes.
    pub channel: String,
    /// What it says.
    pub payload: Text,
    /// Its key.
    pub key: Option<Text>,
    /// Its header fields.
    pub headers: Vec<(String, Text)>,
    /// Under which it is reported.
    pub tag: Option<String>,
}

/// An event that must come.
#[derive(Clone, Debug)]
pub struct Expect {
    /// Where it shows.
    pub stage: String,
    /// The key it has.
    pub key: Text,
    /// How long it may take, nanoseconds.
    pub within_ns: u64,
    /// How many events of the key there must be.
    pub count: u16,
    /// Whether the client ends without them.
    pub is_required: bool,
    /// What is taken out of the last event.
    pub extractions: Vec<Extraction>,
    /// Under which it is reported.
    pub tag: Option<String>,
}

/// A value that is known only while a client runs.
#[derive(Clone, Debug)]
pub struct Placeholder {
    /// Which value.
    pub kind: PlaceholderKind,
    /// Where the script first asked for it.
    pub place: Place,
}

/// Which value a placeholder stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceholderKind {
    /// A variable of the client's; empty until it is set.
    Variable(String),
    /// A new value at each use: an index into [`Definition::generators`].
    Generated(u32),
    /// A field of a picked row.
    Cell {
        /// Index into [`Definition::picks`].
        pick: u32,
        /// Which field.
        column: Column,
    },
    /// The status of the last answer; 0 where none came.
    Status,
}

/// A field of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its name.
    Name(String),
    /// By its place, from 0.
    Index(usize),
}

/// A row that a session picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Index into [`Definition::sources`].
    pub source: u32,
    /// Index into [`Definition::sessions`].
    pub session: u32,
}

/// A file that sessions use.
#[derive(Clone, Debug)]
pub struct Source {
    /// As the script names it.
    pub path: String,
    /// How it is read.
    pub kind: SourceKind,
    /// Where the script names it.
    pub place: Place,
}

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Rows of as many fields each.
    Structured {
        /// What stands between fields.
        delimiter: u8,
        /// Whether the first line names the fields.
        has_header: bool,
        /// Names of the fields, where the script gives them.
        fields: Vec<String>,
    },
    /// Any bytes.
    Raw,
}

impl Place {
    /// An error here.
    pub(crate) fn error(&self, message: impl Into<String>, hint: Option<String>) -> PlanError {
        PlanError {
            file: self.file.to_string(),
            line: self.line as usize,
            column: self.column as usize,
            message: message.into(),
            hint,
        }
    }
}

/// Looks at every step, blocks before the steps in them.
pub(crate) fn visit<'a>(steps: &'a [Step], look: &mut dyn FnMut(&'a Step)) {
    for step in steps {
        look(step);
        match &step.action {
            Action::Times(_, steps)
            | Action::ForEver(steps)
            | Action::While(_, steps)
            | Action::ForEach(_, steps) => visit(steps, look),
            Action::If(_, steps, otherwise) => {
                visit(steps, look);
                visit(otherwise, look);
            }
            _ => {}
        }
    }
}
