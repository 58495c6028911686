//! A script and everything it imports, compiled once and shared by all engines.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use url::Url;

use crate::ScriptError;
use crate::names::Reading;
use crate::source_map::{self, SourceMap};

/// Gets the text of a remote module. The error is what went wrong, in words, without the address.
pub trait Fetch: Send + Sync {
    /// Fetches `https://…`.
    fn fetch(&self, url: &str) -> Result<String, String>;
}

/// Where modules come from that are no files.
#[derive(Clone, Default)]
pub struct Sources {
    /// Modules that are built in under an address: from URL to source.
    pub embedded: Option<fn(&str) -> Option<&'static str>>,
    /// Whatever else is remote; without it such imports fail.
    pub fetch: Option<Arc<dyn Fetch>>,
    /// Text of the entry that is not read from a file (standard input).
    pub entry_text: Option<String>,
    /// Content by address, of an archive: nothing is read from anywhere else then.
    pub archived: Option<Arc<BTreeMap<String, Vec<u8>>>>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sources").finish_non_exhaustive()
    }
}

/// See the crate's page. Open while the first engine collects; then [frozen](Self::freeze).
#[derive(Debug)]
pub struct Bundle {
    entry: Url,
    pub(crate) sources: Sources,
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    frozen: bool,
    modules: HashMap<String, Compiled>,
    /// Source maps that were read from files, by address.
    maps: HashMap<String, String>,
    /// By their keys.
    facades: HashMap<String, Compiled>,
    /// What modules say about names; while collecting only.
    readings: HashMap<String, Arc<Reading>>,
    /// From (importing module, what it says) to the address.
    resolved: HashMap<(String, String), String>,
    files: HashMap<PathBuf, Arc<[u8]>>,
}

/// A compiled module.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) bytecode: Arc<[u8]>,
    /// Where the source was translated: the way back.
    pub(crate) map: Option<Arc<SourceMap>>,
    /// Its default export is what `require` gives.
    pub(crate) is_commonjs: bool,
}

impl Bundle {
    /// The bundle of the script in this file; the file may be missing where `sources` has its text.
    /// Fails when there is no such file.
    pub fn new(entry: &Path, sources: Sources) -> Result<Arc<Self>, ScriptError> {
        let missing = |problem: &dyn std::fmt::Display| {
            ScriptError::load(format!("{}: {problem}", entry.display()))
        };
        let absolute = if sources.entry_text.is_some() || sources.archived.is_some() {
            std::path::absolute(entry).map_err(|error| missing(&error))?
        } else {
            entry.canonicalize().map_err(|error| missing(&error))?
        };
        let url = Url::from_file_path(&absolute).map_err(|()| missing(&"is no path of a file"))?;
        Ok(Arc::new(Self { entry: url, sources, inner: RwLock::default() }))
    }

    /// The entry's address.
    pub fn entry(&self) -> &Url {
        &self.entry
    }

    /// Ends collecting: from now on only what is known can be imported or opened.
    pub fn freeze(&self) {
        let mut inner = self.write();
        inner.frozen = true;
        inner.readings = HashMap::new();
    }

    /// The content of a file as `open` gives it: read once, then shared.
    pub fn open(&self, path: &Path) -> Result<Arc<[u8]>, String> {
        let known = self.read().files.get(path).cloned();
        if let Some(content) = known {
            return Ok(content);
        }
        if self.is_frozen() {
            return Err("files can be opened only if the first run of the script's top level \
                        opened them too"
                .to_owned());
        }
        let content: Arc<[u8]> = self.read_file(path)?.into();
        self.write().files.insert(path.to_owned(), Arc::clone(&content));
        Ok(content)
    }

