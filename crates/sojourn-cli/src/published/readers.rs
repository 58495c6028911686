//! What reads a block of the guide. A block that is part of a file is made whole first: what it
//! lacks is put behind it, so that lines and columns stay.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use sojourn_mock::{RunFiles, TlsIdentity, read_mock};
use sojourn_plan::{Overrides, Plan};
use sojourn_report::render::Template;
use sojourn_session::nfr::Requirements;

use super::{
    blocks::{Block, blocks, page},
    whole::whole_journey_file,
};
use crate::{
    connectors::registry,
    files::{PlanFolder, read_text},
    shelf::Shelf,
};

/// Files that examples name.
const FILES: [(&str, &str); 3] = [
    ("users.csv", "id,name,age\n1,Ann,30\n2,Bob,41\n"),
    ("stations.csv", "id,name\n7,seven\n"),
    ("instants.txt", "0\n0.5\n2\n"),
];
/// The one that is looked for where the program runs, not beside the file that names it.
const AUTHORITY: &str = "ca.pem";

/// A folder with the files that examples name.
pub(super) struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in FILES {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let identity = TlsIdentity::self_signed(&[]).unwrap();
        let certificate = identity.certificate_pem().unwrap();
        std::fs::write(folder.path().join(AUTHORITY), certificate).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn files(&self) -> PlanFolder<'static> {
        static HERE: Shelf = Shelf::Here;
        PlanFolder { folder: self.folder.path().to_owned(), shelf: &HERE }
    }

    /// A file with this text.
    #[cfg(feature = "script")]
    fn write(&self, block: &Block, text: &str, ending: &str) -> PathBuf {
        let page = Path::new(&block.page).file_stem().unwrap().display();
        let path = self.path(&format!("{page}-{}.{ending}", block.line));
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// Values for the variables of a text that have no default: those a user has to set.
fn variables(text: &str) -> Overrides {
    let names = text.split("${").skip(1).filter_map(|rest| rest.split('}').next());
    let unset = names.filter(|name| !name.contains(":-"));
    let environment = unset.map(|name| (name.to_owned(), "given".to_owned())).collect();
    Overrides { environment, ..Overrides::default() }
}

/// Top-level words of journey files.
pub(super) fn journey_sections() -> Vec<String> {
    let schema = sojourn_plan::schema();
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

/// A journey file: read as for a run, with a tap made for each of its channels. Nothing is
/// connected.
pub(super) fn journey_file(desk: &Desk, block: &Block) -> Result<(), String> {
    let text = block.text.replace(AUTHORITY, &desk.path(AUTHORITY).display().to_string());
    let whole = whole_journey_file(&text)?;
    let plan = read_text(&block.place(), &whole, desk.files().folder, &variables(&text))
        .map_err(|error| error.to_string())?;
    let is_whole = whole == text;
    if is_whole && !plan.warnings.is_empty() {
        return Err(format!("warnings: {}", plan.warnings.join("\n")));
    }
    make_taps(&plan)
}

/// Makes the taps that this build has connectors for, but for those of SQS: their keys and region
/// may be the environment's.
fn make_taps(plan: &Plan) -> Result<(), String> {
    let registry = registry();
    let is_built =
        |feature: &str| feature != "sqs" && registry.features().any(|known| known == feature);
    let known = plan.channels.iter().filter(|channel| is_built(channel.connector.word()));
    let refused = known.filter_map(|channel| registry.open(channel).err());
    let refused: Vec<_> = refused.map(|error| format!("{error}")).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused.join("\n")) }
}

/// A mock file, which has no warning.
pub(super) fn mock(desk: &Desk, block: &Block) -> Result<(), String> {
    let runs = RunFiles::in_folder(desk.folder.path());
    let overrides = variables(&block.text);
    let book = read_mock(&block.place(), &block.text, &desk.files(), &runs, &overrides)
        .map_err(|errors| errors.to_string())?;
    if book.warnings.is_empty() { Ok(()) } else { Err(book.warnings.join("\n")) }
}

/// A file of requirements.
pub(super) fn requirements(_: &Desk, block: &Block) -> Result<(), String> {
    let read = Requirements::read(&block.place(), &block.text);
    read.map(drop).map_err(|errors| errors.to_string())
}

/// A template of a report. What it makes of a run is for the reports' own tests.
pub(super) fn template(_: &Desk, block: &Block) -> Result<(), String> {
    let read = Template::new(&block.place(), block.text.clone(), Path::new("report.txt"));
    read.map(drop).map_err(|error| error.to_string())
}

/// Objects by their common part; their own is the cluster's to read.
pub(super) fn kubernetes_object(_: &Desk, block: &Block) -> Result<(), String> {
    let object = serde_saphyr::from_str::<Value>(&block.text).map_err(|error| error.to_string())?;
    for part in ["apiVersion", "kind", "metadata", "spec"] {
        if object[part].is_null() {
            return Err(format!("it has no `{part}`"));
        }
    }
    Ok(())
}

