//! What goes wrong is told with the address and what to do, and without secrets.

use std::io::{Read, Write};
use std::net::TcpListener;

use sojourn_broker::{BrokerError, Tap};
use sojourn_broker_mqtt::{MqttConsumer, MqttPublisher, MqttTap};
use sojourn_plan::{MqttChannel, MqttVersion, Secret, Server, Tls};
use sojourn_services::{Mosquitto, PASSWORD, Service, closed_port};

use crate::support::{Keep, at_port, opened, poll_to_end, publish, publisher, with_password};

fn refused(channel: &MqttChannel) -> BrokerError {
    MqttTap::new(channel).and_then(|mut tap| tap.open()).unwrap_err()
}

#[test]
fn a_wrong_password_is_told_without_showing_it() {
    let mosquitto = Mosquitto::start().unwrap();
    let mut good = with_password(&mosquitto, "t");
    for version in [MqttVersion::V3, MqttVersion::V5] {
        good.version = version;
        let mut tap = opened(&good);
        publish(&mut publisher(&good), "t", &["one", "end"]);
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.texts(), ["one"]);

        let mut wrong = good.clone();
        wrong.server.password = Some(Secret::new("s3cret-t0ken"));
        let error = refused(&wrong);
        let address = format!("127.0.0.1:{}", mosquitto.port_with_password());
        assert!(
            error.message.starts_with(&format!("mqtt at {address}: the connection is refused"))
        );
        assert!(error.message.contains("not authorized"), "{error:?}");
        assert!(error.hint.as_ref().unwrap().contains("user and password"), "{error:?}");
        let shown = format!("{error:?} {:?}", MqttTap::new(&wrong).unwrap());
        assert!(!shown.contains("s3cret-t0ken") && !shown.contains(PASSWORD));

        let mut nobody = good.clone();
        nobody.server.user = None;
        nobody.server.password = None;
        assert!(refused(&nobody).hint.unwrap().contains("USER:PASSWORD"));
    }
}

#[test]
fn a_server_that_is_not_there_or_is_no_broker_is_told() {
    let port = closed_port().unwrap();
    let error = refused(&at_port(port, "t"));
    assert_eq!(
        error.message,
        format!("mqtt at 127.0.0.1:{port}: cannot connect: connection refused")
    );
    assert!(error.hint.is_some());

    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\x20\xff\xff\xff\xff\xff", b""] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = [0; 20];
            stream.read_exact(&mut hello).unwrap();
            stream.write_all(answer).unwrap();
        });
        let error = refused(&at_port(port, "t"));
        assert!(error.message.starts_with(&format!("mqtt at 127.0.0.1:{port}: ")), "{error:?}");
        server.join().unwrap();
    }
}

#[test]
fn tls_is_trusted_only_by_the_right_authority_and_for_the_right_name() {
    let mosquitto = Mosquitto::start().unwrap();
    let url = mosquitto.url_tls();
    let port: u16 = url.rsplit_once(':').unwrap().1.parse().unwrap();
    let secure = |host: &str, trust: Tls| MqttChannel {
        server: Server { host: host.to_owned(), port, tls: true, trust, ..Server::default() },
        ..at_port(port, "t")
    };
    let ca = mosquitto.ca_file();
    let trusted = Tls { ca: ca.clone(), ..Tls::default() };
    let named = Tls { name: Some("localhost".to_owned()), ..trusted.clone() };
    let insecure = Tls { insecure: true, ..Tls::default() };
    let ways = [
        ("localhost", &trusted),
        ("127.0.0.1", &trusted),
        ("127.0.0.1", &named),
        ("localhost", &insecure),
    ];
    for (host, trust) in ways {
        let good = secure(host, trust.clone());
        let mut tap = opened(&good);
        let large = "x".repeat(300_000);
        publish(&mut publisher(&good), "t", &["one", &large, "end"]);
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert!(keep.texts() == ["one", &large], "{host} {trust:?}");
    }
    let elsewhere = Tls { name: Some("elsewhere.example".to_owned()), ..trusted.clone() };
    let error = refused(&secure("127.0.0.1", elsewhere));
    assert!(error.message.contains("does not carry the name `elsewhere.example`"), "{error:?}");
    assert!(error.hint.unwrap().contains("`name`"));
    let error = refused(&secure("localhost", Tls::default()));
    assert!(error.message.contains("signed by nobody who is trusted"), "{error:?}");
    assert!(error.hint.unwrap().contains("`ca`"));
    // What a server shows of itself vouches for nobody, itself included.
    let own = mosquitto.instance().folder().join("server.pem");
    assert!(own.is_file());
    let error = refused(&secure("localhost", Tls { ca: Some(own), ..Tls::default() }));
    assert!(error.message.contains("certificate is"), "{error:?}");
    let absent = Tls { ca: Some("/nowhere/ca.pem".into()), ..Tls::default() };
    assert!(refused(&secure("localhost", absent)).message.contains("/nowhere/ca.pem"));
    // TLS to a port that speaks none.
    let mut plain = secure("127.0.0.1", trusted);
    plain.server.port = mosquitto.port();
    assert!(refused(&plain).message.contains("TLS failed"));
}

#[test]
fn filters_that_cannot_be_are_refused_before_anything_is_connected() {
    let of = |filters: &[&str]| {
        let filters = filters.iter().map(|filter| (*filter).to_owned()).collect();
        MqttTap::new(&MqttChannel { filters, ..at_port(1, "") }).unwrap_err().message
    };
    assert!(of(&["a/#/b"]).contains("topic filter `a/#/b`"));
    assert!(
        of(&["$share/workers/jobs"]).contains("takes messages from the system's own consumers")
    );
    assert!(of(&["a/+", "a/b"]).contains("`a/+` and `a/b` overlap"));
    let three = MqttChannel { version: MqttVersion::V3, ..at_port(1, "t") };
    assert!(MqttConsumer::new(&three, "g").unwrap_err().message.contains("no shared"));
    assert!(MqttConsumer::new(&at_port(1, "t"), "a/b").is_err());
    let mut no_user = three;
    no_user.server.password = Some(Secret::new("p"));
    let how = sojourn_broker::PublisherSettings::default;
    assert!(MqttPublisher::new(&no_user, how()).is_err());
}

#[test]
fn a_tap_opens_once() {
    let mosquitto = Mosquitto::start().unwrap();
    let way = at_port(mosquitto.port(), "t");
    assert!(MqttTap::new(&way).unwrap().poll(Default::default(), &mut Keep::default()).is_err());
    assert!(opened(&way).open().is_err());
}
