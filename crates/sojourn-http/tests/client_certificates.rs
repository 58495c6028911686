//! Who to be and whom to trust: client certificates, roots of one's own, sessions resumed or not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use sojourn_http::{
    Client, ClientCertificate, ClientConfig, FailureKind, HostCertificate, Origin, TlsOptions,
};

use crate::dialling::answer_all;
use crate::peers::{Load, Server};

/// An authority, and a folder for what it signs.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        Self::of_the_name("an authority")
    }

    fn of_the_name(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key()).expect("its own key");
        Self { issuer, folder: tempfile::tempdir().expect("a folder") }
    }

    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = key();
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        (params.signed_by(&key, &self.issuer).expect("an authority"), key)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("room");
        path
    }

    fn root_file(&self) -> PathBuf {
        self.file("root.pem", &self.issuer.pem())
    }

    /// A server at 127.0.0.1 that writes down each handshake's kind, and may demand certificates.
    fn server(&self, demands: bool) -> (Server, Arc<Mutex<Vec<HandshakeKind>>>) {
        let (certificate, key) = self.sign("127.0.0.1");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("an authority");
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider's own");
        let builder = match demands {
            true => builder.with_client_cert_verifier(verifier.build().expect("roots")),
            false => builder.with_no_client_auth(),
        };
        let config = builder
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("key and certificate fit");
        let config = Arc::new(config);
        let kinds: Arc<Mutex<Vec<HandshakeKind>>> = Arc::default();
        let log = Arc::clone(&kinds);
        let server = Server::start(move |_, stream| {
            let session = ServerConnection::new(Arc::clone(&config)).expect("a valid config");
            let mut stream = StreamOwned::new(session, stream);
            answer_all(&mut stream);
            log.lock().expect("unpoisoned").extend(stream.conn.handshake_kind());
        });
        (server, kinds)
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}

fn load(server: &Server, tls: TlsOptions, keep_alive: bool) -> Load {
    let url = format!("https://{}", server.address);
    let config = ClientConfig { tls, keep_alive, ..ClientConfig::default() };
    Load::to(&Origin::parse(&url).expect("URL"), config)
}

fn shown(certificate: PathBuf, key: PathBuf) -> Option<ClientCertificate> {
    Some(ClientCertificate { certificate, key })
}

#[test]
fn a_server_that_demands_a_certificate_gets_it() {
    let authority = Authority::new();
    let (server, _) = authority.server(true);
    let (certificate, key) = authority.sign("client");
    let both = format!("{}{}", certificate.pem(), key.serialize_pem());
    let in_one = authority.file("both.pem", &both);
    let in_two = (
        authority.file("certificate.pem", &certificate.pem()),
        authority.file("key.pem", &key.serialize_pem()),
    );
    let root = authority.root_file();
    for certificate in [shown(in_one.clone(), in_one), shown(in_two.0, in_two.1)] {
        for insecure in [false, true] {
            let tls = TlsOptions {
                ca_file: Some(root.clone()),
                client_certificate: certificate.clone(),
                insecure,
                ..TlsOptions::default()
            };
            assert_eq!(load(&server, tls, true).answer().body, b"ok");
        }
    }
    // Nobody's, and one of an authority that the server does not know.
    let stranger = Authority::new();
    let (certificate, key) = stranger.sign("client");
    let both = format!("{}{}", key.serialize_pem(), certificate.pem());
    let file = stranger.file("both.pem", &both);
    for certificate in [None, shown(file.clone(), file)] {
        let tls = TlsOptions {
            ca_file: Some(root.clone()),
            client_certificate: certificate,
            ..TlsOptions::default()
        };
        let failure = load(&server, tls, true).failure();
        assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    }
}

