//! From what an import says to the address of a module.

use std::path::Path;

use oxc_resolver::{ResolveOptions, Resolver as NodeResolver};
use url::Url;

/// Where `specifier`, imported by the module at `base`, is. Built-in names are not asked for here.
///
/// Relative and absolute paths and `file:` and `https:` addresses, as k6 has them; names of
/// packages are looked for in `node_modules`, as Node does. A path without a file there, which
/// `is_file` tells, may lack its ending.
pub(crate) fn resolve(
    base: &Url,
    specifier: &str,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<Url, String> {
    let is_path = ["./", "../", "/"].iter().any(|start| specifier.starts_with(start))
        || matches!(specifier, "." | "..");
    if is_path {
        let joined = base.join(specifier).map_err(|error| error.to_string())?;
        return Ok(existing(joined, is_file));
    }
    match Url::parse(specifier) {
        Ok(url) if url.scheme() == "file" => Ok(existing(url, is_file)),
        Ok(url) if url.scheme() == "https" => Ok(url),
        Ok(url) => Err(format!(
            "modules come from files and https addresses, not from \"{}:\"",
            url.scheme()
        )),
        Err(_) => package(base, specifier),
    }
}

/// The file itself, or the one with an ending that scripts leave out.
fn existing(url: Url, is_file: &dyn Fn(&Path) -> bool) -> Url {
    let Ok(path) = url.to_file_path() else { return url };
    if is_file(&path) {
        return url;
    }
    let with = |ending: &str| {
        let mut longer = path.clone().into_os_string();
        longer.push(ending);
        is_file(Path::new(&longer)).then(|| Url::from_file_path(&longer).ok()).flatten()
    };
    [".js", ".ts", ".mjs", ".cjs", "/index.js", "/index.ts"]
        .iter()
        .find_map(|ending| with(ending))
        .unwrap_or(url)
}

fn package(base: &Url, specifier: &str) -> Result<Url, String> {
    let unknown = || {
        format!(
            "there is no module \"{specifier}\": neither built in, nor in a node_modules folder; \
             files are imported by a path that begins with \"./\""
        )
    };
    let path = base.to_file_path().map_err(|()| unknown())?;
    let folder = path.parent().ok_or_else(unknown)?;
    let options = ResolveOptions {
        condition_names: vec!["import".into(), "module".into(), "default".into()],
        extensions: vec![".js".into(), ".mjs".into(), ".cjs".into(), ".ts".into(), ".json".into()],
        main_fields: vec!["module".into(), "main".into()],
        ..ResolveOptions::default()
    };
    let found = NodeResolver::new(options).resolve(folder, specifier).map_err(|_| unknown())?;
    Url::from_file_path(found.full_path()).map_err(|()| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path, content: &str) {
        std::fs::create_dir_all(path.parent().expect("folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    #[test]
    fn paths_addresses_and_packages() {
        let folder = tempfile::tempdir().expect("folder");
        let root = folder.path().canonicalize().expect("path");
        touch(&root.join("lib/a.js"), "");
        touch(&root.join("node_modules/left/package.json"), r#"{"main": "dist/l.js"}"#);
        touch(&root.join("node_modules/left/dist/l.js"), "");
        let base = Url::from_file_path(root.join("main.js")).expect("url");
        let path = |specifier: &str| {
            resolve(&base, specifier, &Path::is_file).map(|url| url.to_file_path().expect("a file"))
        };
        assert_eq!(path("./lib/a.js"), Ok(root.join("lib/a.js")));
        assert_eq!(path("./lib/a"), Ok(root.join("lib/a.js")));
        assert_eq!(path("./lib/missing.js"), Ok(root.join("lib/missing.js")));
        assert_eq!(path("left"), Ok(root.join("node_modules/left/dist/l.js")));
        assert!(path("right").is_err_and(|error| error.contains("no module \"right\"")));
        assert!(path("http://a/b.js").is_err_and(|error| error.contains("http:")));
        let remote =
            resolve(&base, "https://a.example/x/b.js", &Path::is_file).expect("an address");
        assert_eq!(
            resolve(&remote, "../c.js", &Path::is_file).expect("beside").as_str(),
            "https://a.example/c.js"
        );
        assert!(resolve(&remote, "left", &Path::is_file).is_err());
    }
}
