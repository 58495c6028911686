//! How a command may end, and what it says or leaves behind.

use sojourn_testkit::Output;

use super::{page::Command, shop::Shop};

/// Of runs that are bounded: the machine may be too slow for a bound on latency or lag, or for a
/// rate. Two runs of one plan may differ on a busy machine.
const BOUNDED: [&str; 10] = [
    "-fail-if",
    "-rate 40000",
    "sojourn demo",
    "-- demo",
    "sojourn compare",
    "event-queue.yaml",
    "--nfr",
    "sojourn search",
    "-target-",
    "--prometheus",
];

/// The exit codes that a command may have.
fn codes(line: &str) -> &'static [i32] {
    match () {
        // It only says what stands in the way.
        () if line.contains("convert k6-script.js") => &[2],
        () if BOUNDED.into_iter().any(|it| line.contains(it)) => &[0, 3, 99],
        () => &[0],
    }
}

/// Whether a run ended void for nothing but that the machine held its generators up, as busy ones do.
fn was_held_up(code: i32, output: &Output) -> bool {
    let all = format!("{}\n{}", output.stdout, output.stderr);
    let mut reasons = all
        .lines()
        .skip_while(|line| !line.starts_with("These numbers may not be believed"))
        .skip_while(|line| !line.starts_with("  - "))
        .take_while(|line| line.starts_with("  - "))
        .peekable();
    code == 3 && reasons.peek().is_some() && reasons.all(|line| line.starts_with("  - generator "))
}

/// A command that has ended.
struct Ended<'a> {
    place: String,
    output: &'a Output,
    shop: &'a Shop,
}

impl Ended<'_> {
    #[track_caller]
    fn says(&self, words: &str) {
        let Self { place, output, .. } = self;
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains(words), "{words}: {place}: {output}");
    }

    #[track_caller]
    fn wrote(&self, file: &str, words: &str) {
        let Self { place, output, shop } = self;
        let text = shop.read(file);
        assert!(text.contains(words), "{words} in {file}: {place}: {text}\n{output}");
    }
}

/// Looks at what a command said and left behind.
pub(super) fn check(command: &Command, output: &Output, shop: &Shop) {
    let place = format!("{}: {}", command.place, command.line);
    let code = output.code.unwrap_or(-1);
    let may_end_so = codes(&command.line).contains(&code) || was_held_up(code, output);
    assert!(may_end_so, "{place}: {output}");
    let words = command.words();
    let ended = Ended { place, output, shop };
    match words.as_slice() {
        [.., "demo"] | ["sojourn", "demo", ..] => ended.says("JOURNEY payment"),
        ["sojourn", "run", ..] => check_run(&words, &ended),
        // Results, as Vegeta writes them where no terminal is, for those that read them.
        ["sojourn", "attack", ..] if !command.has("-output") => ended.says("GET"),
        ["echo", .., "report"] => ended.says("Latencies"),
        ["sojourn", "convert" | "completions" | "schema" | "man" | "encode" | "plot", ..]
        | ["sojourn", "k6" | "session" | "mock" | "fleet" | "image", ..] => {
            check_made(&words, &ended);
        }
        _ => check_seen(&words, &ended),
    }
    let pairs = words.windows(2);
    for pair in pairs.clone().filter(|pair| pair[0] == "--report") {
        let is_there = shop.path(pair[1]).is_file();
        assert!(is_there, "{} is not there: {}: {output}", pair[1], ended.place);
    }
    // A sign within quotes compares.
    let is_name = |pair: &&[&str]| !pair[1].contains('\'');
    let to = pairs.filter(is_name).find(|it| matches!(it[0], "-output" | "--output" | ">"));
    if let Some(file) = to.map(|pair| shop.path(&pair[1].replace('~', "."))) {
        assert!(file.exists(), "{} is not there: {}", file.display(), ended.place);
    }
}

fn check_run(words: &[&str], ended: &Ended<'_>) {
    match words {
        [_, _, _, "--once", ..] => ended.says("created"),
        [_, _, "script.js", ..] => ended.says("checks_succeeded"),
        [_, _, "test.js", "--validate", ..] => ended.says("3/3 requirements met"),
        [.., "--detach"] => ended.says(super::cluster::RUN),
        _ if words.contains(&"kubernetes") => ended.says("running on here"),
        [_, _, "test.js", ..] => ended.says("reader"),
        _ if words.contains(&"--quiet") => {}
        [_, _, "examples/event-queue.yaml", ..] => ended.says("JOURNEY order"),
        _ => ended.says("JOURNEY create"),
    }
    let leaves_none = ["--once", "--validate", "--detach", "script.js"];
    if !words.iter().any(|word| leaves_none.contains(word)) {
        ended.shop.name_run_file();
    }
}

