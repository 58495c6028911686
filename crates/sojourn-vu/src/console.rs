//! What scripts print and what is to be said about them: log lines on standard error.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use sojourn_k6::log::LeastLevel;
use sojourn_script::ScriptError;

use crate::thread::Shown;

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// `time="…" level=info msg="…"`, or `INFO[0000] …` on a terminal.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
    /// The message alone.
    Raw,
}

/// Where log lines go.
pub type LogSink = Box<dyn std::io::Write + Send>;

/// A log, shared by all threads.
pub struct Console {
    format: LogFormat,
    /// Of the log's own lines, if they have another one than the script's.
    log_format: Option<LogFormat>,
    /// Lines of the log that are less grave are left out.
    least: LeastLevel,
    is_verbose: bool,
    /// Seconds since the start instead of times of day.
    is_terminal: bool,
    start_ns: u64,
    log: Mutex<LogSink>,
    /// What `console.log` prints goes here instead.
    script: Option<Mutex<LogSink>>,
    /// Texts that no line may show.
    hidden: RwLock<Vec<String>>,
}

/// How grave a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Only with `--verbose`.
    Debug,
    /// What goes on.
    Info,
    /// What may be wrong.
    Warning,
    /// What is.
    Error,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    fn rank(self) -> LeastLevel {
        match self {
            Self::Debug => LeastLevel::Debug,
            Self::Info => LeastLevel::Info,
            Self::Warning => LeastLevel::Warning,
            Self::Error => LeastLevel::Error,
        }
    }

    fn short(self) -> &'static str {
        match self {
            Self::Debug => "DEBU",
            Self::Info => "INFO",
            Self::Warning => "WARN",
            Self::Error => "ERRO",
        }
    }
}

impl Console {
    /// A log in this format. `script`: where the script's own lines go, if elsewhere.
    pub fn new(
        format: LogFormat,
        is_verbose: bool,
        is_terminal: bool,
        log: LogSink,
        script: Option<LogSink>,
    ) -> Self {
        let start_ns = sojourn_clock::now_ns();
        let script = script.map(Mutex::new);
        Self {
            format,
            log_format: None,
            least: LeastLevel::default(),
            is_verbose,
            is_terminal,
            start_ns,
            log: Mutex::new(log),
            script,
            hidden: RwLock::default(),
        }
    }

    /// The same whose log has only what is as grave as this.
    #[must_use]
    pub fn from_level(self, least: LeastLevel) -> Self {
        Self { least, ..self }
    }

    /// The same whose log has a format of its own, if one is given.
    #[must_use]
    pub fn with_log_format(self, log_format: Option<LogFormat>) -> Self {
        Self { log_format, ..self }
    }

    /// From now on no line shows this text.
    pub(crate) fn hide(&self, secret: &str) {
        let mut hidden = self.hidden.write().unwrap_or_else(PoisonError::into_inner);
        if !secret.is_empty() && !hidden.iter().any(|known| known == secret) {
            hidden.push(secret.to_owned());
        }
    }

    /// The text without what is hidden.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let hidden = self.hidden.read().unwrap_or_else(PoisonError::into_inner);
        hidden
            .iter()
            .filter(|secret| text.contains(secret.as_str()))
            .fold(Cow::Borrowed(text), |text, secret| {
                Cow::Owned(text.replace(secret.as_str(), "***SECRET_REDACTED***"))
            })
    }

    /// What a script prints.
    pub(crate) fn script(&self, level: Level, text: &str) {
        self.line(level, text, &[("source", "console")], self.script.as_ref());
    }

    /// A line that another process has made of its own, as it is to be written. `is_script`: the
    /// script has printed it, and has a place of its own for that.
    pub(crate) fn pass_on(&self, is_script: bool, line: &[u8]) {
        let elsewhere = self.script.as_ref().filter(|_| is_script);
        self.write(elsewhere, line);
    }

    /// An exception that ended an iteration.
    pub(crate) fn exception(&self, error: &ScriptError, shown: Shown<'_>) {
        if error.is_rejection {
            let text = format!("Uncaught (in promise) {}\n", error.with_stack());
            let fields = [("executor", shown.executor), ("scenario", shown.scenario)];
            return self.line(Level::Error, &text, &fields, None);
        }
        let fields = [
            ("executor", shown.executor),
            ("hint", "script exception"),
            ("scenario", shown.scenario),
            ("source", "stacktrace"),
        ];
        self.line(Level::Error, &format!("{}\n", error.with_stack()), &fields, None);
    }

    /// What ended the test, or its beginning, with what else is known of it.
    pub fn failure(&self, text: &str, fields: &[(&str, &str)]) {
        self.line(Level::Error, text, fields, None);
    }

    /// A request that came to nothing.
    pub(crate) fn request_failed(&self, error: &str) {
        self.line(Level::Warning, "Request Failed", &[("error", error)], None);
    }

    /// A batch of requests of which none was sent.
    pub(crate) fn batch_failed(&self, error: &str) {
        self.line(Level::Warning, "A batch request failed", &[("error", error)], None);
    }

    /// A request or an answer in full.
    pub(crate) fn http_debug(&self, text: &str, fields: &[(&str, &str)]) {
        self.line(Level::Info, text, fields, None);
    }

    /// Something that may be wrong.
    pub fn warn(&self, text: &str) {
        self.line(Level::Warning, text, &[], None);
    }

    /// Something that is wrong.
    pub fn error(&self, text: &str) {
        self.line(Level::Error, text, &[], None);
    }

    /// Something worth knowing.
    pub fn info(&self, text: &str) {
        self.line(Level::Info, text, &[], None);
    }

    fn line(
        &self,
        level: Level,
        text: &str,
        fields: &[(&str, &str)],
        elsewhere: Option<&Mutex<LogSink>>,
    ) {
        let is_left_out = elsewhere.is_none() && level.rank() < self.least;
        if level == Level::Debug && !self.is_verbose || is_left_out {
            return;
        }
        let text = &*self.shown(text);
        let own = self.log_format.filter(|_| elsewhere.is_none());
        let mut line = match own.unwrap_or(self.format) {
            LogFormat::Raw => text.to_owned(),
            LogFormat::Json => self.json(level, text, fields),
            LogFormat::Text if self.is_terminal => self.short(level, text, fields),
            LogFormat::Text => self.pairs(level, text, fields),
        };
        line.push('\n');
        self.write(elsewhere, line.as_bytes());
    }

    fn write(&self, elsewhere: Option<&Mutex<LogSink>>, line: &[u8]) {
        let mut sink =
            elsewhere.unwrap_or(&self.log).lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody is left to be told that the log can't be written.
        sink.write_all(line).and_then(|()| sink.flush()).ok();
    }

    fn json(&self, level: Level, text: &str, fields: &[(&str, &str)]) -> String {
        let mut object = serde_json::Map::new();
        for (name, value) in fields {
            object.insert((*name).to_owned(), (*value).into());
        }
        object.insert("level".to_owned(), level.word().into());
        object.insert("msg".to_owned(), text.into());
        object.insert("time".to_owned(), now().into());
        object.sort_keys();
        serde_json::Value::Object(object).to_string()
    }

    fn short(&self, level: Level, text: &str, fields: &[(&str, &str)]) -> String {
        let seconds = (sojourn_clock::now_ns() - self.start_ns) / sojourn_clock::SECOND_NS;
        let mut line = format!("{}[{seconds:04}] {text:<44} ", level.short());
        for (name, value) in fields {
            // Writing to a string can't fail.
            write!(line, " {name}={value}").ok();
        }
        line.truncate(line.trim_end().len());
        line
    }

    fn pairs(&self, level: Level, text: &str, fields: &[(&str, &str)]) -> String {
        let mut line = format!("time=\"{}\" level={}", now(), level.word());
        let message = Some(("msg", text)).filter(|_| !text.is_empty());
        for (name, value) in message.iter().chain(fields) {
            // Writing to a string can't fail.
            write!(line, " {name}={}", quoted_if_needed(value)).ok();
        }
        line
    }
}

