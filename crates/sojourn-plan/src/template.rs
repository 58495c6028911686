//! Values that change from journey to journey.

/// A variable of a journey: extracted from an answer, or handed over by setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VariableId(pub u16);

/// Text with holes, compiled once. A JSON body is a template over its serialised text.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// Literals and holes, in order.
    pub parts: Vec<Part>,
}

/// A piece of a [`Template`].
#[derive(Clone, Debug)]
pub enum Part {
    /// Fixed text.
    Literal(String),
    /// A value, written with an escape.
    Hole {
        /// Which value.
        hole: Hole,
        /// How it is written.
        escape: Escape,
    },
}

/// A value decided per journey. Random ones are functions of (seed, k, place in the plan).
#[derive(Clone, Debug, PartialEq)]
pub enum Hole {
    /// Uniform whole number in `low..=high`.
    Int {
        /// Least.
        low: i64,
        /// Greatest.
        high: i64,
        /// This hole's random stream.
        stream: u64,
    },
    /// A random UUID (version 4 layout). Drawn by the run id too: two runs of one seed never make
    /// the same one, or the second would meet the first one's events.
    Uuid {
        /// This hole's random stream.
        stream: u64,
    },
    /// `from + k`.
    Seq {
        /// Value of the first journey.
        from: u64,
    },
    /// One of these, uniformly.
    Pick {
        /// The choices, already in text.
        choices: Vec<String>,
        /// This hole's random stream.
        stream: u64,
    },
    /// A column of the journey's row: row k modulo the number of rows, or random.
    Row {
        /// Index into [`crate::Plan::data`].
        source: usize,
        /// Column.
        column: usize,
        /// Random row by this stream instead of k modulo rows.
        stream: Option<u64>,
    },
    /// A variable.
    Variable(VariableId),
    /// The journey's key, as registered.
    Key,
    /// The run id.
    RunId,
}

/// How a hole's text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// As it is.
    Raw,
    /// Inside a JSON string: quotes, backslashes and control characters escaped.
    Json,
    /// In a URL: percent-encoded.
    Url,
    /// A whole JSON value: numbers and booleans as they are, anything else as a quoted string.
    JsonValue,
    /// In a header: control characters become spaces, so that no value can add a line.
    Header,
}

/// Rows of a CSV file.
#[derive(Clone, Debug, Default)]
pub struct DataSource {
    /// Name in the plan.
    pub name: String,
    /// Column names.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// What a template is rendered from.
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// The run's seed.
    pub seed: u64,
    /// The journey's arrival number, offset so that it is unique over load entries.
    pub k: u64,
    /// The run id.
    pub run_id: &'a str,
    /// The journey's key; empty before it is known.
    pub key: &'a str,
    /// Values by [`VariableId`]; `None` where not set yet.
    pub variables: &'a [Option<Box<str>>],
    /// What the journey extracted itself, which comes before `variables`. The few it has stand in
    /// a list, so that a value renewed meanwhile is seen by a journey that has some of its own.
    pub own: &'a [(VariableId, Box<str>)],
    /// The plan's data.
    pub data: &'a [std::sync::Arc<DataSource>],
}

impl<'a> RenderContext<'a> {
    /// A variable's value, the journey's own before the one they all share.
    pub(crate) fn variable(&self, id: VariableId) -> Option<&'a str> {
        let own = self.own.iter().find(|(known, _)| *known == id);
        own.map(|(_, value)| &**value).or_else(|| self.variables.get(usize::from(id.0))?.as_deref())
    }
}

impl Template {
    /// A template without holes.
    pub fn literal(text: &str) -> Self {
        Self { parts: vec![Part::Literal(text.to_owned())] }
    }

    /// Whether it has no holes.
    pub fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// The text, when nothing in it changes.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the rendered text to `out`, without allocation beyond `out`'s growth. Errs with the
    /// variable's id when one is not set; `out` is then as it was.
    pub fn render(&self, context: &RenderContext<'_>, out: &mut Vec<u8>) -> Result<(), VariableId> {
        let length = out.len();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Part::Hole { hole, escape } => {
                    if let Err(variable) = hole.render(context, *escape, out) {
                        out.truncate(length);
                        return Err(variable);
                    }
                }
            }
        }
        Ok(())
    }
}
