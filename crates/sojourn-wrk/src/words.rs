//! The command line: wrk's words, wrk2's `-R` and `-U`, and what is wrong with them.

use std::path::PathBuf;

use crate::units;

/// Most threads: each has a client and a Lua state of its own.
const THREADS_MAX: u64 = 256;

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A load.
    Load(Box<Words>),
    /// The version.
    Version,
    /// Help.
    Help,
}

/// A load in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Connections in all, at least one for each thread.
    pub connections: u32,
    /// Generator threads.
    pub threads: u32,
    /// How long, nanoseconds.
    pub duration_ns: u64,
    /// Answers beyond it count as late, nanoseconds.
    pub timeout_ns: u64,
    /// Lua script.
    pub script: Option<PathBuf>,
    /// Headers, (name, value).
    pub headers: Vec<(String, String)>,
    /// Print the distribution of latencies.
    pub latency: bool,
    /// And that of service times.
    pub service: bool,
    /// Requests a second in all; `None`: as many as the connections allow.
    pub rate: Option<u64>,
    /// A run file to write besides.
    pub output: Option<PathBuf>,
    /// Where to.
    pub url: String,
    /// Words for the script.
    pub arguments: Vec<String>,
}

/// What is wrong with the words; to be followed by [`usage`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordError(pub String);

impl std::fmt::Display for WordError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WordError {}

/// The options: letter, name, whether it takes a value, what it does.
const OPTIONS: &[(Option<char>, &str, Option<&str>, &str)] = &[
    (Some('c'), "connections", Some("N"), "Connections to keep open, in all [10]"),
    (Some('d'), "duration", Some("T"), "How long to load [10s]"),
    (Some('t'), "threads", Some("N"), "Threads that make the load [2]"),
    (Some('s'), "script", Some("FILE"), "Lua script"),
    (Some('H'), "header", Some("NAME: VALUE"), "Header of every request, repeatable"),
    (Some('L'), "latency", None, "Print the distribution of latencies"),
    (Some('T'), "timeout", Some("T"), "A later answer counts as timed out, too [2s]"),
    (Some('R'), "rate", Some("N"), "Requests a second, each due at its own instant"),
    (Some('U'), "u_latency", None, "With -R: print that of service times, too"),
    (None, "output", Some("FILE"), "Run file to write, for `sojourn report`"),
    (Some('v'), "version", None, "Print the version"),
    (Some('h'), "help", None, "Print this"),
];

/// How to use it.
pub fn usage() -> String {
    let mut text =
        "Usage: sojourn wrk <options> <url> [-- <words for the script>]\n  Options:\n".to_owned();
    for (letter, name, value, what) in OPTIONS {
        let letter = letter.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        let value = value.map_or(String::new(), |value| format!(" <{value}>"));
        text.push_str(&format!("    {:<27} {what}\n", format!("{letter}--{name}{value}")));
    }
    text.push_str(
        "\n  Numbers may have a unit (1k, 1M, 1G), and so may times (2s, 2m, 2h, 500ms)\n",
    );
    text
}

/// Reads the words after the command's name.
pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Asked, WordError> {
    let mut reader = Reader { words: words.iter().map(AsRef::as_ref).collect(), at: 0 };
    let mut load = Words {
        connections: 10,
        threads: 2,
        duration_ns: 10_000_000_000,
        timeout_ns: 2_000_000_000,
        script: None,
        headers: Vec::new(),
        latency: false,
        service: false,
        rate: None,
        output: None,
        url: String::new(),
        arguments: Vec::new(),
    };
    let mut others = Vec::new();
    while let Some(word) = reader.next() {
        if word == "--" {
            others.extend(reader.rest());
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let option = long_option(name)?;
            let value = reader.value(option, &format!("--{option}"), value)?;
            match option {
                "version" => return Ok(Asked::Version),
                "help" => return Ok(Asked::Help),
                _ => load.set(option, value)?,
            }
        } else if word.len() > 1 && word.starts_with('-') {
            if let Some(asked) = letters(word, &mut reader, &mut load)? {
                return Ok(asked);
            }
        } else {
            others.push(word);
        }
    }
    load.check(&others)?;
    Ok(Asked::Load(Box::new(load)))
}

