//! Enrolment over real sockets, judged by `openssl`; and without the feature, what is said instead.

#[cfg(not(feature = "est"))]
#[test]
fn a_build_without_it_says_how_to_get_it() {
    use crate::client::{Client, options};

    let mock = sojourn_mock::Mock::start(sojourn_mock::test_target(1), &options()).unwrap();
    let mut client = Client::connect(mock.address());
    let answers = [
        client.get("/.well-known/est/cacerts"),
        client.post("/.well-known/est/simpleenroll", "", "AAAA"),
        client.post("/.well-known/est/simplereenroll", "", "AAAA"),
    ];
    for answer in answers {
        let text = answer.text();
        assert!(answer.status == 501 && text.contains("--features est"), "{answer:?}");
    }
}

#[cfg(feature = "est")]
mod by_openssl {
    use std::path::Path;
    use std::process::Command;

    use sojourn_mock::{Mock, test_target};

    use crate::client::{Answer, Client, options};

    /// Runs `openssl` in a folder, where it must succeed; returns what it wrote.
    fn openssl(folder: &Path, arguments: &str) -> String {
        let output = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .output()
            .expect("this test needs the program `openssl`; Debian's package has its name");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Writes the answer's PKCS #7 as PEM, and takes its one certificate out.
    fn keep(folder: &Path, answer: &Answer, name: &str) {
        assert_eq!(answer.header("content-transfer-encoding"), Some("base64"));
        let pem = format!("-----BEGIN PKCS7-----\n{}-----END PKCS7-----\n", answer.text());
        std::fs::write(folder.join("answer.p7"), pem).unwrap();
        let printed = openssl(folder, "pkcs7 -in answer.p7 -print_certs");
        assert_eq!(printed.matches("BEGIN CERTIFICATE").count(), 1, "{printed}");
        std::fs::write(folder.join(name), printed).unwrap();
    }

    #[test]
    fn a_client_enrols_and_enrols_again() {
        let mock = Mock::start(test_target(1), &options()).unwrap();
        let mut client = Client::connect(mock.address());
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();

        let authority = client.get("/.well-known/est/cacerts");
        assert_eq!(authority.header("content-type"), Some("application/pkcs7-mime"));
        keep(folder, &authority, "ca.pem");
        let shown = openssl(folder, "x509 -in ca.pem -noout -subject -ext basicConstraints");
        assert!(shown.contains("Sojourn mock") && shown.contains("CA:TRUE"), "{shown}");

        for (key, path) in [
            ("rsa:2048", "simpleenroll"),
            ("ec -pkeyopt ec_paramgen_curve:P-256", "simplereenroll"),
            // Signed with SHA-256, as `openssl` does by default.
            ("ec -pkeyopt ec_paramgen_curve:P-384", "simpleenroll"),
            ("ed25519", "simplereenroll"),
        ] {
            let extensions = "-addext subjectAltName=DNS:device.test,IP:10.0.0.7 \
                              -addext keyUsage=digitalSignature -addext extendedKeyUsage=clientAuth";
            let subject = "-subj /C=SE/O=Fleet/CN=device-7";
            let files = "-keyout key.pem -out asked.pem";
            openssl(
                folder,
                &format!("req -new -newkey {key} -nodes {files} {subject} {extensions}"),
            );
            let pem = std::fs::read_to_string(folder.join("asked.pem")).unwrap();
            let lines: Vec<&str> = pem.lines().filter(|line| !line.starts_with("--")).collect();
            let body = lines.join("\r\n");
            let media = "content-type: application/pkcs10\r\n";
            let path = format!("/.well-known/est/{path}");
            let answer = client.post(&path, media, &body);
            assert_eq!(answer.status, 200, "{key}: {}", answer.text());
            let media = "application/pkcs7-mime; smime-type=certs-only";
            assert_eq!(answer.header("content-type"), Some(media));
            keep(folder, &answer, "issued.pem");
            openssl(folder, "verify -x509_strict -CAfile ca.pem issued.pem");
            let what = "-subject -nameopt RFC2253 -ext subjectAltName,keyUsage,extendedKeyUsage";
            let shown = openssl(folder, &format!("x509 -in issued.pem -noout {what}"));
            for part in [
                "CN=device-7,O=Fleet,C=SE\n",
                "DNS:device.test, IP Address:10.0.0.7\n",
                "Digital Signature\n",
                "TLS Web Client Authentication\n",
            ] {
                assert!(shown.contains(part), "{part:?} is not in {shown}");
            }
            assert_eq!(
                openssl(folder, "x509 -in issued.pem -noout -pubkey"),
                openssl(folder, "pkey -in key.pem -pubout"),
            );
            assert_eq!(client.post(&path, "", &pem).status, 400, "PEM is no Base64");
        }
        // Two parts of one kind would be lost.
        openssl(folder, "req -new -key key.pem -subj /OU=a/OU=b/CN=c -outform DER -out asked.der");
        openssl(folder, "base64 -in asked.der -out asked.txt");
        let body = std::fs::read_to_string(folder.join("asked.txt")).unwrap();
        let answer = client.post("/.well-known/est/simpleenroll", "", &body);
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("names something twice"), "{}", answer.text());
        // Other methods find nothing there but the echo.
        assert!(client.get("/.well-known/est/simpleenroll").text().starts_with("GET /.well-known"));
    }

    /// Too long for a request, however it is framed; the connection goes on.
    #[test]
    fn a_request_has_a_bound() {
        let mock = Mock::start(test_target(1), &options()).unwrap();
        let mut client = Client::connect(mock.address());
        let answer = client.post("/.well-known/est/simpleenroll", "", &"A".repeat(70_000));
        assert_eq!(answer.status, 413, "{}", answer.text());
        assert_eq!(client.get("/.well-known/est/cacerts").status, 200);
    }
}
