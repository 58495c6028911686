//! Objects as YAML.

use serde_json::Value;

/// Longer than any line, so that none is folded: what stands there is what was meant.
const NEVER_FOLDED: usize = usize::MAX;

/// Objects as YAML documents, after a comment.
///
/// Texts that a reader of YAML 1.1 would take for something else (`on`, `1e3`) are quoted.
pub fn documents(comment: &str, objects: &[Value]) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    for object in objects {
        let options = serde_saphyr::ser_options! { folded_wrap_chars: NEVER_FOLDED };
        text.push_str("---\n");
        match serde_saphyr::to_string_with_options(object, options) {
            Ok(document) => text.push_str(&document),
            // JSON is YAML, too.
            Err(_) => text.push_str(&format!("{object:#}\n")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn it_reads_as_people_write_it() {
        let object = json!({
            "kind": "Job",
            "on": ["yes", "1e3", "plain", ""],
            "command": ["sojourn", "--listen", "0.0.0.0:7000"],
            "text": "a: 1\nb: # 2\n",
            "empty": {},
            "long": "word ".repeat(40),
        });
        let text = documents("What it is.\n\nMore.", std::slice::from_ref(&object));
        assert!(text.starts_with("# What it is.\n#\n# More.\n---\nkind: Job\n"), "{text}");
        assert!(text.contains("text: |\n  a: 1\n  b: # 2\n"), "{text}");
        let again: Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(again, object);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~\n\té]{0,120}".prop_map(Value::from),
            "(yes|no|on|off|null|~|0x1F|1_000|1:30|2026-11-23|- a|\\? b|a: b|a #b)"
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-zA-Z./_-]{1,12}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read_again(value in value()) {
            let object = json!({ "a": value });
            let text = documents("", std::slice::from_ref(&object));
            let again: Value = serde_saphyr::from_str(&text).unwrap();
            prop_assert_eq!(again, object, "{}", text);
        }
    }
}
