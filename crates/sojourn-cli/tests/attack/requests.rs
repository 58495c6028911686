//! What is sent: target formats, defaults, bodies, redirects.

use std::{io::Write, net::TcpStream};

use base64::Engine;
use flate2::{Compression, write::GzEncoder};

use super::{Made, attack, attack_to, echo};

/// One second at ten a second.
const SHORT: [&str; 4] = ["-rate", "10", "-duration", "1s"];

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SHORT.iter().copied().chain(more.iter().copied()).collect()
}

#[test]
fn http_targets_take_turns_with_their_headers_and_bodies() {
    let address = echo::serve(echo::echo);
    let folder = sojourn_testkit::temp_dir().unwrap();
    let body = folder.path().join("body.txt");
    std::fs::write(&body, "from a file").unwrap();
    let default = folder.path().join("default.txt");
    std::fs::write(&default, "by default").unwrap();
    let targets = format!(
        "# @name first\nPOST http://{address}/a?b=c\nX-Own: one\nX-Own: two\n@{}\n\n\nPUT \
         http://{address}/b\nPATCH http://{address}/c\nHost: other.example\n",
        body.display()
    );
    let default = default.display().to_string();
    let more = ["-header", "X-Default: yes", "-body", &default, "-name", "mine"];
    let made = attack(&short(&more), &targets);
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    let hits = made.hits();
    assert_eq!(hits.len(), 10);
    for (k, hit) in hits.iter().enumerate() {
        let echoed = String::from_utf8(hit.body.clone()).unwrap();
        assert_eq!((hit.seq, hit.code, hit.attack.as_str()), (k as u64, 200, "mine"), "{hit:?}");
        assert!(echoed.contains(&format!("X-Vegeta-Seq: {k}\r\n")), "{echoed}");
        assert!(echoed.contains("X-Vegeta-Attack: mine\r\n"), "{echoed}");
        assert!(echoed.contains("X-Default: yes\r\n"), "{echoed}");
        assert!(echoed.contains("Accept-Encoding: gzip\r\n"), "{echoed}");
        assert_eq!(hit.bytes_in, hit.body.len() as u64);
        let (method, path, host, body) = match k % 3 {
            0 => ("POST", "/a?b=c", address.to_string(), "from a file"),
            1 => ("PUT", "/b", address.to_string(), "by default"),
            _ => ("PATCH", "/c", "other.example".to_owned(), "by default"),
        };
        assert!(echoed.starts_with(&format!("{method} {path} HTTP/1.1\r\n")), "{echoed}");
        assert!(echoed.contains(&format!("Host: {host}\r\n")), "{echoed}");
        assert!(echoed.ends_with(&format!("\r\n\r\n{body}")), "{echoed}");
        assert_eq!(hit.bytes_out, body.len() as u64);
        assert_eq!(echoed.contains("X-Own: one\r\nX-Own: two\r\n"), k % 3 == 0, "{echoed}");
    }
}

#[test]
fn json_targets_need_no_last_newline() {
    let address = echo::serve(echo::echo);
    let body = base64::engine::general_purpose::STANDARD.encode("a \u{0} b");
    let targets = format!(
        "\n  {{\"method\":\"GET\",\"url\":\"http://{address}/x\",\"unknown\":1}}\n\
         {{\"method\":\"POST\",\"url\":\"http://{address}/y\",\"body\":\"{body}\",\
         \"header\":{{\"X-B\":[\"1\",\"2\"]}}}}"
    );
    let made = attack(&short(&["-format=json"]), &targets);
    let hits = made.hits();
    assert_eq!(hits.len(), 10, "{}", made.output);
    assert!(hits[0].body.starts_with(b"GET /x "));
    assert!(hits[1].body.ends_with(b"\r\n\r\na \0 b"));
    let echoed = String::from_utf8_lossy(&hits[1].body).into_owned();
    assert!(echoed.contains("X-B: 1\r\nX-B: 2\r\n"), "{echoed}");
    assert_eq!((hits[1].method.as_str(), hits[1].bytes_out), ("POST", 5));
}

#[test]
fn a_stream_of_targets_is_used_once_and_ends_the_attack() {
    let address = echo::serve(echo::echo);
    let targets: String = (0..7).map(|n| format!("GET http://{address}/{n}\n\n")).collect();
    let made = attack(&["-lazy", "-rate", "50", "-duration", "0"], &targets);
    let hits = made.hits();
    assert_eq!(hits.len(), 7, "{}", made.output);
    for (n, hit) in hits.iter().enumerate() {
        assert_eq!((hit.code, hit.error.as_str()), (200, ""));
        assert!(hit.url.ends_with(&format!("/{n}")), "{hit:?}");
    }
}