/// `-c10`, `-c 10`, `-Lt4`.
fn letters<'w>(
    word: &'w str,
    reader: &mut Reader<'w>,
    load: &mut Words,
) -> Result<Option<Asked>, WordError> {
    let mut rest = word[1..].chars();
    while let Some(letter) = rest.next() {
        let known = OPTIONS.iter().find(|(known, ..)| *known == Some(letter));
        let (_, option, takes_value, _) =
            known.ok_or_else(|| WordError(format!("unknown option -{letter}")))?;
        match *option {
            "version" => return Ok(Some(Asked::Version)),
            "help" => return Ok(Some(Asked::Help)),
            _ => {}
        }
        if takes_value.is_none() {
            load.set(option, "")?;
            continue;
        }
        let attached = Some(rest.as_str()).filter(|attached| !attached.is_empty());
        let value = reader.value(option, &format!("-{letter}"), attached)?;
        load.set(option, value)?;
        break;
    }
    Ok(None)
}

/// The option of this name, or of the only name that begins so.
fn long_option(name: &str) -> Result<&'static str, WordError> {
    let names = OPTIONS.iter().map(|(_, known, ..)| *known);
    let fitting: Vec<&str> = names.filter(|known| known.starts_with(name)).collect();
    match fitting.as_slice() {
        [option] => Ok(option),
        many if many.contains(&name) => {
            Ok(many.iter().find(|known| **known == name).copied().unwrap_or_default())
        }
        [] => Err(WordError(format!("unknown option --{name}"))),
        many => Err(WordError(format!("--{name} may mean --{}", many.join(" or --")))),
    }
}

struct Reader<'w> {
    words: Vec<&'w str>,
    at: usize,
}

impl<'w> Reader<'w> {
    fn next(&mut self) -> Option<&'w str> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word
    }

    fn rest(&mut self) -> Vec<&'w str> {
        let rest = self.words.get(self.at..).unwrap_or_default().to_vec();
        self.at = self.words.len();
        rest
    }

    /// The value of an option: attached, or the next word. Empty for one that takes none.
    fn value(
        &mut self,
        option: &str,
        shown: &str,
        attached: Option<&'w str>,
    ) -> Result<&'w str, WordError> {
        let takes = OPTIONS.iter().any(|(_, known, value, _)| *known == option && value.is_some());
        match (takes, attached) {
            (true, Some(value)) => Ok(value),
            (true, None) => self.next().ok_or_else(|| WordError(format!("{shown} needs a value"))),
            (false, None) => Ok(""),
            (false, Some(_)) => Err(WordError(format!("{shown} takes no value"))),
        }
    }
}

