//! Whatever the text, reading it ends without a panic and names a place in it.

use proptest::prelude::*;
use sojourn_plan::{Overrides, RenderContext, read};

use crate::published;
use crate::util::memory;

/// Pieces that files are made of, good and bad.
const PIECES: [&str; 32] = [
    "{{", "}}", "${", "}", "${TOKEN}", "$.", "body.", "[", "]", "{", ":", ": ", "\n", "\n  - ",
    "*a", "&a ", "<<: ", "!!str ", "|\n", "'", "\"", "#", "é", "\u{0}", "\t", "-1", "1e999",
    "99999d", "null", "uuid()", "int(9,1)", "{}",
];

#[derive(Clone, Debug)]
enum Change {
    Insert(prop::sample::Index, prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), at()).prop_map(|(to, piece)| Change::Insert(to, piece)),
        (at(), 1..30_usize).prop_map(|(from, count)| Change::Remove(from, count)),
        (at(), at(), 1..60_usize).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
    ]
}

fn apply(text: &str, changes: &[Change]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for change in changes {
        if chars.is_empty() {
            break;
        }
        match change {
            Change::Insert(to, piece) => {
                let to = to.index(chars.len());
                let piece = PIECES[piece.index(PIECES.len())];
                chars.splice(to..to, piece.chars());
            }
            Change::Remove(from, count) => {
                let from = from.index(chars.len());
                let end = (from + count).min(chars.len());
                chars.drain(from..end);
            }
            Change::Copy(from, to, count) => {
                let from = from.index(chars.len());
                let piece = chars[from..(from + count).min(chars.len())].to_vec();
                let to = to.index(chars.len());
                chars.splice(to..to, piece);
            }
        }
    }
    chars.into_iter().collect()
}

fn check(text: &str) -> Result<(), TestCaseError> {
    match read("plan.yaml", text, &memory(), &Overrides::default()) {
        Ok(plan) => {
            prop_assert!(!plan.text.contains("s3cret-t0ken"));
            let variables = vec![Some("v".into()); plan.variables.len()];
            let context = RenderContext {
                seed: plan.seed,
                k: u64::MAX,
                run_id: "run",
                key: "key",
                variables: &variables,
                own: &[],
                data: &plan.data,
            };
            let steps = plan.journeys.iter().flat_map(|journey| &journey.steps);
            for step in steps.chain(&plan.setup).chain(&plan.teardown) {
                let Some(http) = step.action.http() else { continue };
                let mut out = Vec::new();
                prop_assert!(http.path.render(&context, &mut out).is_ok());
                prop_assert!(out.starts_with(b"/"));
                prop_assert!(out.iter().all(|byte| (0x21..0x7f).contains(byte)));
            }
        }
        Err(errors) => {
            prop_assert!(!errors.0.is_empty());
            let lines = text.lines().count() + 1;
            for error in &errors.0 {
                prop_assert!(error.line >= 1 && error.column >= 1);
                let is_here = error.file == "plan.yaml";
                prop_assert!(!is_here || error.line <= lines, "{}", error);
                prop_assert!(
                    !error.to_string().to_lowercase().contains("s3cret-t0ken"),
                    "{}",
                    error
                );
                prop_assert!(error.message.len() < 1000, "{}", error);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_never_panic(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 0..6),
    ) {
        let files = published::files();
        let (_, text) = &files[file.index(files.len())];
        check(&apply(text, &changes))?;
    }

    #[test]
    fn arbitrary_text_never_panics(
        pieces in prop::collection::vec(
            prop_oneof![prop::sample::select(&PIECES[..]).prop_map(str::to_owned), ".{0,8}"],
            0..40,
        ),
    ) {
        check(&pieces.concat())?;
    }
}
