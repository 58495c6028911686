//! A server over TLS that remembers each handshake, and the authority that vouches for it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::{
    HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};
use sojourn_testkit::{TempDir, temp_dir};

/// An authority, and a folder for what it signs.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

/// What a connection was that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handshake {
    pub(super) resumed: bool,
    /// The client has shown a certificate of its own.
    pub(super) shown: bool,
}

/// The server; it runs until the test's process ends.
pub(super) struct TlsServer {
    pub(super) address: SocketAddr,
    handshakes: Arc<Mutex<Vec<Handshake>>>,
}

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key()).unwrap();
        Self { issuer, folder: temp_dir().unwrap() }
    }

    /// A certificate for this name and its key.
    fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = key();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The file of its own certificate.
    pub(super) fn root(&self) -> String {
        self.file("root.pem", &self.issuer.pem())
    }

    /// Files of a client's certificate, of its key, and of both.
    pub(super) fn client(&self) -> [String; 3] {
        let (certificate, key) = self.sign("client");
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        let both = format!("{certificate}{key}");
        [("certificate.pem", certificate), ("key.pem", key), ("both.pem", both)]
            .map(|(name, text)| self.file(name, &text))
    }

    /// A server at 127.0.0.1, which may demand a certificate of this authority's.
    pub(super) fn server(&self, demands: bool) -> TlsServer {
        let config = Arc::new(self.config(demands));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let handshakes: Arc<Mutex<Vec<Handshake>>> = Arc::default();
        let log = Arc::clone(&handshakes);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, log) = (Arc::clone(&config), Arc::clone(&log));
                thread::spawn(move || {
                    let session = ServerConnection::new(config).unwrap();
                    let mut stream = StreamOwned::new(session, stream);
                    // A client that goes away has had its answers.
                    let _gone = answer_all(&mut stream, &log);
                });
            }
        });
        TlsServer { address, handshakes }
    }

    /// What a server needs to be one at 127.0.0.1.
    pub(super) fn config(&self, demands: bool) -> ServerConfig {
        let (certificate, key) = self.sign("127.0.0.1");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match demands {
            true => builder.with_client_cert_verifier(verifier.build().unwrap()),
            false => builder.with_no_client_auth(),
        };
        builder.with_single_cert(vec![certificate.der().clone()], key).unwrap()
    }
}

impl TlsServer {
    pub(super) fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    /// The handshakes since the last time, each with a request.
    pub(super) fn take(&self) -> Vec<Handshake> {
        std::mem::take(&mut self.handshakes.lock().unwrap())
    }
}

/// Answers what comes; the handshake is noted with the first request.
fn answer_all(
    stream: &mut StreamOwned<ServerConnection, TcpStream>,
    log: &Mutex<Vec<Handshake>>,
) -> std::io::Result<()> {
    let (mut request, mut byte, mut is_noted) = (Vec::new(), [0], false);
    while stream.read(&mut byte)? == 1 {
        request.push(byte[0]);
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        if !is_noted {
            is_noted = true;
            let resumed = stream.conn.handshake_kind() == Some(HandshakeKind::Resumed);
            let shown = stream.conn.peer_certificates().is_some();
            log.lock().unwrap().push(Handshake { resumed, shown });
        }
        request.clear();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        stream.flush()?;
    }
    Ok(())
}

fn key() -> KeyPair {
    KeyPair::generate().unwrap()
}
