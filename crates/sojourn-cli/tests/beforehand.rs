//! What happens around the load: setup and refresh, whether targets can be reached, what a run that
//! cannot begin leaves behind, what is told each second.

use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use sojourn_broker::Registry;
use sojourn_engine::{RunOptions, Stop};
use sojourn_http::{ConnectTo, Proxies, Proxy};
use sojourn_testkit::closed_port;

use super::{
    common::{alone, plan, run},
    follow_up::{System, ok, run_on},
};

const LOAD: &str = "load: { rate: 20/s, steady: 250ms, drain: 2s }
health: { lag_p99_max: 5s, silent_max: 5s }
";

#[test]
fn setup_follows_redirects_by_the_rule_of_the_journeys() {
    let other = System::start(|_, _| ok("{}"));
    let away = format!("location: http://localhost:{}/there\r\n", other.address.port());
    let system = System::start(move |asked, _| match asked.line.as_str() {
        "POST /login" => (302, "location: /session\r\n".into(), Vec::new()),
        "GET /away" => (302, away.clone(), Vec::new()),
        _ => ok(r#"{"token":"t1"}"#),
    });
    let text = "
setup:
  - { name: log-in, http: { method: POST, url: /login, body: secret, redirects: 2 }, extract: { token: body.token } }
journeys: { visit: { root: { http: 'GET /v/{{ token }}' } } }
load: { rate: 20/s, steady: 250ms, drain: 2s }
";
    run_on(&system, text, 1);
    assert_eq!((system.count("GET /session"), system.count("GET /v/t1")), (1, 5));
    // As many as asked for, and to no stranger.
    for (url, redirects, said) in [("/away", 2, "localhost"), ("/login", 0, "token")] {
        let text = format!(
            "target: http://{}
setup:
  - {{ name: s, http: {{ method: {}, url: {url}, redirects: {redirects} }}, extract: {{ token: body.token }} }}
journeys: {{ visit: {{ root: {{ http: 'GET /v/{{{{ token }}}}' }} }} }}
{LOAD}",
            system.address,
            if url == "/away" { "GET" } else { "POST" },
        );
        let error = cannot_begin(&text, &RunOptions::new(None, "r".into()));
        assert!(error.contains(said), "{url}: {error}");
    }
    assert_eq!(other.count(""), 0);
}

/// Why a run cannot begin.
fn cannot_begin(text: &str, options: &RunOptions) -> String {
    let ended = sojourn_engine::run(
        &plan(text, &[]),
        options,
        &Registry::default(),
        &Stop::default(),
        &mut |_| {},
    );
    ended.expect_err("a run that cannot begin").message
}

#[test]
fn each_renewal_has_a_number_of_its_own() {
    let system = System::start(|_, _| ok(r#"{"token":"t"}"#));
    let text = "
setup: [{ name: s, http: 'GET /setup/{{ seq() }}' }]
refresh: [{ name: r, every: 100ms, http: 'GET /renew/{{ seq() }}' }]
journeys: { visit: { root: { http: GET /v } } }
load: { rate: 20/s, steady: 1s, drain: 2s }
";
    run_on(&system, text, 1);
    assert_eq!(system.count("GET /setup/0"), 1);
    let renewals = system.asked("GET /renew/");
    assert!(renewals.len() >= 2, "{}", renewals.len());
    for (k, asked) in renewals.iter().enumerate() {
        assert_eq!(asked.line, format!("GET /renew/{k}"));
    }
}

#[test]
fn a_run_that_cannot_begin_leaves_no_run_file() {
    let folder = tempfile::tempdir().unwrap();
    let system = System::start(|_, _| (500, String::new(), Vec::new()));
    let text = format!(
        "target: http://{}
setup: [{{ name: s, http: GET /s }}]
journeys: {{ visit: {{ root: {{ http: GET /v }} }} }}
{LOAD}",
        system.address
    );
    let at = |path: &Path| RunOptions::new(path.to_owned(), "r".into());
    let fresh = folder.path().join("fresh.sojourn");
    assert!(cannot_begin(&text, &at(&fresh)).contains("setup failed"));
    assert!(!fresh.exists());
    let known = folder.path().join("known.sojourn");
    std::fs::write(&known, "of an earlier run").unwrap();
    cannot_begin(&text, &at(&known));
    assert_eq!(std::fs::read_to_string(&known).unwrap(), "of an earlier run");
    // A link that leads nowhere yet stays one.
    let link = folder.path().join("link.sojourn");
    std::os::unix::fs::symlink(&fresh, &link).unwrap();
    cannot_begin(&text, &at(&link));
    assert!(link.is_symlink() && !fresh.exists());
    let nowhere = folder.path().join("no-folder/x.sojourn");
    assert!(cannot_begin(&text, &at(&nowhere)).contains("cannot write the run file"));
}

#[test]
fn what_must_be_reachable_is_what_will_be_dialled() {
    let system = System::start(|_, _| ok("{}"));
    let text = format!(
        "target: http://nowhere.invalid:81\njourneys: {{ v: {{ root: {{ http: GET /v }} }} }}\n{LOAD}"
    );
    let plan = plan(&text, &[]);
    // Elsewhere by -connect-to's rule.
    let here = format!("127.0.0.1:{}", system.address.port());
    let elsewhere =
        ConnectTo { from: "nowhere.invalid:81".parse().unwrap(), to: vec![here.parse().unwrap()] };
    run(&plan, |options| options.client.connect_to = vec![elsewhere.clone()]);
    assert_eq!(system.count("GET /v"), 5);
    // Through a proxy, who alone knows the name.
    let proxy = Proxy::parse(&here).unwrap();
    let proxies = Proxies { http: Some(proxy), ..Proxies::default() };
    run(&plan, |options| options.client.proxies = proxies.clone());
    assert_eq!(system.count("GET http://nowhere.invalid:81/v"), 5);
    // By a socket.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
                    let _ignored =
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                }
            });
        }
    });
    run(&plan, |options| options.client.unix_socket = Some(socket.clone()));
}

