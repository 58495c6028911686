//! Reading a file of requirements.

use sojourn_plan::PlanErrors;
use sojourn_plan::reading::{
    Content, Field, Fields, Kind, Node, Problems, Shape, given_or, shown, suggestion,
};

use super::{CheckFigure, Filter, Requirement, Requirements, Statistic, Subject};
use crate::compare::Comparison;

const FILE: Shape = Shape {
    name: "a file of requirements",
    doc: "Which figures a test must reach.",
    fields: &[
        Field::new("version", Kind::Text, "The form of the file: `0.1`."),
        Field::new("requirements", Kind::List(&Kind::Any), "The requirements, in order.")
            .required(),
    ],
};

const REQUIREMENT: Shape = Shape {
    name: "a requirement",
    doc: "A figure and what it must be.",
    fields: &[
        Field::new("select", Kind::Any, "Which figure."),
        Field::new("where", Kind::Any, "Which part of what there is counts."),
        Field::new("test", Kind::Any, "A sign and a value: `[\"<\", 1000]`.").required(),
        Field::new("enabled", Kind::Flag, "Whether it is looked at."),
        Field::new("optional", Kind::Flag, "Whether it may be unavailable."),
    ],
};

const SELECT: Shape = Shape {
    name: "a selection",
    doc: "Which figure.",
    fields: &[
        Field::new("type", Kind::Text, "Its name.").required(),
        Field::new("value", Kind::Number, "Of a percentile: how many percent."),
    ],
};

const FILTER: Shape = Shape {
    name: "a filter",
    doc: "Which part of what there is counts.",
    fields: &[
        Field::new("status", Kind::Any, "A status, or a sign and a status."),
        Field::new("tag", Kind::Any, "A tag, or a list of which one must be there."),
        Field::new("name", Kind::Any, "The name of a check, or a list of names."),
    ],
};

const SUBJECTS: [&str; 8] = [
    "test.completed",
    "test.duration",
    "test.cluster.utilization.cpu",
    "checks",
    "http.error_ratio",
    "http.status_code",
    "http.latency",
    "http.apdex",
];

const SIGNS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];

/// The satisfying time of an Apdex that names none, milliseconds.
const SATISFIED_MS: f64 = 500.0;

/// Most requirements of a file.
const REQUIREMENTS_MAX: usize = 10_000;

impl Requirements {
    /// Reads a file's text. Errs with all that is wrong, each with line and column.
    pub fn read(file: &str, text: &str) -> Result<Self, PlanErrors> {
        let mut reader = Reader { problems: Problems::new(file, text) };
        let list = match Node::parse(text) {
            Ok(root) => reader.file(&root),
            Err(wrong) => {
                reader.problems.at_byte(wrong.at, wrong.message, wrong.hint);
                None
            }
        };
        match list {
            Some(list) if reader.problems.is_empty() => Ok(Self { list }),
            _ => Err(reader.problems.into_errors()),
        }
    }
}

struct Reader<'a> {
    problems: Problems<'a>,
}

