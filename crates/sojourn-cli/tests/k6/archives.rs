//! Archives: what k6 has packed is run, and what is packed here is run without its files.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Made by k6 2.2.0, of a script that is nowhere on this machine.
const OF_K6: &str = "../sojourn-k6/tests/archive/k6.tar";

/// Exit code, and the texts of the log.
fn run(arguments: &[&str]) -> (i32, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
    command.args(["k6", "run", "-q", "--log-format", "json", "--summary-mode", "disabled"]);
    let output = command.args(arguments).output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let texts = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let texts = texts.map(|line| line["msg"].as_str().unwrap_or_default().to_owned());
    (output.status.code().unwrap_or(-1), texts.collect())
}

#[test]
fn an_archive_of_k6_is_run_with_its_options_and_variables() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(OF_K6);
    let archive = archive.to_str().unwrap();
    assert_eq!(run(&[archive]), (0, vec!["42 text b".to_owned(); 2]));
    assert_eq!(run(&["-i", "3", "-e", "A=c", archive]), (0, vec!["42 text c".to_owned(); 3]));
}

#[test]
fn an_archive_needs_nothing_but_itself() {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("sources");
    std::fs::create_dir(&sources).unwrap();
    let write = |name: &str, text: &str| std::fs::write(sources.join(name), text).unwrap();
    write("part.ts", "export const answer: number = 42;");
    write("old.js", "module.exports = { name: 'old' };");
    write("data.csv", "a,b\n1,2\n");
    write(
        "main.js",
        "import { open as openFile } from 'k6/experimental/fs';
         import { answer } from './part';
         import old from './old.js';
         const text = open('data.csv');
         const file = await openFile('./data.csv');
         export const options = { iterations: 2, tags: { own: 'tag' } };
         export default async function () {
           const buffer = new Uint8Array(64);
           const read = await file.read(buffer);
           console.log(answer, old.name, text.length, read, __ENV.A);
         }",
    );
    let archive = folder.path().join("made.tar");
    let archive = archive.to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
    command.args(["k6", "archive", "-e", "A=b", "-O", archive, "main.js"]).current_dir(&sources);
    assert!(command.status().unwrap().success());
    std::fs::remove_dir_all(&sources).unwrap();
    // The second iteration of a user is at the file's end.
    assert_eq!(run(&["-u", "2", "-i", "2", archive]).0, 0);
    let (code, log) = run(&[archive]);
    assert_eq!((code, log[0].as_str()), (0, "42 old 8 8 b"), "{log:?}");
}

#[test]
fn what_is_no_archive_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.tar");
    let whole = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(OF_K6)).unwrap();
    std::fs::write(&path, &whole[..700]).unwrap();
    let (code, log) = run(&[path.to_str().unwrap()]);
    assert_eq!(code, 104, "{log:?}");
    assert!(log[0].contains("broken.tar"), "{log:?}");
}