/// Files that are no reports, and what belongs to scripts, mocks and clusters.
fn check_made(words: &[&str], ended: &Ended<'_>) {
    match words {
        ["sojourn", "convert", "recorded.har", ">", file] => {
            ended.wrote(file, "definition.session");
            ended.shop.has_scripts();
        }
        ["sojourn", "convert", .., file] if file.ends_with("yaml") => {
            ended.wrote(file, "journeys:");
            ended.shop.has_journey_files();
        }
        ["sojourn", "convert", ..] => ended.says("k6-script.js"),
        ["sojourn", "completions", .., file] => {
            ended.wrote(&file.replace('~', "."), "--report");
        }
        ["sojourn", "schema", .., file] => ended.wrote(file, "$schema"),
        ["sojourn", "man", "--output", folder] => {
            ended.wrote(&format!("{}/sojourn-run.1", folder.replace('~', ".")), ".TH");
        }
        ["sojourn", "man", ..] => ended.says("sojourn"),
        ["sojourn", "encode", .., file] => ended.wrote(file, ",200,"),
        ["sojourn", "plot", .., file] => ended.wrote(file, "first run"),
        ["sojourn", "k6", "new"] => ended.wrote("fresh/script.js", "export default"),
        ["sojourn", "k6", "types"] => ended.wrote("types/sojourn.d.ts", "export"),
        ["sojourn", "k6", "archive", ..] => assert!(ended.shop.path("test.tar").is_file()),
        ["sojourn", "k6", "inspect", ..] => ended.says("maxVUs"),
        ["sojourn", "k6", "run", ..] => ended.says("checks_succeeded"),
        ["sojourn", "k6", "resume"] => ended.says("paused: false"),
        ["sojourn", "k6", "pause"] => ended.says("paused: true"),
        ["sojourn", "k6", "stats"] => ended.says("http_reqs"),
        ["sojourn", "k6", "scale", ..] => ended.says("vus-max: 20"),
        ["sojourn", "session", "curl", ..] => ended.says("curl"),
        ["sojourn", "session", "run", ..] => ended.says("reader"),
        ["sojourn", "mock", "selfcheck"] => ended.says("highest: "),
        ["sojourn", "fleet", "manifests", .., file] => ended.wrote(file, "kind: Job"),
        ["sojourn", "fleet", "role", ..] => ended.says("kind: RoleBinding"),
        ["sojourn", "fleet", command, ..] => {
            let calls = ended.shop.calls();
            let told = match *command {
                "stop" => "fleet interrupt",
                "delete" => "delete job",
                "report" => "fleet hand",
                _ => "get jobs",
            };
            assert!(calls.contains(told), "{told}: {}: {calls}\n{}", ended.place, ended.output);
        }
        _ => {}
    }
}

/// What is only looked at, or changed.
fn check_seen(words: &[&str], ended: &Ended<'_>) {
    let shop = ended.shop;
    match words {
        ["sojourn", "init", ..] => shop.shorten_journey(),
        ["sojourn", "doctor", ..] => ended.says("plan"),
        ["sojourn", "discover", _, ">", file] => ended.wrote(file, "ThingDone"),
        ["sojourn", "discover", ..] => ended.says("ThingDone"),
        ["sojourn", "search", ..] => ended.says("STEPS"),
        ["sojourn", "sweep", ..] if words.contains(&"--before") => {
            let told = shop.read("kubectl.txt");
            let scaled = told.lines().filter(|line| line.contains("deployment/")).count();
            assert_eq!(scaled, 3, "{told}");
        }
        ["sojourn", "wrk", ..] => ended.says("Requests/sec"),
        ["sojourn", "rate"] => ended.says("my-journey"),
        ["sojourn", "rate", ..] => ended.says("the plan's rate"),
        ["sojourn", "coordinator", "script.js", ..] => ended.says("checks_succeeded"),
        ["sojourn", "coordinator", ..] => ended.says("JOURNEY create"),
        ["sojourn", "report", _, "--journey", "pay:4711"] => ended.says("pay:4711  completed"),
        ["sojourn", "report", _, "--journey", _] => ended.says("no such key"),
        ["sojourn", "report", "results.bin"] => ended.says("Latencies"),
        ["sojourn", "report", "-type='hist[0,1ms,10ms,100ms]'", ..] => ended.says("Histogram"),
        ["sojourn", "report", .., "md"] => ended.says("| "),
        ["curl", ..] => ended.wrote("issued.pem", "BEGIN CERTIFICATE"),
        _ => {}
    }
}
