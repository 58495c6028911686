//! What ends TLS hands everything on, and lets in whom it should.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sojourn_testkit::TlsFront;

/// A server that sends back what it gets, until the process ends.
fn echo() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || std::io::copy(&mut &stream, &mut &stream).ok());
        }
    });
    address
}

/// A client that trusts the front, with its certificate or without.
fn client(front: &TlsFront, shows: bool) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(front.ca_file()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = if shows {
        let files = front.client_files();
        let certificate = CertificateDer::from_pem_file(&files.certificate).unwrap();
        let key = PrivateKeyDer::from_pem_file(&files.key).unwrap();
        builder.with_client_auth_cert(vec![certificate], key).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    let name = "localhost".try_into().unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(session, TcpStream::connect(front.address()).unwrap())
}

/// Sends a megabyte, and reads what comes back.
fn round_trip(mut stream: StreamOwned<ClientConnection, TcpStream>) -> std::io::Result<()> {
    let sent: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    for part in sent.chunks(10_000) {
        stream.write_all(part)?;
        let mut back = vec![0; part.len()];
        stream.read_exact(&mut back)?;
        assert!(back == part);
    }
    Ok(())
}

#[test]
fn bytes_go_there_and_back_until_it_is_gone() {
    let front = TlsFront::before(echo()).unwrap();
    round_trip(client(&front, false)).unwrap();
    let address = front.address();
    drop(front);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn only_known_clients_are_let_in_where_they_must_be() {
    let front = TlsFront::for_known_clients(echo()).unwrap();
    round_trip(client(&front, true)).unwrap();
    let error = round_trip(client(&front, false)).unwrap_err();
    assert!(error.to_string().contains("CertificateRequired"), "{error}");
}
