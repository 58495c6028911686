//! Reading from memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use sojourn_plan::{Files, Overrides, Plan, PlanErrors, read};

/// Files and variables in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<&'static str, &'static str>,
    pub(crate) variables: BTreeMap<&'static str, &'static str>,
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = path.to_str().and_then(|path| self.files.get(path));
        text.map(|text| (*text).to_owned())
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }
}

/// What the tests' files name.
pub(crate) fn memory() -> Memory {
    Memory {
        files: [
            ("users.csv", "id,name,age\n1,Ann,30\n2,\"Bob \"\"B\"\"\",x\n"),
            ("empty.csv", "id,name\n"),
            ("uneven.csv", "id,name\n1\n"),
            ("instants.txt", "0\n0.5\n2 # last\n"),
            ("unsorted.txt", "2\n1\n"),
            ("bad.txt", "0\nsoon\n"),
            ("body.xml", "<id>{{ uuid() }}</id>"),
        ]
        .into(),
        variables: [("TOKEN", "s3cret-t0ken"), ("COUNT", "5"), ("EMPTY", "")].into(),
    }
}

pub(crate) fn read_text(text: &str) -> Result<Plan, PlanErrors> {
    read("plan.yaml", text, &memory(), &Overrides::default())
}

/// Reads a file that must be good.
#[track_caller]
pub(crate) fn plan(text: &str) -> Plan {
    match read_text(text) {
        Ok(plan) => plan,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// A complete file: `text` and, of the sections it lacks, plain ones. They come behind it, so that
/// lines and columns stay.
pub(crate) fn complete(text: &str) -> String {
    let has = |section: &str| {
        let start = format!("{section}:");
        text.lines().any(|line| line.starts_with(&start))
    };
    let mut whole = text.trim_end().to_owned();
    whole.push('\n');
    for (section, plain) in [
        ("target", "target: http://127.0.0.1:8080\n"),
        (
            "channels",
            "channels:\n  events: { kafka: { brokers: \"b:9092\", topics: [t] } }\n  \
             dead-letters: { kafka: { brokers: \"b:9092\", topics: [d] } }\n",
        ),
        ("data", "data: { users: { csv: users.csv } }\n"),
        (
            "journeys",
            "journeys:\n  payment:\n    root: { http: POST /pay, key: body.id }\n    \
             stages: [{ name: settled, on: events, key: $.id }]\n    within: 30s\n",
        ),
        ("load", "load: [{ rate: 1/s, steady: 10s }]\n"),
    ] {
        if !has(section) {
            whole.push_str(plain);
        }
    }
    whole
}