#[test]
fn chunked_bodies_and_one_connection_a_request() {
    let address = echo::serve(echo::echo);
    let url = format!("http://{address}/");
    let folder = sojourn_testkit::temp_dir().unwrap();
    let body = folder.path().join("body");
    std::fs::write(&body, "0123456789abcdef").unwrap();
    let body = body.display().to_string();
    let more = ["-chunked", "-keepalive=false", "-method", "POST", "-body", &body, &url];
    let hits = attack(&short(&more), "").hits();
    assert_eq!(hits.len(), 10);
    let echoed = String::from_utf8(hits[0].body.clone()).unwrap();
    assert!(echoed.contains("Transfer-Encoding: chunked\r\n"), "{echoed}");
    assert!(echoed.contains("Connection: close\r\n"), "{echoed}");
    assert!(!echoed.to_lowercase().contains("content-length"), "{echoed}");
    assert!(echoed.ends_with("\r\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"), "{echoed}");
    assert_eq!(hits[0].bytes_out, 16);
}

#[test]
fn bodies_are_decoded_counted_whole_and_kept_as_far_as_asked() {
    let address = echo::serve(|request, stream| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&[b'x'; 5000])?;
        let body = encoder.finish()?;
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        if request.starts_with("HEAD ") { Ok(()) } else { stream.write_all(&body) }
    });
    let url = format!("http://{address}/");
    for (limit, kept) in [("-1", 5000), ("1kb", 1024), ("0", 0)] {
        let hits = attack(&short(&["-max-body", limit, &url]), "").hits();
        assert_eq!(hits.len(), 10);
        for hit in hits {
            assert_eq!((hit.body.len(), hit.bytes_in, hit.code), (kept, 5000, 200), "{limit}");
            assert!(hit.headers.contains(&("Content-Encoding".to_owned(), "gzip".to_owned())));
        }
    }
    let hits = attack(&short(&["-method", "HEAD", &url]), "").hits();
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.code == 200 && hit.body.is_empty()), "{hits:?}");
    // A run file says the same of bodies, under the same names, and what went over the wire apart.
    let folder = sojourn_testkit::temp_dir().unwrap();
    let body = folder.path().join("body");
    std::fs::write(&body, "0123456789").unwrap();
    let body = body.display().to_string();
    let targets = format!("GET {url}\n\nPOST {url}\n@{body}\n");
    let [records, run] = ["out.bin", "out.sojourn"].map(|file| {
        let made = attack_to(file, &short(&[]), &targets);
        let json = report_of(&made, file, "json");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let text = report_of(&made, file, "text");
        let rows: Vec<String> =
            text.lines().filter(|row| row.starts_with("Bytes")).map(str::to_owned).collect();
        (json["bytes_in"].clone(), json["bytes_out"].clone(), rows)
    });
    assert_eq!(records, run);
    assert_eq!((&run.0["total"], &run.1["total"]), (&50_000.into(), &50.into()), "{run:?}");
    assert_eq!(run.2.len(), 2, "{run:?}");
}

/// The report of a kind on an attack's file.
fn report_of(made: &Made, file: &str, kind: &str) -> String {
    let words = ["report", "-type", kind, file];
    sojourn_testkit::sojourn(words).in_dir(made.folder.path()).run().unwrap().stdout
}

/// `/n` leads to `/n-1` and so on to `/0`, `/away` to another host.
fn redirecting(request: &str, stream: &mut TcpStream) -> std::io::Result<()> {
    let path = request.split(' ').nth(1).unwrap();
    let location = match path.trim_start_matches('/') {
        "0" => return echo::echo(request, stream),
        "away" => "http://localhost:1/".to_owned(),
        n => format!("/{}", n.parse::<u32>().unwrap() - 1),
    };
    let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ";
    stream.write_all(format!("{head}{location}\r\n\r\n").as_bytes())
}

