//! Receivers behind TLS: who is not vouched for gets nothing.

use std::{
    io::Write,
    sync::{Arc, mpsc::sync_channel},
    thread,
};

use rustls::{
    ServerConfig,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use sojourn_clock::SECOND_NS;
use sojourn_outputs::Counts;
use tokio_rustls::TlsAcceptor;

use crate::{
    book::{Played, SECONDS, assert_whole},
    collector::{Collector, Reply},
    receiver::{Manner, Receiver},
};

/// Ends TLS in front of a port; its own port, and its certificate in PEM.
pub(crate) fn before(port: u16, protocol: &'static [u8]) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let pem = made.cert.pem();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (told, own) = sync_channel(1);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(listener.local_addr().unwrap().port()).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(mut near) = acceptor.accept(stream).await else { return };
                    let mut far =
                        tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    tokio::io::copy_bidirectional(&mut near, &mut far).await.ok();
                });
            }
        });
    });
    (own.recv().unwrap(), pem)
}

/// Plays a run to a target that is vouched for, and one to the same that is not.
fn with_and_without(target: &str, pem: &str) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    let (accounts, _) = Played::trusting(&[target.to_owned()], Some(file.path())).whole();
    assert_whole(&accounts[0], true);

    let mut played = Played::to(&[target.to_owned()]);
    for second in 0..SECONDS {
        played.second(second + 1 == SECONDS);
    }
    let account = &played.end_within(4 * SECOND_NS)[0];
    assert_eq!(account.sent, Counts::default());
    let said = account.last_failure.clone().unwrap();
    assert!(said.contains("certificate"), "{said}");
}

#[test]
fn http_is_verified() {
    let receiver = Receiver::start(|_| Manner::Take(Vec::new()));
    let (port, pem) = before(receiver.port, b"http/1.1");
    with_and_without(&format!("otlp=https://localhost:{port}"), &pem);
    assert_eq!(receiver.taken().len() as u64, 2 * SECONDS);
}

#[test]
fn grpc_is_verified() {
    let collector = Collector::start(|_| Reply::Status(0));
    let (port, pem) = before(collector.port, b"h2");
    with_and_without(&format!("otlp-grpc=https://localhost:{port}"), &pem);
    assert_eq!(collector.taken.lock().unwrap().len() as u64, 2 * SECONDS);
}
