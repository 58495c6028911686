//! Scripts in memory, and clients that are played with answers from memory.

use std::io;
use std::path::Path;

use sojourn_plan::{Files, PlanErrors};
use sojourn_script::Sources;
use sojourn_session::{
    Action, Answer, Budget, Client, Data, Definition, Ended, Input, Memory, Program, evaluate,
};

/// Files that scripts name.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<String> {
        match path.to_str() {
            Some("stations.csv") => Ok(include_str!("data/stations.csv").to_owned()),
            Some("numbers.tsv") => Ok("1\tone\n2\ttwo\n".to_owned()),
            Some("body.bin") => Ok("raw \u{1} bytes".to_owned()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

/// Evaluates a script.
pub(crate) fn defined(text: &str) -> Result<Definition, PlanErrors> {
    let sources = Sources { entry_text: Some(text.to_owned()), ..Sources::default() };
    evaluate(Path::new("script.js"), sources, Budget::default())
}

/// A whole script around the steps of one session.
pub(crate) fn script(steps: &str) -> String {
    format!(
        "definition.setTarget('http://a.example');\n\
         definition.setArrivalPhases([{{ duration: 1, rate: 1 }}]);\n\
         definition.session('s', function (session) {{\n{steps}\n}});\n"
    )
}

/// The program of a whole script.
pub(crate) fn program(text: &str) -> Program {
    let definition = defined(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let data = Data::load(&definition, &Disk).expect("its files are there");
    Program::compile(&definition, &data).expect("it compiles")
}

/// An answer from memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn ok(body: &str) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.to_owned() }
    }
}

/// What a client did, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    /// A line for each action: `GET http://… body`, `wait 1.5`, `check name ok`, …
    pub(crate) lines: Vec<String>,
    pub(crate) waited_s: f64,
    pub(crate) ended: Option<Ended>,
    /// The header fields of each request.
    pub(crate) headers: Vec<Vec<(String, String)>>,
}

/// Plays client `number` of a session to its end, at most `actions_max` actions. No answer where
/// `answer` gives none; events come as `answer` says to their stage's name.
pub(crate) fn play(
    program: &Program,
    session: usize,
    number: u64,
    actions_max: usize,
    mut answer: impl FnMut(&str) -> Option<Reply>,
) -> Story {
    let mut memory = Memory::new(11, 0, 1);
    memory.set_unix_ms(1_700_000_000_000);
    let mut client = Client::new(program, session, number);
    let mut story = Story::default();
    let mut reply = None;
    let mut is_event = false;
    let mut is_begin = true;
    for _ in 0..actions_max {
        let held: Option<Reply> = reply.take();
        let given = held.as_ref().map(|reply| Answer {
            status: reply.status,
            headers: &reply.headers,
            body: reply.body.as_bytes(),
        });
        let input = match given {
            _ if is_begin => Input::Go,
            Some(given) if is_event => Input::Event(given),
            Some(given) => Input::Answer(given),
            None if is_event => Input::Missed,
            None => Input::Failed,
        };
        (is_begin, is_event) = (false, false);
        match client.step(program, &mut memory, input) {
            Action::Request(request) => {
                let body = String::from_utf8_lossy(request.body());
                let line = format!("{} {} {body}", request.verb(), request.url());
                let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                story.headers.push(request.headers().map(own).collect());
                reply = answer(line.trim_end());
                story.lines.push(line.trim_end().to_owned());
            }
            Action::Denied { url, .. } => story.lines.push(format!("denied {url}")),
            Action::Wait { ns } => {
                story.waited_s += ns as f64 / 1e9;
                story.lines.push(format!("wait {}", ns as f64 / 1e9));
            }
            Action::Publish(message) => {
                let (channel, key) = (message.channel, message.key.unwrap_or("-"));
                story.lines.push(format!("publish {channel} {key} {}", message.payload));
            }
            Action::Expect { stage, key, within_ns, count, .. } => {
                reply = answer(stage);
                is_event = true;
                let within_s = within_ns as f64 / 1e9;
                story.lines.push(format!("expect {count} {stage} {key} {within_s}"));
            }
            Action::Check { check, is_ok } => {
                let verdict = if is_ok { "ok" } else { "KO" };
                story.lines.push(format!("check {} {verdict}", program.checks()[check]));
            }
            Action::Log(text) => story.lines.push(format!("log {text}")),
            Action::Done(ended) => {
                story.ended = Some(ended);
                break;
            }
        }
    }
    story
}

/// What the first client of a one-session script does; every request is answered by `{}`.
pub(crate) fn lines(steps: &str) -> Vec<String> {
    play(&program(&script(steps)), 0, 0, 1_000, |_| Some(Reply::ok("{}"))).lines
}
