//! A session script and its files, read and compiled.

use std::io::Read;
use std::path::{Path, PathBuf};

use sojourn_plan::Files;
use sojourn_script::Sources;
use sojourn_session::{Budget, Channels, Data, Defines, Definition, Offer, Program, evaluate_with};

use crate::errors::UsageError;

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
pub(crate) struct ScriptFolder(PathBuf);

impl ScriptFolder {
    /// The folder of this script.
    pub(crate) fn of(script: &Path) -> Self {
        Self(script.parent().map_or_else(PathBuf::new, Path::to_path_buf))
    }
}

impl Files for ScriptFolder {
    fn read(&self, path: &Path) -> std::io::Result<String> {
        std::fs::read_to_string(self.0.join(path))
    }

    fn read_bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path))
    }

    fn open(&self, path: &Path) -> std::io::Result<Box<dyn Read>> {
        Ok(Box::new(std::fs::File::open(self.0.join(path))?))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl ScriptFlags {
    /// Reads the script and those of its files that are not offered; with `--strict`, what is
    /// probably a slip is an error.
    pub(super) fn read(&self, offer: &Offer) -> Result<Script, UsageError> {
        let path = &self.script;
        let text = text_of(path)?;
        let definition = self.definition()?;
        let folder = ScriptFolder::of(path);
        let data = Data::load_or_take(&definition, &folder, offer)?;
        let channels = Channels::load(&definition, &folder)?;
        let program = Program::compile(&definition, &data)?;
        let name = path.file_stem().map_or_else(String::new, |it| it.to_string_lossy().into());
        Ok(Script { name, definition, program, channels, text })
    }

    /// What the script declares, without its files.
    pub(super) fn definition(&self) -> Result<Definition, UsageError> {
        text_of(&self.script)?;
        let defines = Defines::parse(&self.define).map_err(|error| {
            UsageError::new(format!("--define: {error}"), "such as --define env=staging")
        })?;
        let definition =
            evaluate_with(&self.script, Sources::default(), Budget::default(), &defines)?;
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

fn text_of(path: &Path) -> Result<String, UsageError> {
    std::fs::read_to_string(path).map_err(|error| {
        UsageError::unreadable(path, &error, "docs/session-dsl.md shows a first session script")
    })
}