impl Words {
    fn set(&mut self, option: &str, value: &str) -> Result<(), WordError> {
        let wrong = |why: String| WordError(format!("--{option}: {why}"));
        let count = |most: u64| match units::count(value).map_err(wrong)? {
            0 => Err(wrong("0 is no load".to_owned())),
            number if number > most => Err(wrong(format!("{value} is more than {most}"))),
            number => Ok(number),
        };
        match option {
            "connections" => self.connections = count(u64::from(u32::MAX))? as u32,
            "threads" => self.threads = count(THREADS_MAX)? as u32,
            "duration" => self.duration_ns = units::duration_ns(value).map_err(wrong)?,
            "timeout" => self.timeout_ns = units::duration_ns(value).map_err(wrong)?,
            "rate" => self.rate = Some(count(1_000_000_000)?),
            "script" => self.script = Some(value.into()),
            "output" => self.output = Some(value.into()),
            "latency" => self.latency = true,
            "u_latency" => self.service = true,
            "header" => {
                let pair = value.split_once(':').map(|(name, text)| (name.trim(), text.trim()));
                // The value may be a secret.
                let (name, text) = pair
                    .filter(|(name, _)| !name.is_empty())
                    .ok_or_else(|| wrong("a header is written 'Name: value'".to_owned()))?;
                self.headers.push((name.to_owned(), text.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&mut self, others: &[&str]) -> Result<(), WordError> {
        let [url, arguments @ ..] = others else {
            return Err(WordError("a URL is missing".to_owned()));
        };
        self.url = (*url).to_owned();
        self.arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        if self.connections < self.threads {
            return Err(WordError("number of connections must be >= threads".to_owned()));
        }
        if self.service && self.rate.is_none() {
            return Err(WordError(
                "-U needs -R: without a rate, the latency is the service time".to_owned(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn load(words: &str) -> Words {
        match parse(&words.split(' ').collect::<Vec<_>>()) {
            Ok(Asked::Load(words)) => *words,
            other => panic!("{words}: {other:?}"),
        }
    }

    fn error(words: &[&str]) -> String {
        parse(words).expect_err(&words.join(" ")).0
    }

    #[test]
    fn every_spelling_of_an_option_is_read() {
        let plain = load("-c 100 -t 4 -d 30s --timeout 5s --latency http://h/");
        for words in [
            "-c100 -t4 -d30s -T5s -L http://h/",
            "--connections=100 --threads=4 --duration=30s --timeout=5s --latency http://h/",
            "http://h/ -c 100 -Lt4 --dur 30s --time 5s",
            "-Lc100 --thr=4 -d 30 --timeout=5 -- http://h/",
        ] {
            assert_eq!(load(words), plain, "{words}");
        }
        assert_eq!((plain.connections, plain.threads), (100, 4));
        assert_eq!((plain.duration_ns, plain.timeout_ns), (30_000_000_000, 5_000_000_000));
    }

    #[test]
    fn the_usual_values() {
        let words = load("http://h/");
        assert_eq!((words.connections, words.threads), (10, 2));
        assert_eq!((words.duration_ns, words.timeout_ns), (10_000_000_000, 2_000_000_000));
        assert_eq!((words.latency, words.rate), (false, None));
    }

    #[test]
    fn words_after_the_url_go_to_the_script() {
        let words = load("-s a.lua http://h/ -- one -c 5");
        assert_eq!(words.arguments, ["one", "-c", "5"]);
        assert_eq!(words.connections, 10);
        assert_eq!(load("http://h/ one two").arguments, ["one", "two"]);
        assert_eq!(load("-R 2k -UL http://h/").rate, Some(2_000));
    }

    #[test]
    fn headers_are_split_and_their_values_kept_out_of_errors() {
        let Ok(Asked::Load(words)) = parse(&["-H", "X-A: b: c", "-HHost:x", "http://h"]) else {
            panic!("headers");
        };
        let pairs = [("X-A", "b: c"), ("Host", "x")];
        assert_eq!(words.headers, pairs.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert!(!error(&["-H", "secret", "http://h"]).contains("secret"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, what) in [
            (&["-c", "10"][..], "a URL is missing"),
            (&["-c"], "-c needs a value"),
            (&["-c", "x", "u"], "\"x\" is not a number"),
            (&["-c", "0", "u"], "--connections: 0 is no load"),
            (&["-t", "257", "-c1k", "u"], "more than 256"),
            (&["-t4", "-c3", "u"], "connections must be >= threads"),
            (&["--nope", "u"], "unknown option --nope"),
            (&["-x", "u"], "unknown option -x"),
            (&["--t", "u"], "--t may mean --threads or --timeout"),
            (&["--latency=yes", "u"], "--latency takes no value"),
            (&["-U", "u"], "-U needs -R"),
            (&["-d", "1x", "u"], "\"1x\" is not a time"),
        ] {
            assert!(error(words).contains(what), "{words:?}: {}", error(words));
        }
        assert_eq!(parse(&["-v"]), Ok(Asked::Version));
        assert_eq!(parse(&["--help"]), Ok(Asked::Help));
    }

    #[test]
    fn the_usage_names_every_option() {
        let usage = usage();
        for (letter, name, ..) in OPTIONS {
            assert!(usage.contains(&format!("--{name}")));
            assert!(letter.is_none_or(|letter| usage.contains(&format!("-{letter}, "))));
        }
        assert!(usage.lines().all(|line| line.len() <= 80), "{usage}");
    }

    proptest! {
        #[test]
        fn nothing_panics(words in proptest::collection::vec("-{0,2}\\PC{0,12}", 0..6)) {
            // Any answer will do.
            let _ignored = parse(&words);
        }
    }
}