/// A kustomization: its patches are of the kind that they are for, and change pods.
pub(super) fn kustomization(_: &Desk, block: &Block) -> Result<(), String> {
    let read = |text: &str| serde_saphyr::from_str::<Value>(text).map_err(|it| it.to_string());
    let whole = read(&block.text)?;
    if whole["kind"] != "Kustomization" || !whole["resources"][0].is_string() {
        return Err("it has no `kind: Kustomization`, or no `resources`".to_owned());
    }
    let patches = whole["patches"].as_array().map_or(&[][..], Vec::as_slice);
    for patch in patches {
        let text = patch["patch"].as_str().ok_or("a patch has no text")?;
        let object = read(text)?;
        if object["kind"] != patch["target"]["kind"] || object["metadata"]["name"].is_null() {
            return Err(format!("a patch is of another kind than its target, or of none: {text}"));
        }
        if !object["spec"]["template"].is_object() {
            return Err(format!("a patch does not change pods: {text}"));
        }
    }
    if patches.is_empty() { Err("it has no patches".to_owned()) } else { Ok(()) }
}

/// A file of another program's: YAML, at least.
pub(super) fn foreign_yaml(_: &Desk, block: &Block) -> Result<(), String> {
    let read = serde_saphyr::from_str::<Value>(&block.text);
    read.map(drop).map_err(|error| error.to_string())
}

/// JSON values, one or one a line.
pub(super) fn json(_: &Desk, block: &Block) -> Result<(), String> {
    let values: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_str(&block.text).into_iter().collect();
    match values {
        Ok(values) if values.is_empty() => Err("no value".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// A shell's commands: that they are ones. What `sojourn` has to say of its own is another test's.
pub(super) fn shell(_: &Desk, block: &Block) -> Result<(), String> {
    checked(Command::new("sh").arg("-n"), &block.text)
}

/// Python: that it can be compiled.
pub(super) fn python(_: &Desk, block: &Block) -> Result<(), String> {
    let parse = "import ast, sys; ast.parse(sys.stdin.read())";
    checked(Command::new("python3").args(["-c", parse]), &block.text)
}

/// What a program says that looks at a text.
fn checked(program: &mut Command, text: &str) -> Result<(), String> {
    let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|error| format!("{program:?}: {error}"))?;
    // It may have seen enough before the end, and says why.
    let _unread = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(said.into_owned()) }
}

/// A text, and after it each of these lines whose mark it lacks.
#[cfg(feature = "script")]
fn with_missing(text: &str, lines: &[(&[&str], &str)]) -> String {
    let is_missing = |marks: &[&str]| !marks.iter().any(|mark| text.contains(mark));
    let missing = lines.iter().filter(|(marks, _)| is_missing(marks));
    missing.fold(text.to_owned(), |whole, (_, line)| whole + *line + "\n")
}

/// A session script: evaluated with its files and compiled, as for a run with `--strict`.
#[cfg(feature = "script")]
pub(super) fn session_script(desk: &Desk, block: &Block) -> Result<(), String> {
    use sojourn_session::{Budget, Channels, Data, Defines, Program, evaluate_with};

    let whole = with_missing(
        &block.text,
        &[
            (&["setTarget", "addTarget"], "definition.setTarget(\"http://127.0.0.1:9000\");"),
            (&["ArrivalPhase"], "definition.setArrivalPhases([{ duration: 1, rate: 1 }]);"),
            (
                &["definition.session("],
                "definition.session(\"a\", (session) => session.get(\"/\"));",
            ),
        ],
    );
    let path = desk.write(block, &whole, &block.language);
    let sources = sojourn_script::Sources::default();
    let definition = evaluate_with(&path, sources, Budget::default(), &Defines::default())
        .map_err(|errors| errors.to_string())?;
    let warnings: Vec<_> = definition.warnings.iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        return Err(warnings.join("\n"));
    }
    let compiled = Data::load(&definition, &desk.files()).and_then(|data| {
        Channels::load(&definition, &desk.files())?;
        Program::compile(&definition, &data)
    });
    compiled.map(drop).map_err(|errors| errors.to_string())
}

/// A k6 script: everything it uses is there, and its top level and its options are in order.
#[cfg(feature = "script")]
pub(super) fn k6_script(desk: &Desk, block: &Block) -> Result<(), String> {
    let whole =
        with_missing(&block.text, &[(&["export default"], "export default function () {}")]);
    let path = desk.write(block, &whole, &block.language);
    for command in ["check", "inspect"] {
        let words = ["sojourn", "k6", command].map(Into::into).into_iter();
        let words = words.chain([path.clone().into_os_string()]).collect();
        let command = crate::parse(words).map_err(|error| error.to_string())?;
        match crate::commands::dispatch(command) {
            Ok(0) => {}
            Ok(code) => return Err(format!("exit code {code}; above it says why")),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// Without an engine scripts are not read.
#[cfg(not(feature = "script"))]
pub(super) fn session_script(_: &Desk, _: &Block) -> Result<(), String> {
    Ok(())
}

/// The same.
#[cfg(not(feature = "script"))]
pub(super) fn k6_script(_: &Desk, _: &Block) -> Result<(), String> {
    Ok(())
}

#[test]
fn the_error_that_journey_files_show_is_the_one_that_is_said() {
    let name = "docs/journey-files.md";
    let found = blocks(name, &page(name));
    let (file, shown) = (&found[0], &found[1]);
    assert!(shown.text.starts_with("error: payments.yaml:"), "{}", shown.text);
    let mistaken = file.text.replacen("match:", "matchh:", 1);
    let desk = Desk::new();
    let folder = desk.files().folder;
    let error = read_text("payments.yaml", &mistaken, folder, &Overrides::default()).unwrap_err();
    assert_eq!(error.to_string().trim_end(), shown.text.trim_end());
}