#[test]
fn what_cannot_be_dialled_is_said_though_the_target_is_there() {
    let system = System::start(|_, _| ok("{}"));
    let to = |target: &str| {
        format!("target: {target}\njourneys: {{ v: {{ root: {{ http: GET /v }} }} }}\n{LOAD}")
    };
    let mut options = RunOptions::new(None, "r".into());
    let closed = format!("127.0.0.1:{}", closed_port().unwrap());
    options.client.proxies.http = Some(Proxy::parse(&closed).unwrap());
    let error = cannot_begin(&to("http://nowhere.invalid"), &options);
    assert!(error.contains("cannot reach") && error.contains(&closed), "{error}");
    let mut options = RunOptions::new(None, "r".into());
    options.client.unix_socket = Some("/nonexistent/socket".into());
    let error = cannot_begin(&to(&format!("http://{}", system.address)), &options);
    assert!(error.contains("/nonexistent/socket"), "{error}");
    assert_eq!(system.count(""), 0);
}

#[test]
fn a_rate_is_of_the_time_since_the_last_line() {
    let _turn = alone();
    let system = System::start(|_, _| ok("{}"));
    let text = format!(
        "target: http://{}
journeys: {{ visit: {{ root: {{ http: GET /v }} }} }}
load: {{ rate: 100/s, steady: 6s, drain: 2s }}
health: {{ lag_p99_max: 5s, silent_max: 9s }}
",
        system.address
    );
    let lines = AtomicU64::new(0);
    let mut rates = Vec::new();
    let options = RunOptions::new(None, "r".into());
    let plan = plan(&text, &[]);
    sojourn_engine::run(&plan, &options, &Registry::default(), &Stop::default(), &mut |progress| {
        if progress.elapsed_ns < 6_000_000_000 {
            rates.push(progress.rate_per_s);
        }
        if lines.fetch_add(1, Ordering::Relaxed) == 0 {
            // Whoever is told takes its time: the next line is of more than two seconds.
            std::thread::sleep(Duration::from_millis(2_300));
        }
    })
    .unwrap();
    assert!(rates.len() >= 2, "{rates:?}");
    assert!(rates.iter().all(|rate| (50.0..150.0).contains(rate)), "{rates:?}");
}