#[test]
fn certificates_and_keys_of_no_use_are_told_at_the_beginning() {
    let authority = Authority::new();
    let (certificate, key) = authority.sign("client");
    let certificate = authority.file("certificate.pem", &certificate.pem());
    let key = authority.file("key.pem", &key.serialize_pem());
    let (_, other) = authority.sign("other");
    let other = authority.file("other-key.pem", &other.serialize_pem());
    let cut_off = authority.file("cut-off.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n");
    let encrypted = authority.file(
        "encrypted.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let nonsense = authority
        .file("nonsense.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
    let absent = authority.folder.path().join("absent.pem");
    let check = |certificate: &Path, key: &Path, named: &Path, words: &str| {
        let tls = TlsOptions {
            client_certificate: shown(certificate.to_owned(), key.to_owned()),
            ..TlsOptions::default()
        };
        let config = ClientConfig { tls, ..ClientConfig::default() };
        let error = Client::new(config).expect_err(words).to_string();
        let names = error.contains(&named.display().to_string());
        assert!(names && error.contains(words), "{error}");
    };
    check(&certificate, &other, &other, "not that of the certificate in");
    check(&certificate, &certificate, &certificate, "there is none in it");
    check(&certificate, &cut_off, &cut_off, "");
    check(&certificate, &encrypted, &encrypted, "it is encrypted");
    check(&certificate, &nonsense, &nonsense, "");
    check(&certificate, &absent, &absent, "No such file");
    check(&key, &key, &key, "there is none in it");
    check(&absent, &key, &absent, "No such file");
}

#[test]
fn own_roots_stand_in_for_the_system_s() {
    let (ours, others) = (Authority::new(), Authority::new());
    let (server, _) = ours.server(false);
    let options = |root_certs: &[&Authority]| TlsOptions {
        root_certs: root_certs.iter().map(|authority| authority.root_file()).collect(),
        ..TlsOptions::default()
    };
    for tls in [options(&[&ours]), options(&[&others, &ours])] {
        assert_eq!(load(&server, tls, true).answer().body, b"ok");
    }
    for tls in [options(&[]), options(&[&others])] {
        assert_eq!(load(&server, tls, true).failure().kind, FailureKind::Tls);
    }
    // Beside them, one more.
    let tls = TlsOptions { ca_file: Some(ours.root_file()), ..options(&[&others]) };
    assert_eq!(load(&server, tls, true).answer().body, b"ok");
    let mut empty = tempfile::NamedTempFile::new().expect("a file");
    empty.write_all(b"nothing").expect("room");
    let tls = TlsOptions { root_certs: vec![empty.path().to_owned()], ..TlsOptions::default() };
    let error = Client::new(ClientConfig { tls, ..ClientConfig::default() });
    let error = error.expect_err("no certificate").to_string();
    assert!(error.contains(&empty.path().display().to_string()), "{error}");
}

#[test]
fn sessions_are_resumed_when_wanted() {
    let authority = Authority::new();
    for resumption in [false, true] {
        let (server, kinds) = authority.server(false);
        let tls = TlsOptions {
            ca_file: Some(authority.root_file()),
            resumption,
            ..TlsOptions::default()
        };
        let mut load = load(&server, tls, false);
        for _ in 0..4 {
            load.answer();
        }
        load.run_until(|_| kinds.lock().expect("unpoisoned").len() == 4);
        let kinds = kinds.lock().expect("unpoisoned").clone();
        let resumed = kinds.iter().filter(|kind| **kind == HandshakeKind::Resumed).count();
        assert_eq!(resumed, if resumption { 3 } else { 0 }, "{kinds:?}");
    }
}

#[test]
fn of_several_certificates_a_server_is_shown_one_that_it_takes() {
    let ours = Authority::of_the_name("ours");
    let theirs = Authority::of_the_name("theirs");
    let (server, _) = ours.server(true);
    let own = |authority: &Authority, domains: &[&str]| {
        let (certificate, key) = authority.sign("client");
        HostCertificate {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
        }
    };
    let tls = |host_certificates| TlsOptions {
        ca_file: Some(ours.root_file()),
        host_certificates,
        ..TlsOptions::default()
    };
    // Whatever their order, and wherever else it is meant for.
    for list in [
        vec![own(&ours, &[])],
        vec![own(&theirs, &[]), own(&ours, &[])],
        vec![own(&theirs, &["127.0.0.1"]), own(&ours, &["elsewhere.example"])],
    ] {
        assert_eq!(load(&server, tls(list), true).answer().body, b"ok");
    }
    let failure = load(&server, tls(vec![own(&theirs, &[])]), true).failure();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    let mut broken = own(&ours, &[]);
    broken.key = own(&ours, &[]).key;
    let config = ClientConfig { tls: tls(vec![broken]), ..ClientConfig::default() };
    let error = Client::new(config).expect_err("a key of another certificate").to_string();
    assert!(error.contains("the client certificate 1"), "{error}");
}
