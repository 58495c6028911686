//! The project's own Rust and Markdown files.

use std::path::Path;

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every `.rs` and `.md` file below `root`, in order of path; hidden folders and build products are
/// left out.
pub(crate) fn read(root: &Path) -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    visit(root, root, &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn visit(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), String> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(explain)? {
        let entry = entry.map_err(explain)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let kind = entry.file_type().map_err(explain)?;
        if kind.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                visit(root, &path, files)?;
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            files.push(File { path: relative.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(())
}
