//! Cookies of sessions: each client keeps its own and sends them where they belong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_testkit::{Reply, Request, Responder, Server, response, sojourn, temp_dir};

/// Cookies that came with each request, by its path, of one connection: one client.
type Clients = Arc<Mutex<BTreeMap<u64, Vec<(String, String)>>>>;

/// Sets cookies, each with the number of the connection in it.
struct Jars {
    clients: Clients,
}

impl Responder for Jars {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let sent = request.headers.iter().filter(|it| it.name.eq_ignore_ascii_case("cookie"));
        let sent: Vec<String> = sent.map(|header| text(header.value)).collect();
        let entry = (request.path.to_owned(), sent.join(" | "));
        self.clients.lock().unwrap().entry(request.connection).or_default().push(entry);
        let number = request.connection;
        let answer = |line: &str, headers: &str| {
            format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\n\r\n").into_bytes()
        };
        Reply::now(match request.path {
            "/away" => answer(
                "302 Found",
                &format!("Location: /echo\r\nSet-Cookie: a={number}; Path=/; HttpOnly\r\n"),
            ),
            "/deep/set" => answer(
                "200 OK",
                &format!(
                    "Set-Cookie: b={number}\r\nSet-Cookie: gone=1; Max-Age=0\r\n\
                     Set-Cookie: other=1; Domain=elsewhere.example\r\n"
                ),
            ),
            "/unset" => answer("200 OK", "Set-Cookie: a=; Path=/; Max-Age=-1\r\n"),
            _ => response(200, "text/plain", b"ok"),
        })
    }
}

const SCRIPT: &str = r#"
definition.setTarget("BASE");
definition.setArrivalPhases([{ duration: 1, rate: 100, max_clients: 8 }]);
definition.session("browse", (session) => {
  session.get("/first");
  session.get("/away");
  session.get("/deep/set");
  session.get("/deep/er");
  session.get("/echo", { headers: { cookie: "own=x" } });
  session.get("/unset");
  session.get("/deep/last");
});
"#;

fn played(script: &str) -> Vec<Vec<(String, String)>> {
    let clients = Clients::default();
    let server = Server::start(Jars { clients: Arc::clone(&clients) }).unwrap();
    let folder = temp_dir().unwrap();
    let script = script.replace("BASE", &server.url(""));
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let run = sojourn(["session", "run", "test.js", "--quiet"]).in_dir(folder.path());
    let output = run.timeout(Duration::from_secs(60)).run().unwrap();
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    drop(server);
    let clients = clients.lock().unwrap();
    assert_eq!(clients.len(), 8, "one connection a client: {output}");
    clients
        .iter()
        .map(|(number, seen)| {
            // The number of the client stands for itself.
            let own = |cookies: &str| cookies.replace(&format!("={number}"), "=N");
            seen.iter().map(|(path, cookies)| (path.clone(), own(cookies))).collect()
        })
        .collect()
}

#[test]
fn each_client_keeps_its_own_through_redirects() {
    let wanted = [
        ("/first", ""),
        ("/away", ""),
        ("/echo", "a=N"),
        ("/deep/set", "a=N"),
        ("/deep/er", "b=N; a=N"),
        ("/echo", "own=x"),
        ("/unset", "a=N"),
        ("/deep/last", "b=N"),
    ]
    .map(|(path, cookies)| (path.to_owned(), cookies.to_owned()));
    for client in played(SCRIPT) {
        assert_eq!(client, wanted);
    }
}

#[test]
fn cookies_can_be_switched_off() {
    let script = format!("{SCRIPT}definition.setTestOptions({{ cookies: false }});");
    for client in played(&script) {
        let sent: Vec<&str> = client.iter().map(|(_, cookies)| cookies.as_str()).collect();
        assert_eq!(sent, ["", "", "", "", "", "own=x", "", ""]);
    }
}
