//! Bodies from files in journey files made of sessions: journeys read such files as templates.

use std::io;
use std::path::{Path, PathBuf};

use sojourn_plan::{Files, Overrides, Plan, RenderContext};
use sojourn_session::{Data, JourneyFile, journey_file};

use crate::util::{defined, script};

/// Files of a folder, as both kinds of test read them.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(self.0.join(path))
    }

    fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        panic!("`{name}` is no variable here")
    }
}

/// What becomes of a session that sends a file with these bytes, and then asks for `/behind`.
fn made(bytes: &[u8]) -> (JourneyFile, Plan) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("body.bin"), bytes).expect("a file");
    let files = Folder(folder.path().to_owned());
    let text = script(
        "session.post('/', { payload_from_file: session.ds.getRawFile('body.bin') });\n\
         session.get('/behind');",
    );
    let definition = defined(&text).expect("a session");
    let data = Data::load(&definition, &files).expect("its file is there");
    let file = journey_file("test", &definition, &data).expect("a journey");
    let plan = sojourn_plan::read("test.yaml", &file.text, &files, &Overrides::default());
    let plan = plan.unwrap_or_else(|errors| panic!("{}\n{errors}", file.text));
    (file, plan)
}

/// What the first step sends.
fn sent(plan: &Plan) -> Vec<u8> {
    let body = plan.journeys[0].steps[0].action.http().and_then(|http| http.body.as_ref());
    let context = RenderContext {
        seed: 1,
        k: 0,
        run_id: "run",
        key: "key",
        variables: &[],
        own: &[],
        data: &[],
    };
    let mut out = Vec::new();
    body.expect("a body").render(&context, &mut out).expect("no variable");
    out
}

#[test]
fn what_a_file_has_is_sent_byte_for_byte() {
    for text in [
        "plain {\"a\": 1}\n",
        "",
        "a template of somebody else's: {{ name }}, {{{triple}}} {{'{{'}} {{",
        "{{ uuid() }} ${HOME} $${X} \r\n\t\u{1} \u{2028} ä \"quoted\" \\ {% raw %}",
    ] {
        let (file, plan) = made(text.as_bytes());
        assert!(file.remarks.is_empty(), "{:?}", file.remarks);
        assert_eq!(plan.journeys[0].steps.len(), 2, "{}", file.text);
        assert_eq!(String::from_utf8(sent(&plan)).unwrap(), text, "{}", file.text);
        // Only what a journey would read otherwise stands in the file itself.
        assert_eq!(file.text.contains("body.bin"), !text.contains("{{"), "{}", file.text);
    }
}

#[test]
fn what_no_journey_could_send_is_left_out_with_its_file_and_place() {
    let long = format!("first line\nsecond {{{{ x\n{}", "x".repeat(64 << 10));
    for (bytes, expected) in [
        (&b"abc\xff\xfe"[..], "`body.bin` is no UTF-8 text from byte 4 on"),
        (long.as_bytes(), "`body.bin` has `{{` in line 2"),
    ] {
        let (file, plan) = made(bytes);
        let said: Vec<String> = file.remarks.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("post() is left out: ") && said[0].contains(expected), "{said:?}");
        assert!(said[0].contains("script.js:4:"), "{said:?}");
        assert!(file.text.contains(expected), "{}", file.text);
        let steps: Vec<_> = plan.journeys[0].steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(steps, ["get-behind"]);
    }
}