    /// Whether all comes from an archive.
    pub fn is_archived(&self) -> bool {
        self.sources.archived.is_some()
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, String> {
        let Some(archived) = &self.sources.archived else {
            return std::fs::read(path).map_err(|error| error.to_string());
        };
        let address =
            Url::from_file_path(path).map_err(|()| "it is no path of a file".to_owned())?;
        let content = archived.get(address.as_str());
        content.cloned().ok_or_else(|| "it is not in the archive".to_owned())
    }

    /// Whether there is a file at this path, in the archive if there is one.
    pub(crate) fn is_file(&self, path: &Path) -> bool {
        match &self.sources.archived {
            None => path.is_file(),
            Some(archived) => Url::from_file_path(path)
                .is_ok_and(|address| archived.contains_key(address.as_str())),
        }
    }

    /// The text of a module.
    pub(crate) fn text(&self, url: &str) -> Result<String, String> {
        let sources = &self.sources;
        if let Some(archived) = &sources.archived {
            let content = archived.get(url).ok_or("it is not in the archive")?;
            let text = std::str::from_utf8(content).map_err(|_| "it is no text")?;
            return Ok(text.to_owned());
        }
        if let Some(text) = &sources.entry_text
            && url == self.entry.as_str()
        {
            return Ok(text.clone());
        }
        if let Some(text) = sources.embedded.and_then(|embedded| embedded(url)) {
            return Ok(text.to_owned());
        }
        let path = Url::parse(url).ok().and_then(|url| url.to_file_path().ok());
        match (path, &sources.fetch) {
            (Some(path), _) => std::fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display())),
            (None, Some(fetch)) => fetch.fetch(url),
            (None, None) => Err("remote modules are not fetched here".to_owned()),
        }
    }

    /// Everything that was imported and opened, by address, for an archive. Fails for what an
    /// archive can't carry: a package, which is found by its name.
    pub fn contents(&self) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let inner = self.read();
        let is_address =
            |specifier: &str| specifier.starts_with(['.', '/']) || Url::parse(specifier).is_ok();
        if let Some((_, name)) = inner.resolved.keys().find(|(_, name)| !is_address(name)) {
            return Err(format!("archives can't carry packages of node_modules: \"{name}\""));
        }
        let mut all = BTreeMap::new();
        for url in inner.modules.keys() {
            all.insert(url.clone(), self.text(url)?.into_bytes());
        }
        for (url, map) in &inner.maps {
            all.insert(url.clone(), map.clone().into_bytes());
        }
        for (path, content) in &inner.files {
            let address = Url::from_file_path(path);
            let address = address.map_err(|()| format!("{}: it is no path", path.display()))?;
            all.insert(address.into(), content.to_vec());
        }
        Ok(all)
    }

    /// Addresses of the modules collected, in their order.
    pub fn modules(&self) -> Vec<String> {
        let mut names: Vec<_> = self.read().modules.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// The files among them, the entry's apart.
    pub fn imported_files(&self) -> Vec<PathBuf> {
        let modules = self.modules().into_iter().filter(|address| address != self.entry.as_str());
        modules.filter_map(|address| Url::parse(&address).ok()?.to_file_path().ok()).collect()
    }

    /// Whether collecting has ended.
    pub fn is_frozen(&self) -> bool {
        self.read().frozen
    }

    /// The address of what the module at `base` calls `specifier`, if that was found before.
    pub(crate) fn resolved(&self, base: &str, specifier: &str) -> Option<String> {
        self.read().resolved.get(&(base.to_owned(), specifier.to_owned())).cloned()
    }

    pub(crate) fn add_resolved(&self, base: &str, specifier: &str, url: &str) {
        let key = (base.to_owned(), specifier.to_owned());
        self.write().resolved.insert(key, url.to_owned());
    }

    pub(crate) fn module(&self, url: &str) -> Option<Compiled> {
        self.read().modules.get(url).cloned()
    }

    /// The source map of the module at `base`, which calls it `named`.
    pub(crate) fn source_map(&self, base: &str, named: &str) -> Result<SourceMap, String> {
        let base = Url::parse(base).map_err(|error| error.to_string())?;
        if let Some(text) = source_map::inline(named) {
            return SourceMap::parse(&text?, &base);
        }
        let address = base.join(named).map_err(|error| error.to_string())?;
        if address.scheme() != "file" {
            return Err("maps are read from files only".to_owned());
        }
        let text = self.text(address.as_str())?;
        let map = SourceMap::parse(&text, &address)?;
        self.write().maps.insert(address.into(), text);
        Ok(map)
    }

    pub(crate) fn facade(&self, key: &str) -> Option<Compiled> {
        self.read().facades.get(key).cloned()
    }

    pub(crate) fn add_facade(&self, key: &str, facade: Compiled) {
        self.write().facades.insert(key.to_owned(), facade);
    }

    /// What the module at this address says about names.
    pub(crate) fn reading(&self, url: &str) -> Option<Arc<Reading>> {
        self.read().readings.get(url).cloned()
    }

    pub(crate) fn add_reading(&self, url: &str, reading: Reading) {
        self.write().readings.insert(url.to_owned(), Arc::new(reading));
    }

    pub(crate) fn add_module(&self, url: &str, module: Compiled) {
        self.write().modules.insert(url.to_owned(), module);
    }

    // A thread that panicked while it held the lock left maps that are whole: an insertion either
    // was made or not.
    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.inner.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
