//! Target files: errors name a line that there is, targets can be sent.

use sojourn_http::write_request;
use sojourn_plan::{Target, TargetDefaults, TargetFormat, TargetReader};

use crate::Input;

/// Option 0: JSON.
pub(crate) fn check(input: Input<'_>) {
    let format = if input.has(0) { TargetFormat::Json } else { TargetFormat::Http };
    let files = Box::new(|path: &str| match path {
        "body" => Ok(b"<body>".to_vec()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    });
    let defaults = TargetDefaults {
        headers: vec![("X-Default".to_owned(), "1".to_owned())],
        body: (*b"default").into(),
    };
    let lines = input.bytes.split(|byte| *byte == b'\n').count();
    let mut count = 0;
    for target in TargetReader::new("the file", input.bytes, format, defaults, files) {
        match target {
            Ok(target) => check_target(&target),
            Err(error) => {
                assert!(error.line <= lines as u64, "{error}");
                assert!(error.to_string().starts_with("the file:"), "{error}");
            }
        }
        count += 1;
    }
    assert!(count <= lines);
}

fn check_target(target: &Target) {
    assert!(!target.method.is_empty() && !target.host.is_empty());
    assert!(target.path.starts_with('/'));
    assert!(target.path.bytes().all(|byte| byte.is_ascii_graphic()), "{}", target.path);
    assert_eq!(target.headers[0].0, "X-Default");
    assert!(target.name.is_some() || !target.label().contains('?'));
    let mut out = Vec::new();
    // A header that can't be sent is refused, not sent.
    let Target { method, path, host, headers, body, .. } = target;
    let written = write_request(method, path, host, headers, body, &mut out);
    if written.is_ok() {
        let head = String::from_utf8_lossy(&out);
        let head = head.split("\r\n\r\n").next().unwrap_or_default();
        assert_eq!(head.matches('\n').count(), head.matches("\r\n").count(), "{head}");
    }
}
