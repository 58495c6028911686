//! Scripts that import `k6/x/redis`, against a real Redis.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::services::{PASSWORD, Redis, RedisOptions, Service as _, USER};
use sojourn_testkit::{Output, closed_port, sojourn, temp_dir};

/// Runs a script; what it printed, and its metrics.
fn play(script: &Path, arguments: &[&str]) -> (Output, Value) {
    let folder = temp_dir().unwrap();
    let summary = folder.path().join("summary.json");
    let export = format!("--summary-export={}", summary.display());
    let script = script.display().to_string();
    let usual = ["k6", "run", "--quiet", &export, &script];
    let program = sojourn(usual.iter().chain(arguments)).timeout(Duration::from_secs(120));
    let output = program.run().unwrap();
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    (output, serde_json::from_str(&text).unwrap_or_default())
}

/// Runs a script's text; it must end well.
fn run(text: &str, variables: &[&str]) -> Output {
    let folder = temp_dir().unwrap();
    let script = folder.path().join("script.js");
    std::fs::write(&script, text).unwrap();
    let arguments: Vec<_> = variables.iter().flat_map(|variable| ["-e", variable]).collect();
    let (output, _) = play(&script, &arguments);
    assert_eq!(output.code, Some(0), "{output}");
    output
}

#[test]
fn every_command_does_what_it_says() {
    let redis = Redis::start().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6_redis/commands.js");
    let url = format!("REDIS={}/2", redis.url());
    let (output, metrics) = play(&script, &["-e", &url, "--vus", "3", "--iterations", "9"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stderr.contains("level=error"), "{output}");
    let checks = &metrics["metrics"]["checks"];
    assert_eq!(checks["fails"], 0, "{output}");
    // 82 checks of each iteration: one that is not reached is missed.
    assert_eq!(checks["passes"], 9 * 82, "{output}");
    // Bytes of its sockets count.
    let bytes = |metric: &str| metrics["metrics"][metric]["count"].as_f64().unwrap();
    assert!(bytes("data_sent") > 9.0 * 50_000.0 && bytes("data_received") > 9.0 * 50_000.0);
}

const PASSWORDS: &str = "import redis from 'k6/experimental/redis';
    import { Client } from 'k6/x/redis';
    const byUrl = new redis.Client(__ENV.REDIS);
    const at = { host: '127.0.0.1', port: Number(__ENV.PORT) };
    const byObject = new Client({
        socket: at, username: __ENV.NAME, password: __ENV.PASSWORD, database: 1, clientName: 'mine',
    });
    const none = new redis.Client({ socket: at });
    const wrong = new redis.Client({ socket: at, username: __ENV.NAME, password: 'wrong' });
    export default async function () {
        console.log('url', await byUrl.set('a', 'b', 0));
        const name = await byObject.sendCommand('CLIENT', 'GETNAME');
        console.log('object', await byObject.exists('a'), name);
        await none.get('a').catch((error) => console.log('none', error.message));
        await wrong.get('a').catch((error) => console.log('wrong', error.message));
    }";

#[test]
fn passwords_and_names_are_shown_to_the_server() {
    let redis = Redis::start_with(RedisOptions { password: true }).unwrap();
    let output = run(
        PASSWORDS,
        &[
            &format!("REDIS={}", redis.url_with_password()),
            &format!("PORT={}", redis.port()),
            &format!("NAME={USER}"),
            &format!("PASSWORD={PASSWORD}"),
        ],
    );
    for part in ["url OK", "object 0 mine", "none NOAUTH", "wrong WRONGPASS"] {
        assert!(output.stderr.contains(part), "{part}: {output}");
    }
}

const TLS: &str = "import redis from 'k6/x/redis';
    const at = { host: 'localhost', port: Number(__ENV.PORT) };
    const who = { username: __ENV.NAME, password: __ENV.PASSWORD };
    const trusting = new redis.Client({ socket: { ...at, tls: { ca: [open(__ENV.CA)] } }, ...who });
    const wary = new redis.Client(__ENV.REDIS);
    export default async function () {
        console.log('trusting', await trusting.sendCommand('PING'));
        await wary.get('a').catch((error) => console.log('wary', error.message));
    }";

#[test]
fn tls_trusts_who_is_named_and_nobody_else() {
    let redis = Redis::start().unwrap();
    let port = redis.url_tls().rsplit_once(':').unwrap().1.to_owned();
    let output = run(
        TLS,
        &[
            &format!("REDIS={}", redis.url_tls()),
            &format!("PORT={port}"),
            &format!("NAME={USER}"),
            &format!("PASSWORD={PASSWORD}"),
            &format!("CA={}", redis.ca_file().unwrap().display()),
        ],
    );
    assert!(output.stderr.contains("trusting PONG"), "{output}");
    assert!(output.stderr.contains("wary tls: "), "{output}");
}

const GONE: &str = "import redis from 'k6/x/redis';
    const nobody = new redis.Client(`redis://127.0.0.1:${__ENV.NOBODY}`);
    const at = { host: '127.0.0.1', port: Number(__ENV.PORT), readTimeout: 0.2 };
    const slow = new redis.Client({ socket: at });
    const client = new redis.Client(`redis://127.0.0.1:${__ENV.PORT}`);
    export const options = { iterations: 2 };
    export default async function () {
        await nobody.get('a').catch((error) => console.log('nobody', error.message));
        const late = (error) => console.log('slow', error.message);
        await slow.sendCommand('BLPOP', 'never', 5).catch(late);
        console.log('first', await client.incr('count'));
        // The server closes the connection; a new one is made.
        const kill = ['KILL', 'TYPE', 'normal', 'SKIPME', 'no'];
        await client.sendCommand('CLIENT', ...kill).catch(() => {});
        console.log('again', await client.incr('count'));
    }";

#[test]
fn servers_that_are_gone_or_slow_reject() {
    let redis = Redis::start().unwrap();
    let nobody = closed_port().unwrap();
    let variables = [format!("NOBODY={nobody}"), format!("PORT={}", redis.port())];
    let output = run(GONE, &[&variables[0], &variables[1]]);
    for part in [
        &format!("nobody dial tcp 127.0.0.1:{nobody}: connect: connection refused"),
        "slow i/o timeout",
        "first 1",
        "again 2",
        "first 3",
        "again 4",
    ] {
        assert!(output.stderr.contains(part), "{part}: {output}");
    }
}

#[test]
fn options_that_are_wrong_throw() {
    let text = "import redis from 'k6/x/redis';
        const sockets = [
            { hosts: 'a' }, { port: 'x' }, { tls: { ca: [1] } }, { readTimeout: 'soon' },
        ];
        const all = [
            undefined, 'http://me:s3cret@host', { cluster: { nodes: [] } }, { masterName: 'm' },
            {}, { user: 'x' }, ...sockets.map((socket) => ({ socket })),
        ];
        for (const one of all) {
            try { new redis.Client(one); console.log('made'); }
            catch (error) { console.log(error.message); }
        }
        export default function () {}";
    let output = run(text, &[]);
    for part in [
        "a URL (redis://host:6379/0) or an object",
        "invalid redis URL: the scheme",
        "empty socket options",
        "option \\\"cluster\\\": clusters and sentinels are not spoken to",
        "option \\\"masterName\\\": clusters",
        "unknown option \\\"socket.hosts\\\"",
        "\\\"socket.port\\\" must be a port",
        "\\\"socket.tls.ca\\\" must be PEM",
        "\\\"socket.readTimeout\\\" must be a number of seconds",
        "unknown option \\\"user\\\"",
    ] {
        assert!(output.stderr.contains(part), "{part}: {output}");
    }
    assert!(!output.stderr.contains("made") && !output.stderr.contains("s3cret"), "{output}");
}

#[test]
fn check_knows_the_modules() {
    let folder = temp_dir().unwrap();
    let script = "import redis from 'k6/experimental/redis';
        import { Client, Nonsense } from 'k6/x/redis';
        export default function () { new redis.Client(''); Client; Nonsense; }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let output = sojourn(["k6", "check", "s.js"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(104), "{output}");
    assert!(output.stdout.contains("≈ k6/experimental/redis: "), "{output}");
    assert!(output.stdout.contains("≈ k6/x/redis  Client: "), "{output}");
    assert!(output.stdout.contains("✗ k6/x/redis  Nonsense:"), "{output}");
}