impl Reader<'_> {
    fn file(&mut self, root: &Node) -> Option<Vec<Requirement>> {
        let fields = Fields::of(root, &FILE, &mut self.problems)?;
        if let Some(version) = fields.get("version")
            && self.problems.text(version)? != "0.1"
        {
            let text = self.problems.offending(version);
            let hint = Some("the only version is \"0.1\"".to_owned());
            self.problems.at(version, format!("`{text}` is no version that is known"), hint);
        }
        let items = self.problems.list(fields.get("requirements")?)?;
        if items.len() > REQUIREMENTS_MAX {
            self.problems.at(root, format!("more than {REQUIREMENTS_MAX} requirements"), None);
            return None;
        }
        Some(items.iter().filter_map(|item| self.requirement(item)).collect())
    }

    fn requirement(&mut self, item: &Node) -> Option<Requirement> {
        let [(key, node)] = self.problems.map(item)? else {
            let hint = Some("each item is one name and what it must be: `checks: …`".to_owned());
            self.problems.at(item, "an item must have exactly one name", hint);
            return None;
        };
        if !SUBJECTS.contains(&key.name.as_str()) {
            let message = format!("unknown requirement `{}`", shown(&key.name));
            self.problems.at_byte(key.range.start, message, suggestion(&key.name, SUBJECTS));
            return None;
        }
        // A test alone is the short form.
        let is_short = !matches!(node.content, Content::Map(_));
        if is_short {
            let subject = self.subject(&key.name, None, node)?;
            let (compare, wanted) = self.test(node, subject)?;
            let filter = Filter::default();
            return Some(Requirement {
                subject,
                filter,
                compare,
                wanted,
                is_enabled: true,
                is_optional: false,
            });
        }
        let fields = Fields::of(node, &REQUIREMENT, &mut self.problems)?;
        let subject = self.subject(&key.name, fields.get("select"), node);
        let filter = given_or(fields.get("where"), Filter::default(), |node| {
            let filter = self.filter(node)?;
            self.check_filter(node, subject, &filter);
            Some(filter)
        });
        let is_enabled = given_or(fields.get("enabled"), true, |node| self.problems.flag(node));
        let is_optional = given_or(fields.get("optional"), false, |node| self.problems.flag(node));
        let (compare, wanted) = self.test(fields.get("test")?, subject?)?;
        Some(Requirement {
            subject: subject?,
            filter: filter?,
            compare,
            wanted,
            is_enabled: is_enabled?,
            is_optional: is_optional?,
        })
    }

    fn subject(&mut self, name: &str, select: Option<&Node>, at: &Node) -> Option<Subject> {
        let select = match select {
            Some(node) => Some((node, self.select(node)?)),
            None => None,
        };
        let chosen = select.as_ref().map(|(_, (name, value))| (name.as_str(), *value));
        let found = match (name, chosen) {
            ("test.completed", None) => Some(Subject::Completed),
            ("test.duration", None) => Some(Subject::Duration),
            ("http.error_ratio", None) => Some(Subject::ErrorRatio),
            ("test.cluster.utilization.cpu", None) => Some(Subject::Cpu(Statistic::Average)),
            ("test.cluster.utilization.cpu", Some(it)) => statistic(it).map(Subject::Cpu),
            ("checks", None) => Some(Subject::Checks(CheckFigure::SuccessRate)),
            ("checks", Some((name, None))) => check_figure(name).map(Subject::Checks),
            ("http.status_code", None | Some(("share", None))) => {
                Some(Subject::StatusCode { is_count: false })
            }
            ("http.status_code", Some(("count", None))) => {
                Some(Subject::StatusCode { is_count: true })
            }
            ("http.latency", Some(it)) => statistic(it).map(Subject::Latency),
            ("http.apdex", None) => Some(Subject::Apdex { satisfied_ms: SATISFIED_MS }),
            ("http.apdex", Some(("apdex", Some(ms)))) if ms > 0.0 => {
                Some(Subject::Apdex { satisfied_ms: ms })
            }
            _ => None,
        };
        if found.is_none() {
            let message = match &select {
                Some((_, (chosen, _))) => {
                    format!("`{}` can't be selected of `{name}`", shown(chosen))
                }
                None => format!("`{name}` without `select`"),
            };
            let hint = Some(choices(name).to_owned());
            self.problems.at(select.map_or(at, |(node, _)| node), message, hint);
        }
        found
    }

    /// `average`, or `{ type: percentile, value: 99 }`.
    fn select(&mut self, node: &Node) -> Option<(String, Option<f64>)> {
        if !matches!(node.content, Content::Map(_)) {
            return Some((self.problems.text(node)?.to_owned(), None));
        }
        let fields = Fields::of(node, &SELECT, &mut self.problems)?;
        let name = self.problems.text(fields.get("type")?)?.to_owned();
        let value = match fields.get("value") {
            Some(value) => Some(self.problems.number(value)?),
            None => None,
        };
        Some((name, value))
    }

    /// `["<", 1000]`, or a value alone, which must be met exactly.
    fn test(&mut self, node: &Node, subject: Subject) -> Option<(Comparison, f64)> {
        let Content::List(items) = &node.content else {
            return Some((Comparison::Equal, self.wanted(node, subject)?));
        };
        let [sign, value] = items.as_slice() else {
            let hint = Some("a test is a sign and a value: `[\"<\", 1000]`".to_owned());
            self.problems.at(node, format!("a test of {} items", items.len()), hint);
            return None;
        };
        Some((self.sign(sign)?, self.wanted(value, subject)?))
    }

    fn sign(&mut self, node: &Node) -> Option<Comparison> {
        let place = self.problems.choice(node, &SIGNS)?;
        Comparison::of_sign(SIGNS[place])
    }

    fn wanted(&mut self, node: &Node, subject: Subject) -> Option<f64> {
        match subject {
            Subject::Completed => self.problems.flag(node).map(f64::from),
            _ => self.problems.number(node),
        }
    }

    fn filter(&mut self, node: &Node) -> Option<Filter> {
        let fields = Fields::of(node, &FILTER, &mut self.problems)?;
        let mut filter = Filter::default();
        if let Some(status) = fields.get("status") {
            filter.status = self.status(status)?;
        }
        if let Some(tags) = fields.get("tag") {
            filter.tags = self.names(tags)?;
        }
        if let Some(names) = fields.get("name") {
            filter.names = self.names(names)?;
        }
        Some(filter)
    }

    /// `200`, `["<", 400]`, or a list of such pairs, all of which must hold.
    fn status(&mut self, node: &Node) -> Option<Vec<(Comparison, u16)>> {
        let Content::List(items) = &node.content else {
            return Some(vec![(Comparison::Equal, self.code(node)?)]);
        };
        match items.as_slice() {
            [sign, code] if sign.text().is_some() => {
                Some(vec![(self.sign(sign)?, self.code(code)?)])
            }
            pairs if pairs.iter().all(|pair| matches!(pair.content, Content::List(_))) => {
                let mut all = Vec::new();
                for pair in pairs {
                    all.extend(self.status(pair)?);
                }
                Some(all)
            }
            _ => {
                let hint = Some("write `200`, `[\"<\", 400]` or a list of such pairs".to_owned());
                self.problems.at(node, "this is no test of a status", hint);
                None
            }
        }
    }

    fn code(&mut self, node: &Node) -> Option<u16> {
        // At most 999.
        self.problems.count(node, 0, 999).map(|code| code as u16)
    }

    fn names(&mut self, node: &Node) -> Option<Vec<String>> {
        let Content::List(items) = &node.content else {
            return Some(vec![self.problems.text(node)?.to_owned()]);
        };
        items.iter().map(|item| self.problems.text(item).map(str::to_owned)).collect()
    }

    /// A filter that could not have any effect is a slip.
    fn check_filter(&mut self, node: &Node, subject: Option<Subject>, filter: &Filter) {
        let Some(subject) = subject else { return };
        let is_http = subject.name().starts_with("http.");
        let is_checks = matches!(subject, Subject::Checks(_));
        let useless = [
            ("status", !is_http && !filter.status.is_empty()),
            ("tag", !is_http && !filter.tags.is_empty()),
            ("name", !is_checks && !filter.names.is_empty()),
        ];
        if let Some((name, _)) = useless.iter().find(|(_, is_useless)| *is_useless) {
            let message = format!("`{name}` means nothing to `{}`", subject.name());
            self.problems.at(node, message, None);
        }
    }
}

