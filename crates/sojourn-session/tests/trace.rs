//! What clients did, told client by client.

use std::sync::Arc;

use sojourn_session::{Dump, Ended, SHOWN_BYTES_MAX, Shown, Trace, Traced};

use crate::util::{Reply, play, program, script};

fn traced(client: u64, number: u32, what: Trace) -> Traced {
    Traced { at_ns: u64::from(number) * 1_500_000_000, session: 0, client, number, what }
}

fn sent(message: &str) -> Trace {
    Trace::Sent { origin: "http://a:1".to_owned(), message: Shown::of(message.as_bytes()) }
}

fn answered(head: &str, body: &[u8]) -> Trace {
    let (head, body) = (Shown::of(head.as_bytes()), Shown::of(body));
    Trace::Answered { head, body, after_ns: 2_500_000 }
}

fn dump(shows_secrets: bool) -> Dump {
    let text = script("session.check('there', session.lastHttpStatus(), '=', 200);");
    Dump::new(Arc::new(program(&text)), shows_secrets)
}

#[test]
fn clients_that_go_on_together_are_told_apart() {
    let mut dump = dump(false);
    let post =
        "POST /x HTTP/1.1\r\nHost: a:1\r\nCookie: id=s3cret\r\nContent-Length: 4\r\n\r\na\nbc";
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSet-Cookie: id=s3cret\r\n\r\n";
    assert_eq!(dump.take(&traced(0, 0, sent(post))), None);
    assert_eq!(dump.take(&traced(1, 0, Trace::Logged("hi\n\u{7}".to_owned()))), None);
    assert_eq!(dump.take(&traced(0, 1, answered(head, b"ok"))), None);
    assert_eq!(dump.take(&traced(0, 2, Trace::Checked { check: 0, is_ok: false })), None);
    assert_eq!(dump.take(&traced(0, 3, Trace::Waits { ns: 500_000_000 })), None);
    let why = || "no answer\nin time".to_owned();
    let refused = Trace::Refused { url: "http://b/".to_owned(), why: why() };
    // One thing was lost on the way.
    assert_eq!(dump.take(&traced(0, 5, refused)), None);
    let unanswered = Trace::Unanswered { why: why(), after_ns: 1_000_000 };
    assert_eq!(dump.take(&traced(0, 6, unanswered)), None);
    let told = dump.take(&traced(0, 7, Trace::Ended(Ended::AssertionFailed))).unwrap();
    let expected = "\
── session s, client 1.1
    0.000  request 1 to http://a:1
> POST /x HTTP/1.1
> Host: a:1
> Cookie: ***
> Content-Length: 4
>
> a
> bc
    1.500  answer 1 after 2.500 ms, 2 bytes, decompressed
< HTTP/1.1 200 OK
< Content-Encoding: gzip
< Set-Cookie: ***
<
< ok
    3.000  ✗ check there
    4.500  waits 0.5 s
           … 1 things are missing here
    7.500  not sent: http://b/: no answer\\nin time
    9.000  no answer 1 after 1.000 ms: no answer\\nin time
   10.500  ended: an assertion did not hold

";
    assert_eq!(told, expected);
    let rest = "── session s, client 1.2\n    0.000  log: hi\\n\\u{7}\n           its end was not seen\n\n";
    assert_eq!((dump.finish(), dump.finish()), (rest.to_owned(), String::new()));
}

#[test]
fn secrets_are_told_when_asked_for() {
    let mut dump = dump(true);
    dump.take(&traced(0, 0, sent("GET / HTTP/1.1\r\nAuthorization: Basic s3cret\r\n\r\n")));
    assert!(dump.finish().contains("> Authorization: Basic s3cret\n"));
}

#[test]
fn what_is_long_is_cut_with_a_word() {
    let mut dump = dump(false);
    let body = "x".repeat(SHOWN_BYTES_MAX);
    let message = format!("POST / HTTP/1.1\r\n\r\n{body}");
    dump.take(&traced(0, 0, sent(&message)));
    let head_bytes = message.len() - body.len();
    let (shown, all) = (SHOWN_BYTES_MAX - head_bytes, body.len());
    let many = 1_000;
    for number in 1..=many {
        dump.take(&traced(0, number, answered("HTTP/1.1 200 OK", body.as_bytes())));
    }
    let told = dump.take(&traced(0, many + 1, Trace::Ended(Ended::Completed))).unwrap();
    assert!(
        told.contains(&format!("> … cut: {shown} of {all} bytes are shown\n")),
        "{}",
        &told[..99]
    );
    let end = &told[told.len() - 120..];
    assert!(
        end.contains("further things are not shown\n") && end.ends_with("ended: completed\n\n")
    );
    assert!(told.len() < 5 << 20, "{} bytes", told.len());
}

#[test]
fn endless_loops_go_around_once_in_a_validation() {
    let steps = "session.get('/a');
        session.forEver((s) => { s.get('/b'); s.times(2, (t) => t.get('/c')); });";
    let mut program = program(&script(steps));
    assert_eq!(program.end_endless_loops(), 1);
    let story = play(&program, 0, 0, 100, |_| Some(Reply::ok("")));
    let get = |path| format!("GET http://a.example/{path}");
    assert_eq!(story.lines, ["a", "b", "c", "c"].map(get));
    assert_eq!(story.ended, Some(Ended::Completed));
    assert_eq!(program.end_endless_loops(), 0);
}
