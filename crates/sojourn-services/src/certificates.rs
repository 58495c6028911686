//! A certificate authority for one test server, and a certificate for `localhost` signed by it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::find_program;

/// A new key for a request.
const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// A client's certificate by a server's authority, in PEM.
#[derive(Debug, Clone)]
pub struct ClientFiles {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key (PKCS#8, without password).
    pub key: PathBuf,
}

/// Files in PEM: the authority, the server's certificate and its key (PKCS#8, without password).
#[derive(Debug, Clone)]
pub struct Certificates {
    /// The authority's certificate.
    pub ca: PathBuf,
    /// The server's certificate.
    pub server: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

impl Certificates {
    /// Makes them in this folder, valid for a month, for `localhost` and 127.0.0.1.
    ///
    /// # Errors
    /// There is no `openssl`, or the folder cannot be written.
    pub fn make(folder: &Path) -> io::Result<Self> {
        let files = Self {
            ca: folder.join("ca.pem"),
            server: folder.join("server.pem"),
            key: folder.join("server.key"),
        };
        let run = |words: &str| run(folder, words);
        run(&format!(
            "req -x509 {KEY} -keyout ca.key -out ca.pem -days 30 -subj /CN=Sojourn-test-authority"
        ))?;
        run(&format!("req {KEY} -keyout server.key -out server.csr -subj /CN=localhost"))?;
        std::fs::write(
            folder.join("names.txt"),
            "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n",
        )?;
        run("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem \
             -days 30 -extfile names.txt")?;
        Ok(files)
    }

    /// Makes a client's certificate by the authority in this folder.
    ///
    /// # Errors
    /// As for [`Self::make`].
    pub fn client(folder: &Path) -> io::Result<ClientFiles> {
        run(folder, &format!("req {KEY} -keyout client.key -out client.csr -subj /CN=client"))?;
        // Without an extension it would be of X.509's first version, which not everybody reads.
        std::fs::write(folder.join("use.txt"), "extendedKeyUsage=clientAuth\n")?;
        run(
            folder,
            "x509 -req -in client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out client.pem \
             -days 30 -extfile use.txt",
        )?;
        Ok(ClientFiles { certificate: folder.join("client.pem"), key: folder.join("client.key") })
    }
}

/// `openssl` with these words, in a folder.
fn run(folder: &Path, words: &str) -> io::Result<()> {
    let output = Command::new(find_program("openssl")?)
        .args(words.split(' '))
        .current_dir(folder)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("`openssl {words}` failed: {said}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_vouches_for_the_server() {
        let folder = crate::place::folder("certificates").unwrap();
        let files = Certificates::make(folder.path()).unwrap();
        let output = Command::new("openssl")
            .args(["verify", "-verify_hostname", "localhost", "-CAfile"])
            .args([&files.ca, &files.server])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let key = std::fs::read_to_string(&files.key).unwrap();
        assert!(key.starts_with("-----BEGIN PRIVATE KEY-----"), "Java reads PKCS#8 only");
    }
}
