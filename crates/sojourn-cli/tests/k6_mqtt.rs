//! Scripts that import `k6/x/mqtt`, against a real Mosquitto; what they publish is seen by a client
//! that shares no code with them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::services::{Mosquitto, PASSWORD, Service as _, USER};
use sojourn_testkit::{Output, closed_port, sojourn, temp_dir};

/// A script's run and its metrics.
struct Played {
    output: Output,
    metrics: Value,
}

impl Played {
    fn of(&self, metric: &str, aggregate: &str) -> f64 {
        let found = self.metrics["metrics"][metric][aggregate].as_f64();
        found.unwrap_or_else(|| panic!("{metric} has no {aggregate}: {}", self.output))
    }

    fn count(&self, metric: &str) -> f64 {
        self.of(metric, "count")
    }

    fn passed(self) -> Self {
        assert_eq!(self.output.code, Some(0), "{}", self.output);
        assert!(!self.output.stderr.contains("level=error"), "{}", self.output);
        self
    }
}

/// Runs a script of this folder, on one thread.
fn play(name: &str, variables: &[(&str, &str)], words: &[&str]) -> Played {
    let folder = temp_dir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6_mqtt").join(name);
    let summary = folder.path().join("summary.json");
    let mut arguments = vec![format!("--summary-export={}", summary.display())];
    for (name, value) in variables {
        arguments.extend(["-e".to_owned(), format!("{name}={value}")]);
    }
    arguments.extend(words.iter().map(|word| (*word).to_owned()));
    arguments.push(script.display().to_string());
    let usual = ["k6", "run", "--quiet", "--threads", "1"].map(str::to_owned);
    let program = sojourn(usual.iter().chain(&arguments)).timeout(Duration::from_secs(120));
    let output = program.run().unwrap();
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    Played { output, metrics: serde_json::from_str(&text).unwrap_or_default() }
}

/// Sees what is published below `k6`, each message once, by MQTT 3.1.1 written out by hand.
struct Witness(TcpStream);

impl Witness {
    fn start(mosquitto: &Mosquitto) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", mosquitto.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // CONNECT with a clean session and no keep-alive, SUBSCRIBE to k6/# at QoS 0; answers.
        stream.write_all(b"\x10\x0f\0\x04MQTT\x04\x02\0\0\0\x03eye").unwrap();
        stream.write_all(b"\x82\x09\0\x01\0\x04k6/#\0").unwrap();
        let mut answers = [0; 9];
        stream.read_exact(&mut answers).unwrap();
        assert_eq!(&answers, b"\x20\x02\0\0\x90\x03\0\x01\0");
        Self(stream)
    }

    /// The next messages, topics and payloads.
    fn see(&mut self, count: usize) -> Vec<(String, Vec<u8>)> {
        (0..count).map(|_| self.next()).collect()
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.0.read_exact(&mut byte).unwrap();
        byte[0]
    }

    fn next(&mut self) -> (String, Vec<u8>) {
        // PUBLISH at QoS 0, whatever its other flags.
        assert_eq!(self.byte() & 0xf6, 0x30);
        let (mut length, mut place) = (0, 0);
        loop {
            let byte = self.byte();
            length |= usize::from(byte & 0x7f) << place;
            place += 7;
            if byte < 0x80 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        let topic_end = 2 + usize::from(body[0]) * 256 + usize::from(body[1]);
        let topic = String::from_utf8(body[2..topic_end].to_vec()).unwrap();
        (topic, body[topic_end..].to_vec())
    }
}

