//! `sojourn k6 types`: declarations for editors.

use std::path::{Path, PathBuf};

use sojourn_vu::TYPES;

use crate::errors::UsageError;

/// Write declarations of all modules, for editors and TypeScript
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn k6 types                          writes the folder types, says what to do with it
  sojourn k6 types --force src/types        overwrites what another version has written")]
pub(crate) struct Types {
    /// The folder they go to
    #[arg(default_value = "types")]
    folder: PathBuf,
    /// Overwrite files that are there and differ
    #[arg(short, long)]
    force: bool,
}

/// Writes them: all, or none where one is somebody else's.
pub(super) fn run(command: &Types) -> Result<u8, UsageError> {
    let folder = &command.folder;
    if !command.force {
        let differs = |path: &Path, text: &str| {
            std::fs::read(path).is_ok_and(|there| there != text.as_bytes())
        };
        let other = TYPES.iter().find(|(name, text)| differs(&folder.join(name), text));
        if let Some((name, _)) = other {
            return Err(UsageError::new(
                format!("{} is there already, and another", folder.join(name).display()),
                "--force overwrites it, or name another folder",
            ));
        }
    }
    for (name, text) in TYPES {
        let path = folder.join(name);
        write(&path, text).map_err(|error| {
            let told = format!("{}: {error}", path.display());
            UsageError::new(told, "name a folder that can be written")
        })?;
    }
    let shown = folder.display();
    println!("{} files are in {shown}. tsconfig.json finds them by\n", TYPES.len());
    println!("{}", configuration(&shown.to_string()));
    Ok(0)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

/// What `tsconfig.json` needs for declarations in a folder.
fn configuration(folder: &str) -> String {
    let start = if folder.starts_with(['/', '.']) { "" } else { "./" };
    let at = |rest: &str| serde_json::Value::from(format!("{start}{folder}/{rest}"));
    format!(
        r#"{{
  "compilerOptions": {{
    "target": "ES2022", "module": "ESNext", "moduleResolution": "bundler",
    "lib": ["ES2023"], "types": [], "strict": true, "noEmit": true,
    "paths": {{ "k6": [{}], "k6/*": [{}], "sojourn": [{}] }}
  }},
  "include": ["*.ts", "*.js", {}]
}}"#,
        at("k6.d.ts"),
        at("k6/*.d.ts"),
        at("sojourn.d.ts"),
        at("*.d.ts"),
    )
}
