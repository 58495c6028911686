//! Where servers that no package of the system brings lie: in the user's folder for caches.

use std::io;
use std::path::PathBuf;

/// The folder of a server's version.
///
/// # Errors
/// Neither `XDG_CACHE_HOME` nor `HOME` is set.
pub(crate) fn cached(name: &str, version: &str) -> io::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or_else(|| io::Error::other("neither XDG_CACHE_HOME nor HOME is set"))?;
    Ok(cache.join("sojourn-services").join(format!("{name}-{version}")))
}

/// What to say when it is not there.
pub(crate) fn missing(name: &str, version: &str, place: &std::path::Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "{name} {version} is not in {}: run `cargo xtask services install`",
            place.display()
        ),
    )
}