#[test]
fn each_way_of_publishing_arrives_once() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut witness = Witness::start(&mosquitto);
    let played = play("everything.js", &[("MQTT", &mosquitto.url())], &[]).passed();
    let seen = witness.see(9 * 9);
    for (payload, count) in [(&b"\xc3\xa9"[..], 9), (b"\0\xff", 9), (b"kept", 9), (b"", 9)] {
        let found = seen.iter().filter(|(_, other)| other == payload).count();
        assert_eq!(found, count, "{payload:?}");
    }
    assert_eq!(played.of("checks", "passes"), 9.0 * 6.0, "{}", played.output);
    assert_eq!(played.count("mqtt_connects"), 9.0);
    assert!(played.of("mqtt_connect_duration", "max") > 0.0);
    assert_eq!(played.count("mqtt_publishes"), 9.0 * 9.0);
    assert_eq!(played.count("mqtt_messages_sent"), 9.0 * 9.0);
    assert_eq!(played.count("mqtt_subscribes"), 9.0 * 2.0);
    assert_eq!(played.count("mqtt_messages_received"), 9.0 * 7.0);
    // The same by their other names; calls are those of methods, and messages that came.
    assert_eq!(played.count("mqtt_message_sent"), 9.0 * 9.0);
    assert_eq!(played.count("mqtt_message_received"), 9.0 * 7.0);
    assert_eq!(played.count("mqtt_calls"), 9.0 * (1.0 + 9.0 + 2.0 + 2.0 + 1.0 + 7.0));
    let bytes = seen.iter().map(|(_, payload)| payload.len()).sum::<usize>();
    assert_eq!(played.count("mqtt_data_sent"), bytes as f64);
    // What came late and what took away came to nobody here.
    assert_eq!(played.count("mqtt_data_received"), (bytes - 9 * "late".len()) as f64);
    // Bytes of its sockets count: more than nothing, and less than ten times what they carry.
    for metric in ["data_sent", "data_received"] {
        assert!((1_000.0..50_000.0).contains(&played.count(metric)), "{metric}");
    }
}

#[test]
fn tags_are_on_the_samples() {
    let mosquitto = Mosquitto::start().unwrap();
    let folder = temp_dir().unwrap();
    let samples = folder.path().join("samples.json");
    let out = format!("json={}", samples.display());
    play("everything.js", &[("MQTT", &mosquitto.url())], &["--out", &out]).passed();
    let text = std::fs::read_to_string(samples).unwrap();
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let points = values.filter(|value| value["type"] == "Point");
    let ours = points.filter(|point| point["metric"].as_str().unwrap().starts_with("mqtt_"));
    let tags: Vec<Value> = ours.map(|point| point["data"]["tags"].clone()).collect();
    assert!(tags.iter().all(|tags| tags["side"] == "both" && tags["scenario"] == "default"));
    // A call, as published, as sent by either name, and its bytes.
    assert_eq!(tags.iter().filter(|tags| tags["way"] == "two").count(), 5 * 9);
}

#[test]
fn more_than_a_broker_takes_at_once_arrives_in_order() {
    let mosquitto = Mosquitto::dropping_nothing().unwrap();
    let played = play("flood.js", &[("MQTT", &mosquitto.url())], &[]).passed();
    for metric in ["mqtt_publishes", "mqtt_messages_sent", "mqtt_messages_received"] {
        assert_eq!(played.count(metric), 2.0 * 3_800.0, "{metric}");
    }
}

#[test]
fn errors_go_to_handlers_or_are_thrown() {
    let mosquitto = Mosquitto::start().unwrap();
    let nobody = closed_port().unwrap().to_string();
    // Takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port().to_string();
    let guarded = format!("mqtt://127.0.0.1:{}", mosquitto.port_with_password());
    let url = mosquitto.url();
    let variables = [
        ("MQTT", url.as_str()),
        ("NOBODY", &nobody),
        ("SILENT", &silent_port),
        ("GUARDED", &guarded),
    ];
    let played = play("errors.js", &variables, &[]).passed();
    assert_eq!(played.of("checks", "passes"), 25.0, "{}", played.output);
    assert!(
        played.metrics["metrics"]["mqtt_messages_sent"]["count"]
            .as_f64()
            .is_none_or(|it| it == 0.0)
    );
    // Each that was tried, whatever came of it.
    assert_eq!(played.count("mqtt_connects"), 10.0);
    // Of calls that are none, by what they are given, no more than the exception is told.
    assert_eq!(played.count("mqtt_errors"), 19.0);
}

#[test]
fn a_connection_that_is_lost_is_told_and_made_anew() {
    let mosquitto = Mosquitto::start().unwrap();
    let played = play("lost.js", &[("MQTT", &mosquitto.url())], &[]).passed();
    assert_eq!(played.count("mqtt_connects"), 4.0);
}

#[test]
fn a_session_is_kept_where_that_is_asked_for() {
    let mosquitto = Mosquitto::dropping_nothing().unwrap();
    let played = play("sessions.js", &[("MQTT", &mosquitto.url())], &[]).passed();
    assert_eq!(played.count("mqtt_messages_received"), 200.0);
}

