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

use super::{ClientCertificate, TlsOptions};

/// What the files of [`TlsOptions`] hold, known to be of use.
#[derive(Debug)]
pub(crate) struct TlsFiles {
    /// In place of the system's roots.
    pub(super) roots: Option<Vec<CertificateDer<'static>>>,
    pub(super) extra_roots: Vec<CertificateDer<'static>>,
    pub(super) identity: Option<Arc<CertifiedKey>>,
}

impl TlsFiles {
    pub(crate) fn read(options: &TlsOptions) -> io::Result<Self> {
        let mut roots = Vec::new();
        for file in &options.root_certs {
            roots.append(&mut read_roots(file)?);
        }
        let extra_roots = options.ca_file.as_deref().map_or(Ok(Vec::new()), read_roots)?;
        let identity = options.client_certificate.as_ref().map(read_identity).transpose()?;
        Ok(Self { roots: (!roots.is_empty()).then_some(roots), extra_roots, identity })
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
