//! TLS before a server that speaks none: what stands before most servers in production.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use sojourn_services::{Certificates, ClientFiles};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::temp_dir;

/// Ends TLS on a free port of 127.0.0.1 and hands the bytes on to a server, and the server's back.
///
/// Its certificate is for `localhost` and 127.0.0.1, by an authority made for it alone. Dropped, it
/// and all its connections are gone.
#[derive(Debug)]
pub struct TlsFront {
    address: SocketAddr,
    files: Certificates,
    client: ClientFiles,
    /// Dropped at the end.
    alive: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl TlsFront {
    /// Stands before a server, for every client.
    ///
    /// # Errors
    /// No port or thread to be had, or no certificates can be made.
    pub fn before(server: SocketAddr) -> io::Result<Self> {
        Self::start(server, false)
    }

    /// The same for clients alone that show a certificate of its authority's, such as
    /// [`TlsFront::client_files`].
    ///
    /// # Errors
    /// As for [`TlsFront::before`].
    pub fn for_known_clients(server: SocketAddr) -> io::Result<Self> {
        Self::start(server, true)
    }

    fn start(server: SocketAddr, demands: bool) -> io::Result<Self> {
        let folder = temp_dir()?;
        let files = Certificates::make(folder.path())?;
        let client = Certificates::client(folder.path())?;
        let acceptor = TlsAcceptor::from(Arc::new(config(&files, demands)?));
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (alive, end) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("tls-front".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = end => {}
                    () = accept(listener, acceptor, server) => {}
                }
            });
        })?;
        let (alive, thread) = (Some(alive), Some(thread));
        Ok(Self { address, files, client, alive, thread, _folder: folder })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port of [`TlsFront::address`].
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The certificate of its authority, in PEM.
    pub fn ca_file(&self) -> &Path {
        &self.files.ca
    }

    /// A client's certificate by its authority.
    pub fn client_files(&self) -> &ClientFiles {
        &self.client
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn config(files: &Certificates, demands: bool) -> io::Result<ServerConfig> {
    let own = CertificateDer::from_pem_file(&files.server).map_err(io::Error::other)?;
    let authority = CertificateDer::from_pem_file(&files.ca).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = if demands {
        let mut roots = RootCertStore::empty();
        roots.add(authority).map_err(io::Error::other)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().map_err(io::Error::other)?)
    } else {
        builder.with_no_client_auth()
    };
    builder.with_single_cert(vec![own], key).map_err(io::Error::other)
}

/// Accepts for ever. A connection whose client is not let in never reaches the server.
async fn accept(listener: std::net::TcpListener, acceptor: TlsAcceptor, server: SocketAddr) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // What goes wrong on a connection is for its client to find out.
            let Ok(()) = stream.set_nodelay(true) else { return };
            let mut near = match acceptor.accept(stream).into_fallible().await {
                Ok(near) => near,
                Err((_, mut refused)) => {
                    // Closed before all was read it would be reset, and the client might not hear
                    // why.
                    drop(refused.shutdown().await);
                    drop(tokio::io::copy(&mut refused, &mut tokio::io::sink()).await);
                    return;
                }
            };
            let Ok(mut far) = TcpStream::connect(server).await else { return };
            let Ok(()) = far.set_nodelay(true) else { return };
            drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
        });
    }
}