/// Users that wait keep nobody waiting; what they leave behind is cut off at the end, as by a
/// client that is gone.
#[test]
fn clients_that_are_never_ended_end_with_the_test() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut witness = Witness::start(&mosquitto);
    let played = play("never_ended.js", &[("MQTT", &mosquitto.url())], &[]).passed();
    assert!(played.count("ticks") >= 75.0, "{}", played.output);
    // One iteration of each user, until it was cut.
    assert_eq!(played.count("began"), 2.0);
    let gone = witness.see(2);
    assert!(
        gone.iter().all(|(topic, payload)| topic.starts_with("k6/gone/") && payload == b"gone")
    );
}

#[test]
fn a_handler_that_throws_fails_its_iteration() {
    let mosquitto = Mosquitto::start().unwrap();
    let played = play("throwing.js", &[("MQTT", &mosquitto.url())], &[]);
    assert_eq!(played.output.code, Some(0), "{}", played.output);
    assert_eq!(played.output.stderr.matches("no such luck").count(), 2, "{}", played.output);
    assert_eq!(played.count("iterations"), 2.0);
}

#[test]
fn clients_say_who_they_are() {
    let mut mosquitto = Mosquitto::start().unwrap();
    let (port, guarded) =
        (mosquitto.port_with_password().to_string(), mosquitto.url_with_password());
    let variables =
        [("PORT", port.as_str()), ("GUARDED", &guarded), ("NAME", USER), ("PASSWORD", PASSWORD)];
    play("who.js", &variables, &[]).passed();
    // As the broker's own log has it, which is whole when it has ended: p2 is 3.1.1, c whether the
    // session is clean, k the seconds.
    mosquitto.instance_mut().stop();
    let log = std::fs::read_to_string(mosquitto.instance().log()).unwrap();
    let logged = |part: &str, count| assert_eq!(log.matches(part).count(), count, "{part}: {log}");
    for (id, settings, count) in [
        ("by-options", "p2, c0, k17", 1),
        ("by-url", "p2, c1, k60", 1),
        ("by-provider", "p2, c1, k60", 2),
    ] {
        logged(&format!("as {id} ({settings}, u'{USER}')"), count);
        // With a goodbye.
        logged(&format!("Client {id} disconnected."), count);
    }
}

const TLS: &str = "import { Client } from 'k6/x/mqtt';
    export default function () {
        const client = new Client();
        client.on('message', (topic) => { console.log('came', topic); client.end(); });
        client.on('error', (error) => console.log('refused', error.message));
        client.connect(__ENV.MQTT);
        if (!client.connected) return;
        client.subscribe('k6/tls');
        client.publish('k6/tls', 'x');
    }";

#[test]
fn tls_is_the_tests_own() {
    let mosquitto = Mosquitto::start().unwrap();
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("s.js"), TLS).unwrap();
    let run = |scheme: &str, words: &[&str]| {
        let url = format!("MQTT={}", mosquitto.url_tls().replace("mqtts", scheme));
        let usual = ["k6", "run", "--quiet", "-e", &url, "s.js"];
        sojourn(usual.iter().chain(words)).in_dir(folder.path()).run().unwrap()
    };
    for scheme in ["mqtts", "ssl"] {
        let output = run(scheme, &["--insecure-skip-tls-verify"]);
        assert!(output.stderr.contains("came k6/tls"), "{output}");
    }
    let wary = run("tls", &[]);
    assert!(wary.stderr.contains("refused tls: "), "{wary}");
}

#[test]
fn check_knows_the_module() {
    let folder = temp_dir().unwrap();
    let script = "import { Client, QoS, Nonsense } from 'k6/x/mqtt';
        export default function () { new Client(); QoS; Nonsense; }";
    std::fs::write(folder.path().join("s.js"), script).unwrap();
    let output = sojourn(["k6", "check", "s.js"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(104), "{output}");
    for part in ["≈ k6/x/mqtt  Client: ", "✓ k6/x/mqtt  QoS\n", "✗ k6/x/mqtt  Nonsense:"] {
        assert!(output.stdout.contains(part), "{part}: {output}");
    }
}
