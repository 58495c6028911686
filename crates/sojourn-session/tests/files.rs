//! Files on the disk, small and large, that change under whoever uses them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sojourn_plan::Files;
use sojourn_session::{Data, Offer, Program};

use crate::util::{Story, defined, play, script};

/// Files of a folder.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(self.0.join(path))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(self.0.join(path))?))
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

const STEPS: &str = "
    const row = session.ds.pickFrom(session.ds.loadStructured('rows.csv'));
    session.forEver((s) => {
      s.post('/', { payload_from_file: s.ds.getRawFile('body.bin') });
      s.log(row.get('id') + ' ' + row.get('name'));
    });";

/// So many rows whose cells show whether they belong together.
fn rows(count: usize, word: &str) -> String {
    let rows: String = (0..count).map(|row| format!("{row},{word} {row} of them all\n")).collect();
    format!("id,name\n{rows}")
}

/// What one of the clients told in three turns.
fn told(program: &Program, client: u64) -> Story {
    play(program, 0, client, 6, |_| None)
}

#[test]
fn what_happens_to_files_under_a_run_changes_nothing() {
    for count in [3, 50_000] {
        let folder = tempfile::tempdir().unwrap();
        let [table, body] = ["rows.csv", "body.bin"].map(|name| folder.path().join(name));
        std::fs::write(&table, rows(count, "old")).unwrap();
        std::fs::write(&body, "old ".repeat(count * 8)).unwrap();
        let definition = defined(&script(STEPS)).unwrap();
        let data = Data::load(&definition, &Folder(folder.path().to_owned())).unwrap();
        let program = Program::compile(&definition, &data).unwrap();
        let before: Vec<_> = (0..8).map(|client| told(&program, client).lines).collect();
        assert!(before.iter().flatten().any(|line| line.contains("old")), "{before:?}");
        let same = |what: &str| {
            let now = (0..8).map(|client| told(&program, client).lines);
            assert!(now.eq(before.iter().cloned()), "{count} rows, {what}");
        };
        for file in [&table, &body] {
            // In its place, the same length: the same inode, as a mapping would see it.
            let length = std::fs::metadata(file).unwrap().len() as usize;
            std::fs::write(file, "x".repeat(length)).unwrap();
        }
        same("overwritten");
        for file in [&table, &body] {
            File::options().write(true).open(file).unwrap().set_len(0).unwrap();
        }
        same("cut");
        for file in [&table, &body] {
            std::fs::remove_file(file).unwrap();
        }
        same("removed");
    }
}

#[test]
fn what_is_offered_needs_no_file_and_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [table, body] = ["rows.csv", "body.bin"].map(|name| folder.path().join(name));
    std::fs::write(&table, rows(50_000, "much")).unwrap();
    std::fs::write(&body, "much".repeat(400_000)).unwrap();
    let (definition, files) = (defined(&script(STEPS)).unwrap(), Folder(folder.path().to_owned()));
    let load = |offer: &Offer| {
        let data = Data::load_or_take(&definition, &files, offer)?;
        Program::compile(&definition, &data)
    };
    let offering = load(&Offer::default()).unwrap();
    let offer = offering.offer();
    std::fs::remove_file(&table).unwrap();
    std::fs::remove_file(&body).unwrap();
    let taking = load(&offer).unwrap();
    assert_eq!(format!("{taking:?}"), format!("{offering:?}"));
    assert_eq!(told(&taking, 7).lines, told(&offering, 7).lines);
    // Where nobody offers it any more, it is read, and an error if it is not there.
    drop((taking, offering));
    let gone = load(&offer).unwrap_err().to_string();
    assert!(gone.contains("the file `rows.csv`: No such file"), "{gone}");
}

/// A script that was changed meanwhile, to another file or to another way of reading it, is not given
/// what was offered for the first.
#[test]
fn what_is_offered_is_not_taken_for_another_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.csv"), rows(50_000, "old")).unwrap();
    std::fs::write(folder.path().join("others.csv"), rows(50_000, "other")).unwrap();
    std::fs::write(folder.path().join("body.bin"), "much".repeat(400_000)).unwrap();
    let files = Folder(folder.path().to_owned());
    let load = |steps: &str, offer: &Offer| {
        let definition = defined(&script(steps)).unwrap();
        let data = Data::load_or_take(&definition, &files, offer).unwrap();
        Program::compile(&definition, &data).unwrap()
    };
    let offering = load(STEPS, &Offer::default());
    let offer = offering.offer();
    let other = load(&STEPS.replace("rows.csv", "others.csv"), &offer);
    assert_ne!(format!("{other:?}"), format!("{offering:?}"));
    let lines = told(&other, 7).lines;
    assert!(lines.iter().any(|line| line.contains(" other ")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains(" old ")), "{lines:?}");
    let alike = STEPS.replace("'rows.csv'", "'rows.csv', { delimiter: ';' }");
    let otherwise = defined(&script(&alike)).unwrap();
    let data = Data::load_or_take(&otherwise, &files, &offer).unwrap();
    // Without commas between fields there is no column of that name.
    assert!(Program::compile(&otherwise, &data).is_err());
}

#[test]
fn a_folder_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("rows.csv")).unwrap();
    std::fs::write(folder.path().join("body.bin"), "").unwrap();
    let definition = defined(&script(STEPS)).unwrap();
    let error = Data::load(&definition, &Folder(folder.path().to_owned())).unwrap_err();
    assert!(error.to_string().contains("`rows.csv`: Is a directory"), "{error}");
}