/// To seconds, in the zone of this machine.
fn now() -> String {
    let zoned = Timestamp::now().to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().replace("+00:00", "Z")
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn quoted_if_needed(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/@^+".contains(&byte);
    if !text.is_empty() && text.bytes().all(is_plain) { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("whole").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, is_terminal: bool) -> String {
        let kept = Kept::default();
        let console = Console::new(format, false, is_terminal, Box::new(kept.clone()), None);
        console.script(Level::Debug, "not shown");
        console.script(Level::Info, "a \"b\"");
        let bytes = kept.0.lock().expect("whole").clone();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn lines_in_each_format() {
        assert_eq!(logged(LogFormat::Raw, false), "a \"b\"\n");
        let text = logged(LogFormat::Text, false);
        let rest = " level=info msg=\"a \\\"b\\\"\" source=console\n";
        assert!(text.starts_with("time=\"2") && text.ends_with(rest), "{text}");
        let short = logged(LogFormat::Text, true);
        assert!(short.starts_with("INFO[0000] a \"b\"") && short.ends_with("source=console\n"));
        assert_eq!(quoted_if_needed("a+b-c.d/e@f^g_h"), "a+b-c.d/e@f^g_h");
        assert_eq!(["a:b", "ä", "a,b"].map(quoted_if_needed), ["\"a:b\"", "\"ä\"", "\"a,b\""]);
        let json = logged(LogFormat::Json, false);
        assert!(json.starts_with(r#"{"level":"info","msg":"a \"b\"","source":"console","time":""#));
    }

    #[test]
    fn the_log_may_have_a_level_and_a_format_of_its_own() {
        let (log, script) = (Kept::default(), Kept::default());
        let to_script: LogSink = Box::new(script.clone());
        let console =
            Console::new(LogFormat::Raw, true, false, Box::new(log.clone()), Some(to_script))
                .from_level(LeastLevel::Warning)
                .with_log_format(Some(LogFormat::Json));
        console.script(Level::Info, "by the script");
        console.info("not told");
        console.warn("told");
        let text = |kept: &Kept| String::from_utf8(kept.0.lock().expect("whole").clone());
        assert_eq!(text(&script).as_deref(), Ok("by the script\n"));
        let log = text(&log).expect("text");
        assert!(log.starts_with(r#"{"level":"warning","msg":"told""#), "{log}");
        assert_eq!(log.lines().count(), 1, "{log}");
    }

    #[test]
    fn words_stand_without_quotes_and_an_empty_text_is_left_out() {
        let kept = Kept::default();
        let console = Console::new(LogFormat::Text, false, false, Box::new(kept.clone()), None);
        console.script(Level::Info, "hello");
        console.script(Level::Info, "");
        let text = String::from_utf8(kept.0.lock().expect("whole").clone()).expect("text");
        let rests = text.lines().filter_map(|line| line.split_once("\" ").map(|(_, rest)| rest));
        let rests: Vec<_> = rests.collect();
        assert_eq!(rests, ["level=info msg=hello source=console", "level=info source=console"]);
    }
}
