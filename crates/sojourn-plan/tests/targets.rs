//! Target files, whole and damaged.

use proptest::prelude::*;
use sojourn_plan::{Target, TargetDefaults, TargetError, TargetFormat, TargetReader};

const HTTP: &str = "# @name create\nPOST http://127.0.0.1:8080/payments?a=b\nContent-Type: a/b\nX: 1\nX: 2\n\
                    @body.json\n\nGET http://[::1]:9/\nGET https://h/\n\n# comment\nPUT http://h/x\nA: b\n# c\n";
const JSON: &str = "{\"method\":\"GET\",\"url\":\"http://h/\",\"name\":\"n\"}\n\n{\"method\":\"POST\",\
                    \"url\":\"http://h:1/x\",\"body\":\"aGk=\",\"header\":{\"A\":[\"b\",\"c\"]}}";

fn read(text: &[u8], format: TargetFormat) -> Vec<Result<Target, TargetError>> {
    let files = Box::new(|name: &str| match name {
        "body.json" => Ok(b"{}".to_vec()),
        _ => Err(std::io::Error::other("no such file")),
    });
    TargetReader::new("targets", text, format, TargetDefaults::default(), files).collect()
}

#[test]
fn whole_files_are_read_in_order() {
    let http: Vec<Target> =
        read(HTTP.as_bytes(), TargetFormat::Http).into_iter().map(Result::unwrap).collect();
    let labels: Vec<String> = http.iter().map(Target::label).collect();
    assert_eq!(labels, ["create", "GET http://[::1]:9/", "GET https://h/", "PUT http://h/x"]);
    assert_eq!((&*http[0].body, http[0].headers.len()), (b"{}".as_slice(), 3));
    let json: Vec<Target> =
        read(JSON.as_bytes(), TargetFormat::Json).into_iter().map(Result::unwrap).collect();
    assert_eq!((json[0].label(), &*json[1].body), ("n".to_owned(), b"hi".as_slice()));
    assert_eq!(json[1].headers.len(), 2);
}

/// It was an error of each request before, and its query stood in the target's label.
#[test]
fn a_method_in_json_that_can_not_be_sent_is_an_error_with_its_line() {
    for method in ["GET http://h/?token=1", "GE\\nT", "é"] {
        let text = format!("{JSON}\n{{\"method\":\"{method}\",\"url\":\"http://h/\"}}");
        let last = read(text.as_bytes(), TargetFormat::Json).pop().unwrap();
        let error = last.unwrap_err().to_string();
        assert!(error.starts_with("targets:4: bad method: "), "{error}");
    }
    let text = r#"{"method":"M-SEARCH","url":"http://h/"}"#;
    assert_eq!(read(text.as_bytes(), TargetFormat::Json)[0].as_ref().unwrap().method, "M-SEARCH");
}

proptest! {
    /// Damage is an error with its line, or other targets; never a panic, and nothing after it.
    #[test]
    fn damaged_files_are_errors_with_a_line(
        is_json in any::<bool>(),
        at in 0_usize..400,
        bytes in proptest::collection::vec(any::<u8>(), 0..6),
        cut in 0_usize..400,
    ) {
        let (text, format) =
            if is_json { (JSON, TargetFormat::Json) } else { (HTTP, TargetFormat::Http) };
        let mut text = text.as_bytes().to_vec();
        text.truncate(text.len().saturating_sub(cut % 60));
        let at = at % (text.len() + 1);
        let end = (at + bytes.len() / 2).min(text.len());
        text.splice(at..end, bytes);
        let lines = text.split(|byte| *byte == b'\n').count() as u64;
        let targets = read(&text, format);
        for (place, target) in targets.iter().enumerate() {
            if let Err(error) = target {
                prop_assert!((1..=lines).contains(&error.line), "{error}");
                prop_assert_eq!(place + 1, targets.len());
            }
        }
    }

    #[test]
    fn anything_is_survived(text in proptest::collection::vec(any::<u8>(), 0..300), json in any::<bool>()) {
        read(&text, if json { TargetFormat::Json } else { TargetFormat::Http });
    }
}
