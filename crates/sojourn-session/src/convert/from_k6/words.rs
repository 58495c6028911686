//! What to write instead of what k6 scripts have.

pub(super) const CONDITION: &str =
    "the script runs once: take the value out by `extraction`, then session.if or session.while";
pub(super) const ASYNC: &str =
    "steps are declared at once and done one after the other: leave async and await out";
pub(super) const METRIC: &str =
    "there are no metrics of one's own: session.check counts, and every tag has its times";
pub(super) const DATA: &str = "session.ds.loadStructured reads CSV and TSV files, once for all";
pub(super) const ONCE: &str =
    "it would be evaluated once, for all clients: use session.ds.generate";
pub(super) const ENV: &str = "`--define NAME=VALUE` gives the script a global of that name";
pub(super) const TRY: &str =
    "steps throw nothing: look at session.lastHttpStatus(), which is 0 where no answer came";
pub(super) const STATE: &str = "clients share nothing: use session.setVar within one client, or \
                                the generator \"sequence\" over all";
pub(super) const SLEEP: &str = "session.waitUniform(least, most), or session.waitExp(mean)";
pub(super) const CHECK: &str = "take the value out by `extraction`, then \
                                session.check(name, session.getVar(\"x\"), \"=\", …)";

/// Modules that sessions have nothing of.
pub(super) fn of_module(module: &str) -> Option<&'static str> {
    Some(match module {
        "k6" | "k6/http" | "k6/metrics" | "k6/data" => return None,
        "k6/ws" | "k6/websockets" | "k6/experimental/websockets" => {
            "sessions speak HTTP; run the script as it is by `sojourn k6 run`"
        }
        "k6/net/grpc" | "k6/browser" | "k6/experimental/browser" => {
            "sessions speak HTTP; run the script as it is by `sojourn k6 run`"
        }
        "k6/html" => "values are taken out of HTML by `extraction: { xpath: { … } }`",
        "k6/execution" => "a session knows no user, iteration or scenario of its own",
        "k6/crypto" | "k6/encoding" => {
            "values have none yet when the script runs, so nothing can be computed from them"
        }
        "k6/timers" => "pauses are session.wait, session.waitUniform and session.waitExp",
        module if module.starts_with("k6/") => "sessions have nothing of this module",
        module if module.starts_with("http") => {
            "modules from the net are not loaded: keep a copy beside the script, and mind that it \
             runs once, without clients"
        }
        _ => return None,
    })
}

/// Exported functions.
pub(super) fn of_function(name: &str) -> &'static str {
    match name {
        "setup" | "teardown" => {
            "a session test has no part before or after its clients: prepare the target by other \
             means, or let each client log in"
        }
        "handleSummary" => "reports are files: `--report x.json`, `--report x.html`",
        _ => "a scenario's function is a session of its own: definition.session(name, function)",
    }
}

/// Options of a test.
pub(super) fn of_option(key: &str) -> &'static str {
    match key {
        "scenarios" => {
            "one session for each, with definition.setArrivalPhases and setSessionWeights: clients \
             arrive by a rate, they are not so many users"
        }
        "vus" | "stages" | "duration" | "iterations" => {
            "definition.setArrivalPhases([{ duration, rate, max_clients }]): clients arrive by a \
             rate; so many at once are `max_clients` whose session is a session.forEver"
        }
        "thresholds" => "a file of requirements: see docs/session-dsl.md",
        "tags" => "`tag` of each request",
        "userAgent" => "session.defaults.setHeader(\"User-Agent\", …)",
        "insecureSkipTLSVerify" => "the flag --insecure",
        "maxRedirects" => "redirects are followed, ten at most, to targets only",
        _ => "session tests have no such option",
    }
}

/// Functions of the module `k6`.
pub(super) fn of_k6(name: &str) -> Option<&'static str> {
    Some(match name {
        "group" => "there are no groups: give the requests one `tag`",
        "fail" => "session.assert(name, a, cmp, b) ends the client where it does not hold",
        "randomSeed" => "the flag --seed",
        _ => return None,
    })
}

/// Functions of the module `k6/http` that are no request which a session can make.
pub(super) fn of_http(name: &str) -> Option<&'static str> {
    Some(match name {
        "get" | "post" | "put" | "patch" | "del" | "head" | "options" | "request" => return None,
        "batch" => "a client asks for one thing at a time: write one request after the other",
        "asyncRequest" => "session.get and the like: steps are done one after the other",
        "file" => "session.ds.getRawFile(path) is a whole body; there are no multipart forms",
        "cookieJar" => "a client's cookies are its own, scripts do not see them",
        "url" => "the option `tag` gives requests of several URLs one name",
        "expectedStatuses" | "setResponseCallback" => {
            "a status of 400 or more is a failure; session.check states anything else"
        }
        _ => "sessions have nothing of this function",
    })
}

/// Calls of functions that are there without an import, as they are written.
pub(super) fn of_call(callee: &str) -> Option<&'static str> {
    Some(match callee {
        "Math.random" | "Date.now" | "crypto.getRandomValues" | "crypto.randomUUID" => ONCE,
        "open" => {
            "session.ds.loadStructured(path) for rows, session.ds.getRawFile(path) for bodies"
        }
        "setTimeout" | "setInterval" => "session.wait(seconds)",
        _ if callee.starts_with("console.") => {
            "it would be written once: session.log(text) writes for each client"
        }
        _ => return None,
    })
}

/// Parts of an answer.
pub(super) fn of_answer(part: &str) -> &'static str {
    match part {
        "status" => "session.lastHttpStatus(), for session.if, session.check and texts",
        "json" => "extraction: { jsonpath: { x: \"$.path\" } }, then session.getVar(\"x\")",
        "body" => "extraction: { regexp: { x: \"…\" } } and the like, then session.getVar(\"x\")",
        "headers" => "extraction: { header: { x: \"Name\" } }, then session.getVar(\"x\")",
        "html" => "extraction: { xpath: { x: \"//…\" } }, then session.getVar(\"x\")",
        "timings" => "scripts see no times; requirements look at them after the run",
        "cookies" => "a client's cookies are its own, scripts do not see them",
        _ => "take what is needed out of the answer by `extraction`",
    }
}

/// Globals.
pub(super) fn of_global(name: &str) -> &'static str {
    match name {
        "__ENV" => ENV,
        "__ITER" => "a client walks through its session once; session.times repeats",
        _ => "clients have no number that the script sees: session.ds.generate(\"sequence\", {})",
    }
}
