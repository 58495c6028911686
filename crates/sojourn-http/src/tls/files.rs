//! Certificates and keys from files. Errors name the file and what is wrong with it.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, RootCertStore};

use super::{ClientCertificate, HostCertificate, TlsOptions};

/// What the files of [`TlsOptions`] hold, known to be of use.
#[derive(Debug)]
pub(crate) struct TlsFiles {
    /// In place of the system's roots.
    pub(super) roots: Option<Vec<CertificateDer<'static>>>,
    pub(super) extra_roots: Vec<CertificateDer<'static>>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
    /// Those of [`TlsOptions::host_certificates`], in their order.
    pub(super) of_hosts: Vec<Arc<CertifiedKey>>,
}

impl TlsFiles {
    pub(crate) fn read(options: &TlsOptions) -> io::Result<Self> {
        let mut roots = Vec::new();
        for file in &options.root_certs {
            roots.append(&mut read_roots(file)?);
        }
        for (place, text) in options.root_texts.iter().enumerate() {
            roots.append(&mut roots_of_text(place, text)?);
        }
        let extra_roots = options.ca_file.as_deref().map_or(Ok(Vec::new()), read_roots)?;
        let identity = options.client_certificate.as_ref().map(read_identity).transpose()?;
        let of_hosts = options.host_certificates.iter().enumerate();
        let of_hosts =
            of_hosts.map(|(place, own)| host_identity(place, own)).collect::<Result<_, _>>()?;
        let roots = (!roots.is_empty()).then_some(roots);
        Ok(Self { roots, extra_roots, identity, of_hosts })
    }
}

fn read_roots(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let certificates = read_certificates(file)?;
    // Tried here, so that a bad one is an error at the beginning and not at the first request.
    let mut store = RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| invalid("certificates of", file, &error))?;
    }
    Ok(certificates)
}

/// The roots in the text that stands at this place of their list.
fn roots_of_text(place: usize, text: &str) -> io::Result<Vec<CertificateDer<'static>>> {
    let wrong = |problem: &dyn Display| {
        let message = format!("trusted certificate {}: {problem}", place + 1);
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let parsed = CertificateDer::pem_slice_iter(text.as_bytes());
    let roots: Vec<_> = parsed.collect::<Result<_, _>>().map_err(|error| wrong(&words(&error)))?;
    if roots.is_empty() {
        return Err(wrong(&"there is none in it (PEM is expected)"));
    }
    let mut store = RootCertStore::empty();
    for root in &roots {
        store.add(root.clone()).map_err(|error| wrong(&error))?;
    }
    Ok(roots)
}

fn read_identity(identity: &ClientCertificate) -> io::Result<Arc<CertifiedKey>> {
    let ClientCertificate { certificate, key } = identity;
    let chain = read_certificates(certificate)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
        PemError::NoItemsFound if is_encrypted(key) => {
            let hint = "it is encrypted: decrypt it first, for example with `openssl pkey`";
            invalid("private key of", key, &hint)
        }
        PemError::NoItemsFound => {
            invalid("private key of", key, &"there is none in it (PEM is expected)")
        }
        error => invalid("private key of", key, &words(&error)),
    })?;
    let provider = aws_lc_rs::default_provider();
    let certified = CertifiedKey::from_der(chain, private, &provider).map_err(|error| {
        if let Error::InconsistentKeys(_) = error {
            let problem = format!("it is not that of the certificate in {}", certificate.display());
            return invalid("private key of", key, &problem);
        }
        invalid("private key of", key, &error)
    })?;
    Ok(Arc::new(certified))
}

/// The certificate for certain hosts that stands at this place of their list.
fn host_identity(place: usize, own: &HostCertificate) -> io::Result<Arc<CertifiedKey>> {
    let wrong = |what: &str, problem: &dyn Display| {
        let message = format!("{what} of the client certificate {}: {problem}", place + 1);
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let chain = CertificateDer::pem_slice_iter(own.certificate.as_bytes());
    let chain: Vec<_> =
        chain.collect::<Result<_, _>>().map_err(|error| wrong("the text", &words(&error)))?;
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).map_err(|error| match error {
        PemError::NoItemsFound => wrong("the key", &"there is none in it (PEM is expected)"),
        error => wrong("the key", &words(&error)),
    })?;
    let provider = aws_lc_rs::default_provider();
    let certified = CertifiedKey::from_der(chain, key, &provider);
    certified.map(Arc::new).map_err(|error| wrong("the key", &error))
}

fn read_certificates(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let broken = |error: PemError| invalid("certificates of", file, &words(&error));
    let certificates: Vec<_> = CertificateDer::pem_file_iter(file)
        .map_err(broken)?
        .collect::<Result<_, _>>()
        .map_err(broken)?;
    if certificates.is_empty() {
        return Err(invalid("certificates of", file, &"there is none in it (PEM is expected)"));
    }
    Ok(certificates)
}

fn is_encrypted(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("ENCRYPTED"))
}

/// The reason without the parser's own prefix.
fn words(error: &PemError) -> String {
    match error {
        PemError::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn invalid(what: &str, file: &Path, problem: &dyn Display) -> io::Error {
    let message = format!("{what} {}: {problem}", file.display());
    io::Error::new(io::ErrorKind::InvalidData, message)
}