fn statistic((name, value): (&str, Option<f64>)) -> Option<Statistic> {
    match (name, value) {
        ("average" | "mean", None) => Some(Statistic::Average),
        ("minimum" | "min", None) => Some(Statistic::Minimum),
        ("maximum" | "max", None) => Some(Statistic::Maximum),
        ("median", None) => Some(Statistic::Percentile(50.0)),
        ("percentile", Some(percent)) if (0.0..=100.0).contains(&percent) => {
            Some(Statistic::Percentile(percent))
        }
        _ => None,
    }
}

fn check_figure(name: &str) -> Option<CheckFigure> {
    match name {
        "success_rate" => Some(CheckFigure::SuccessRate),
        "failure_rate" => Some(CheckFigure::FailureRate),
        "success_count" => Some(CheckFigure::SuccessCount),
        "failure_count" => Some(CheckFigure::FailureCount),
        _ => None,
    }
}

fn choices(subject: &str) -> &'static str {
    match subject {
        "checks" => "there is success_rate, failure_rate, success_count, failure_count",
        "http.status_code" => "there is share and count",
        "http.apdex" => "write `{ type: apdex, value: MILLISECONDS }`, or nothing for 500",
        "http.latency" | "test.cluster.utilization.cpu" => {
            "there is average, minimum, maximum, median, and { type: percentile, value: 0 to 100 }"
        }
        _ => "it has only one figure",
    }
}
