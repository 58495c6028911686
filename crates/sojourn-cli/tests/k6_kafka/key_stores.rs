//! Java's key stores, made by Java's own `keytool`, and a broker that wants to see certificates.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use sojourn_testkit::services::{Kafka, Service as _, find_program};
use sojourn_testkit::temp_dir;

use super::play;

/// Of the store. Not all of it is ASCII.
const PASSWORD: &str = "changeit-é";
/// Of the key in it.
const OF_KEY: &str = "s3cret-ключ";

/// `keytool` with these words. It comes with `java`.
fn keytool(folder: &Path, words: &[&str]) {
    let java = find_program("java").unwrap().canonicalize().unwrap();
    let output = Command::new(java.with_file_name("keytool"))
        .args(["-J-Xmx64m", "-J-Dfile.encoding=UTF-8", "-J-Dsun.jnu.encoding=UTF-8"])
        .args(words)
        .current_dir(folder)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    assert!(output.status.success(), "keytool {words:?}: {output:?}");
}

/// `client.p12` with the client's key and certificate, and `client.jks` of it, with the authority's
/// certificate in it as well.
fn make_stores(folder: &Path, kafka: &Kafka) {
    let (files, ca) = (kafka.client_files(), kafka.ca_file().unwrap());
    let output = Command::new("openssl")
        .args(["pkcs12", "-export", "-name", "Client", "-out", "client.p12", "-passout"])
        .arg("pass:changeit")
        .arg("-in")
        .arg(&files.certificate)
        .arg("-inkey")
        .arg(&files.key)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let to = ["-destkeystore", "client.jks", "-deststoretype", "JKS"];
    let from = ["-srckeystore", "client.p12", "-srcstoretype", "PKCS12", "-srcstorepass"];
    let mut words = vec!["-importkeystore", "-noprompt", "-srcalias", "Client"];
    words.extend(from.iter().chain(&["changeit"]).chain(&to));
    words.extend(["-deststorepass", PASSWORD, "-destkeypass", OF_KEY]);
    keytool(folder, &words);
    let ca = ca.display().to_string();
    let mut words = vec!["-importcert", "-noprompt", "-alias", "caroot", "-file", &ca];
    words.extend(["-keystore", "client.jks", "-storetype", "JKS", "-storepass", PASSWORD]);
    keytool(folder, &words);
}

#[test]
fn a_broker_is_shown_a_certificate_of_a_key_store() {
    let kafka = Kafka::shared().unwrap();
    let folder = temp_dir().unwrap();
    make_stores(folder.path(), &kafka);
    let stores = folder.path().display().to_string();
    let played = play(
        "key_stores.js",
        &[
            ("BROKERS", &kafka.bootstrap_with_certificate()),
            ("TOPIC", "k6.keys"),
            ("STORES", &stores),
            ("PASSWORD", PASSWORD),
            ("OF_KEY", OF_KEY),
        ],
    )
    .passed();
    assert_eq!(played.of("checks", "fails"), 0.0, "{}", played.output);
    // What the files have is what went into the store.
    let written = |name: &str| std::fs::read_to_string(played.folder.path().join(name)).unwrap();
    let given = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(written("client-cert-0.pem"), given(&kafka.client_files().certificate));
    assert_eq!(written("client-key.pem"), given(&kafka.client_files().key));
    assert_eq!(written("server-ca.pem"), given(&kafka.ca_file().unwrap()));
    let key = std::fs::metadata(played.folder.path().join("client-key.pem")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    let entries = std::fs::read_dir(played.folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["client-cert-0.pem", "client-key.pem", "server-ca.pem", "summary.json"]);
}
