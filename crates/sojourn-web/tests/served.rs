//! What is answered to whom, byte by byte over a socket.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use sojourn_live::frame::{Frame, FrameStretch};
use sojourn_web::{CONNECTIONS_MAX, Dashboard, WebSettings};

use crate::common::{Site, frame};

fn open(dashboard: &Dashboard, head: &str) -> TcpStream {
    let link = dashboard.link();
    let address = link.trim_start_matches("http://").split('/').next().unwrap();
    let (_, port) = address.rsplit_once(':').unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn ask(dashboard: &Dashboard, path: &str, further: &str) -> String {
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{further}\r\n");
    let mut answer = String::new();
    open(dashboard, &head).read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn frames_come_as_they_are_shown_and_end_with_the_dashboard() {
    let site = Site::with(1);
    site.dashboard.show(&frame(1, 2));
    let stream = open(&site.dashboard, "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = || {
        let line = lines.find(|line| line.starts_with("data: "))?;
        Some(serde_json::from_str::<serde_json::Value>(&line["data: ".len()..]).unwrap())
    };
    assert_eq!(next().unwrap()["frame"]["number"], 1);
    site.dashboard.show(&frame(2, 2));
    let second = next().unwrap();
    assert_eq!((&second["frame"]["number"], &second["at_s"]), (&2.into(), &2.0.into()));
    let history = ask(&site.dashboard, "/history", "");
    let history: serde_json::Value =
        serde_json::from_str(history.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let lines_known = history["lines"].as_array().unwrap();
    assert_eq!(lines_known.len(), second["values"].as_array().unwrap().len());
    for (line, value) in lines_known.iter().zip(second["values"].as_array().unwrap()) {
        assert_eq!(line["values"][1], *value, "{line}");
    }
    let over = Frame { stretch: FrameStretch::Over, ..frame(3, 2) };
    site.dashboard.show(&over);
    drop(site);
    let last = next().unwrap();
    assert_eq!(last["frame"]["stretch"], "over");
    assert_eq!(next(), None);
}

#[test]
fn only_runs_of_the_folder_are_read() {
    let site = Site::with(1);
    assert!(ask(&site.dashboard, "/runs/payments-0.sojourn", "").starts_with("HTTP/1.1 200"));
    std::fs::write(site.folder.path().join("secret.txt"), "secret").unwrap();
    for path in [
        "/runs/secret.txt",
        "/runs/..%2Fpayments-0.sojourn",
        "/runs/%2Fetc%2Fpasswd",
        "/runs/missing.sojourn",
        "/compare?before=payments-0.sojourn&after=..%2F..%2Fx.sojourn",
    ] {
        let answer = ask(&site.dashboard, path, "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert!(!answer.contains("secret\n"), "{path}");
    }
}

#[test]
fn pages_are_told_to_ask_nobody_else() {
    let site = Site::with(1);
    for path in ["/", "/dashboard.js", "/report", "/runs/payments-0.sojourn", "/history"] {
        let answer = ask(&site.dashboard, path, "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(answer.contains("content-security-policy: default-src 'none'"), "{path}");
    }
}

#[test]
fn another_name_for_this_machine_is_refused() {
    let site = Site::with(1);
    let mut answer = String::new();
    open(&site.dashboard, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        .read_to_string(&mut answer)
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[test]
fn elsewhere_a_token_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let dashboard = Dashboard::start(WebSettings {
        address: "0.0.0.0:0".into(),
        is_live: true,
        run_file: None,
        folder: folder.path().to_owned(),
    })
    .unwrap();
    let link = dashboard.link();
    let token = link.split("?token=").nth(1).unwrap();
    assert!(ask(&dashboard, "/", "").starts_with("HTTP/1.1 401"));
    assert!(ask(&dashboard, "/history?token=0123", "").starts_with("HTTP/1.1 401"));
    let shown = ask(&dashboard, &format!("/?token={token}"), "");
    assert!(shown.starts_with("HTTP/1.1 303"), "{shown}");
    let cookie = shown.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let inside = ask(&dashboard, "/history", &format!("Cookie: {pair}\r\n"));
    assert!(inside.starts_with("HTTP/1.1 200"), "{inside}");
}

#[test]
fn connections_are_bounded_and_one_that_goes_makes_room() {
    let site = Site::with(1);
    let asked = "GET /dashboard.css HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let first_line = |stream: &mut TcpStream| {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    };
    let mut guests: Vec<_> = (0..CONNECTIONS_MAX).map(|_| open(&site.dashboard, asked)).collect();
    for guest in &mut guests {
        assert_eq!(first_line(guest), "HTTP/1.1 200 OK\r\n");
    }
    let refused = ask(&site.dashboard, "/", "");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("too many connections to this dashboard"), "{refused}");
    // The server sees the end of one in its own time; until then it says the same.
    drop(guests.pop());
    let is_in = |_| ask(&site.dashboard, "/", "").starts_with("HTTP/1.1 200");
    assert!((0..10_000).any(is_in), "there is room again");
}

#[test]
fn another_run_begins_with_no_line_of_the_last_one() {
    let site = Site::with(2);
    (1..=5).for_each(|second| site.dashboard.show(&frame(second, 4)));
    let next = site.folder.path().join("payments-1.sojourn");
    site.dashboard.begin(Some(next));
    site.dashboard.show(&Frame { of: "run 2 of 2".into(), ..frame(1, 2) });
    let history = ask(&site.dashboard, "/history", "");
    assert!(history.contains("\"at_s\":[1.0]") && !history.contains("stage-3"), "{history}");
    let listed = ask(&site.dashboard, "/runs", "");
    assert!(listed.contains("payments-0.sojourn") && !listed.contains("payments-1"), "{listed}");
    assert!(ask(&site.dashboard, "/report", "").contains("run-1"));
}

#[test]
fn an_address_that_is_taken_is_named() {
    let site = Site::with(1);
    let link = site.dashboard.link();
    let address = link.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let taken = WebSettings {
        address: address.clone(),
        is_live: true,
        run_file: None,
        folder: site.folder.path().to_owned(),
    };
    let error = Dashboard::start(taken).unwrap_err().to_string();
    assert!(error.contains(&address) && error.contains("in use"), "{error}");
}