#[test]
fn redirects_are_followed_as_far_as_asked_and_not_to_strangers() {
    let address = echo::serve(redirecting);
    let words = |path: &str, redirects: &str, more: &[&str]| {
        let mut words = vec!["-redirects", redirects, "-method", "POST", "-header", "A: b"];
        words.extend(more);
        let url = format!("http://{address}/{path}");
        short(&words).into_iter().map(str::to_owned).chain([url]).collect::<Vec<String>>()
    };
    let of = |path: &str, redirects: &str, more: &[&str]| {
        let words = words(path, redirects, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let hits = attack(&words, "").hits();
        assert_eq!(hits.len(), 10);
        hits[9].clone()
    };
    let hit = of("3", "3", &[]);
    assert_eq!((hit.code, hit.error.as_str()), (200, ""));
    let echoed = String::from_utf8(hit.body).unwrap();
    assert!(echoed.starts_with("GET /0 HTTP/1.1\r\n") && echoed.contains("A: b"), "{echoed}");
    let hit = of("3", "-1", &[]);
    assert_eq!((hit.code, hit.error.as_str()), (302, ""));
    // `localhost` is a host of its own, and nobody listens there.
    let hit = of("away", "10", &["-allow-host", "localhost"]);
    assert!(hit.error.ends_with("connect: connection refused"), "{hit:?}");
    // An answer that is not followed counts as none, in records as in run files.
    for (path, redirects, error) in [
        ("3", "2", "Post \"/0\": stopped after 2 redirects"),
        (
            "away",
            "10",
            "Post \"http://localhost:1/\": redirect to localhost refused: it is none of \
                        the attack's hosts (-allow-host lets it)",
        ),
    ] {
        let words = words(path, redirects, &[]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let [records, run] = ["out.bin", "out.sojourn"].map(|file| {
            let made = attack_to(file, &words, "");
            if file == "out.bin" {
                for hit in made.hits() {
                    assert_eq!((hit.code, hit.error.as_str()), (0, error), "{hit:?}");
                    assert_eq!((hit.bytes_in, hit.headers.len()), (0, 0), "{hit:?}");
                }
            }
            let report = report_of(&made, file, "json");
            let report: serde_json::Value = serde_json::from_str(&report).unwrap();
            ["requests", "success", "throughput", "status_codes", "bytes_in"]
                .map(|key| report[key].clone())
        });
        assert_eq!(records, run, "{path}");
        assert_eq!((&run[1], &run[3]["0"]), (&0.into(), &10.into()), "{run:?}");
    }
}

#[test]
fn a_redirect_to_another_port_takes_the_body_along_and_no_credentials() {
    let elsewhere = echo::serve(echo::echo);
    let first = std::sync::Arc::new(std::sync::OnceLock::new());
    let (back, known) = (std::sync::Arc::clone(&first), first);
    // `/over` is answered here, `/back` there leads to `/end` here.
    let there = echo::serve(move |request, stream| {
        let location = format!("http://{}/end", back.get().unwrap());
        let head = "HTTP/1.1 308 Permanent Redirect\r\nContent-Length: 0\r\nLocation: ";
        assert!(!request.contains("hush"), "{request}");
        stream.write_all(format!("{head}{location}\r\n\r\n").as_bytes())
    });
    let here = echo::serve(move |request, stream| {
        let location = match request.split(' ').nth(1).unwrap() {
            "/over" => format!("http://{elsewhere}/"),
            "/round" => format!("http://{there}/"),
            "/same" => "/end".to_owned(),
            _ => return echo::echo(request, stream),
        };
        let head = "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: ";
        stream.write_all(format!("{head}{location}\r\n\r\n").as_bytes())
    });
    known.set(here).unwrap();
    let folder = sojourn_testkit::temp_dir().unwrap();
    let body = folder.path().join("body.txt");
    std::fs::write(&body, "the body").unwrap();
    let body = body.display().to_string();
    let secrets = ["Authorization: hush", "COOKIE: hush", "X-Api-Key: hush", "Host: own.example"];
    for (path, host, keeps) in
        [("same", None, true), ("over", Some(elsewhere), false), ("round", None, false)]
    {
        for chunked in ["-chunked", "-chunked=false"] {
            let url = format!("http://{here}/{path}");
            let mut words = vec!["-method", "PUT", "-body", &body, "-header", "A: b", chunked];
            words.extend(secrets.iter().flat_map(|secret| ["-header", secret]));
            words.push(&url);
            let hits = attack(&short(&words), "").hits();
            assert_eq!(hits.len(), 10);
            let hit = &hits[9];
            assert_eq!((hit.code, hit.error.as_str()), (200, ""), "{hit:?}");
            let echoed = String::from_utf8(hit.body.clone()).unwrap();
            assert!(echoed.starts_with("PUT /") && echoed.contains("the body"), "{echoed}");
            assert!(echoed.contains("A: b\r\n"), "{echoed}");
            assert!(echoed.contains("X-Vegeta-Seq: 9\r\n"), "{echoed}");
            assert_eq!(echoed.matches("hush").count(), if keeps { 3 } else { 0 }, "{echoed}");
            let host = host.map_or_else(|| "own.example".to_owned(), |host| host.to_string());
            assert!(echoed.contains(&format!("Host: {host}\r\n")), "{echoed}");
        }
    }
}

#[test]
fn secrets_of_the_command_line_stay_there() {
    let address = echo::serve(echo::echo);
    let url = format!("http://{address}/?token=query");
    let more = ["-header", "Authorization: Bearer hush", "-header=X-Key: hush", &url];
    let made = attack_to("out.sojourn", &short(&more), "");
    assert_eq!(made.output.code, Some(0), "{}", made.output);
    let identity = made.run_file().identity;
    assert!(identity.plan.contains("Authorization: ***"), "{}", identity.plan);
    assert!(identity.plan.contains("X-Key: ***"), "{}", identity.plan);
    let bytes = std::fs::read(made.folder.path().join("out.sojourn")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("hush"));
    assert_eq!(identity.journeys[0].steps, [format!("GET http://{address}/")]);
}
