//! A session script and its files, read and compiled.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{Budget, Channels, Data, Defines, Definition, Offer, Program, evaluate_with};

use crate::{errors::UsageError, shelf::Shelf};

/// Which script, and how it is read.
#[derive(Debug, clap::Args)]
pub(super) struct ScriptFlags {
    /// Session script (JavaScript or TypeScript)
    #[arg(value_name = "FILE")]
    pub(super) script: PathBuf,
    /// What is probably a slip (an unused parameter, a placeholder that nothing fills) is an error
    #[arg(long)]
    strict: bool,
    /// Give a global identifier of the script a value, JSON or else text: `--define env=prod` is
    /// `env`, and `defines.env`; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    define: Vec<String>,
}

/// A script as it is run.
pub(super) struct Script {
    /// Its file's name without the ending.
    pub(super) name: String,
    pub(super) definition: Definition,
    pub(super) program: Program,
    pub(super) channels: Channels,
    pub(super) text: String,
}

/// Files relative to the script's own folder.
pub(crate) struct ScriptFolder<'a> {
    folder: PathBuf,
    shelf: &'a Shelf,
}

impl<'a> ScriptFolder<'a> {
    /// The folder of this script.
    pub(crate) fn of(script: &Path, shelf: &'a Shelf) -> Self {
        Self { folder: script.parent().map_or_else(PathBuf::new, Path::to_path_buf), shelf }
    }
}

impl Files for ScriptFolder<'_> {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.shelf.read_text(&self.folder.join(path))
    }

    fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.shelf.read(&self.folder.join(path))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.shelf.open(&self.folder.join(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.shelf.variable(name)
    }
}

impl ScriptFlags {
    /// The values of the script's identifiers, as they were given.
    pub(super) fn defines(&self) -> impl Iterator<Item = &String> {
        self.define.iter()
    }

    /// Reads the script and those of its files that are not offered; with `--strict`, what is
    /// probably a slip is an error.
    pub(super) fn read(&self, offer: &Offer, shelf: &Shelf) -> Result<Script, UsageError> {
        let path = &self.script;
        let text = text_of(path, shelf)?;
        let entry_text = shelf.is_sent().then(|| text.clone());
        let definition = self.definition_from(Sources { entry_text, ..Sources::default() })?;
        let folder = ScriptFolder::of(path, shelf);
        let data = Data::load_or_take(&definition, &folder, offer)?;
        let channels = Channels::load(&definition, &folder)?;
        let program = Program::compile(&definition, &data)?;
        let name = path.file_stem().map_or_else(String::new, |it| it.to_string_lossy().into());
        Ok(Script { name, definition, program, channels, text })
    }

    /// What the script declares, without its files.
    pub(super) fn definition(&self) -> Result<Definition, UsageError> {
        text_of(&self.script, &Shelf::Here)?;
        self.definition_from(Sources::default())
    }

    fn definition_from(&self, sources: Sources) -> Result<Definition, UsageError> {
        let defines = Defines::parse(&self.define).map_err(|error| {
            UsageError::new(format!("--define: {error}"), "such as --define env=staging")
        })?;
        let definition = evaluate_with(&self.script, sources, Budget::default(), &defines)?;
        for warning in &definition.warnings {
            eprintln!("{}{warning}", if self.strict { "" } else { "warning: " });
        }
        if self.strict && !definition.warnings.is_empty() {
            let count = definition.warnings.len();
            return Err(UsageError::new(
                format!("{count} warnings, which --strict makes errors"),
                "mend them, or leave --strict out",
            ));
        }
        Ok(definition)
    }
}

fn text_of(path: &Path, shelf: &Shelf) -> Result<String, UsageError> {
    shelf.read_text(path).map_err(|error| {
        UsageError::unreadable(path, &error, "docs/session-dsl.md shows a first session script")
    })
}
