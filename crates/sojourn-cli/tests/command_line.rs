//! What comes with the command line: manual pages, completions, and the page of the guide that
//! names every command.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use sojourn_testkit::{sojourn, temp_dir};

fn printed(arguments: &[&str]) -> String {
    let output = sojourn(arguments).run().unwrap();
    assert_eq!(output.code, Some(0), "{arguments:?}: {output}");
    output.stdout
}

/// The commands that `--help` lists, under these words.
fn commands(of: &[&str]) -> Vec<String> {
    let help = printed(&[of, &["--help"]].concat());
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, listed)| listed);
    let lines = listed.lines().take_while(|line| !line.is_empty());
    // What goes on from the line above stands further in.
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Where a program of the machine's lies.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// What a program of the machine's says of a file; none without it, which is said.
fn said_of(program: &str, arguments: &[&str], file: &Path) -> Option<String> {
    let Some(path) = find(program) else {
        tell(&format!("{} is not looked at: no {program} on the PATH", file.display()));
        return None;
    };
    let output = Command::new(path).args(arguments).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {}: {said}", file.display());
    Some(said)
}

#[allow(clippy::print_stderr, reason = "what a test did not do")]
fn tell(words: &str) {
    eprintln!("{words}");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = temp_dir().unwrap();
    let output = sojourn(["man", "--output", "man1"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let all = commands(&[]);
    assert!(all.len() > 20, "{all:?}");
    let mut expected: BTreeSet<String> =
        all.iter().map(|name| format!("sojourn-{name}.1")).collect();
    expected.insert("sojourn.1".to_owned());
    for name in &all {
        let within = commands(&[name]).into_iter();
        expected.extend(within.map(|command| format!("sojourn-{name}-{command}.1")));
    }
    let pages = std::fs::read_dir(folder.path().join("man1")).unwrap().flatten();
    let pages: BTreeSet<String> =
        pages.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let missing: Vec<_> = expected.difference(&pages).collect();
    assert!(missing.is_empty(), "{missing:?} of {pages:?}");
    for page in &pages {
        let path = folder.path().join("man1").join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let name = page.trim_end_matches(".1");
        assert!(text.contains(&format!(".TH {name} 1")), "{page}: {text}");
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(text.contains(section), "{page} has no {section}");
        }
        // Complaints of the formatter itself.
        if let Some(said) = said_of("groff", &["-Kutf8", "-man", "-Tutf8", "-wall", "-z"], &path) {
            assert_eq!(said, "", "{page}");
        }
    }
    // What is printed is the page of the whole.
    let whole = std::fs::read_to_string(folder.path().join("man1/sojourn.1")).unwrap();
    let first = |text: &str| text.lines().find(|line| line.starts_with(".TH")).map(str::to_owned);
    assert_eq!(first(&printed(&["man"])), first(&whole));
}

#[test]
fn every_shell_has_completions_that_it_can_read() {
    let folder = temp_dir().unwrap();
    let all = commands(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = printed(&["completions", shell]);
        let missing: Vec<_> = all.iter().filter(|name| !text.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "{shell} knows no {missing:?}");
        assert!(text.contains("--report"), "{shell} knows no flags");
        let file = folder.path().join(shell);
        std::fs::write(&file, text).unwrap();
        // Those that can be asked whether they read it, without doing it.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert_ne!(said_of(shell, &["-n"], &file).as_deref().map(str::is_empty), Some(false));
        }
    }
    assert!(find("bash").is_some(), "no bash, which every machine has that these tests run on");
}

#[test]
fn bash_completes_what_the_program_knows() {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("completions"), printed(&["completions", "bash"])).unwrap();
    let completed = |line: &str| -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let script = format!(
            ". ./completions; COMP_WORDS=({line}); COMP_CWORD={}; _sojourn sojourn '{}' '{}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let output =
            Command::new("bash").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(completed("sojourn sea"), ["search"]);
    assert!(completed("sojourn run --repo").contains(&"--report".to_owned()));
    assert_eq!(completed("sojourn completions ela"), Vec::<String>::new());
    assert_eq!(completed("sojourn completions elv"), ["elvish"]);
}

#[test]
fn the_guide_names_every_command() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let named: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`'))
        .collect();
    // One that is refused is not listed by `--help`.
    let all = commands(&[]).into_iter().chain(["dump".to_owned()]);
    let missing: Vec<_> = all.filter(|name| !named.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let refused = sojourn(["dump"]).run().unwrap();
    assert!(refused.code != Some(0) && refused.stderr.contains("encode command"), "{refused}");
}
