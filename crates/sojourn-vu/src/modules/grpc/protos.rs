//! Services and their messages, from `.proto` files, descriptor sets or reflection.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use prost_reflect::{DescriptorPool, MessageDescriptor, MethodDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use sojourn_script::Bundle;

/// Most sets of descriptors that are kept.
const SETS_MAX: usize = 1_024;

/// Descriptors of all users: whoever loads the same has the same.
#[derive(Default)]
pub(crate) struct Protos(Mutex<HashMap<Vec<u8>, DescriptorPool>>);

impl Protos {
    /// What `key` stands for, made if it is not known.
    pub(in crate::modules) fn get(
        &self,
        key: Vec<u8>,
        make: impl FnOnce() -> Result<DescriptorPool, String>,
    ) -> Result<DescriptorPool, String> {
        // Held while it is made: all users of a test come at the same time for the same.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = known.get(&key) {
            return Ok(pool.clone());
        }
        let pool = make()?;
        if known.len() < SETS_MAX {
            known.insert(key, pool.clone());
        }
        Ok(pool)
    }
}

/// Compiles `files`, looked for in `paths`, which begin at `folder`.
pub(super) fn compile(
    bundle: &Arc<Bundle>,
    folder: &Path,
    paths: &[String],
    files: &[String],
) -> Result<DescriptorPool, String> {
    let mut roots: Vec<PathBuf> = paths.iter().map(|path| joined(folder, path)).collect();
    if roots.is_empty() {
        roots.push(folder.to_owned());
    }
    for file in files {
        let is_there = |root: &PathBuf| bundle.open(&joined(root, file)).is_ok();
        if !roots.iter().any(is_there) {
            let first = roots.first().map_or_else(PathBuf::new, |root| joined(root, file));
            return Err(format!(
                "could not resolve path \"{file}\": stat {}: no such file or directory",
                first.display()
            ));
        }
    }
    let mut resolver = ChainFileResolver::new();
    resolver.add(OfBundle { bundle: Arc::clone(bundle), roots });
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    compiler.open_files(files).map_err(|error| format!("{error:?}"))?;
    Ok(compiler.descriptor_pool())
}

/// Compiles one of these texts, which may import the others: by name.
#[cfg(feature = "kafka")]
pub(in crate::modules) fn compile_texts(
    texts: Vec<(String, String)>,
    main: &str,
) -> Result<DescriptorPool, String> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(OfTexts(texts));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    compiler.open_file(main).map_err(|error| format!("{error:?}"))?;
    whole(|| Ok(compiler.descriptor_pool()))
}

/// A path without `.` and `..`, as files are known by.
fn joined(root: &Path, path: &str) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Files as the script's bundle has them.
struct OfBundle {
    bundle: Arc<Bundle>,
    roots: Vec<PathBuf>,
}

impl FileResolver for OfBundle {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let open = |root: &PathBuf| self.bundle.open(&joined(root, name)).ok();
        let content = self.roots.iter().find_map(open);
        let content = content.ok_or_else(|| protox::Error::file_not_found(name))?;
        let source = std::str::from_utf8(&content).map_err(protox::Error::new)?;
        File::from_source(name, source)
    }
}

/// Files by name.
#[cfg(feature = "kafka")]
struct OfTexts(Vec<(String, String)>);

#[cfg(feature = "kafka")]
impl FileResolver for OfTexts {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let found = self.0.iter().find(|(own, _)| own == name);
        let (_, text) = found.ok_or_else(|| protox::Error::file_not_found(name))?;
        File::from_source(name, text)
    }
}

/// The descriptors of an encoded set.
pub(super) fn decode(set: &[u8]) -> Result<DescriptorPool, String> {
    whole(|| DescriptorPool::decode(set).map_err(|error| error.to_string()))
}

/// The descriptors of encoded files, in any order.
pub(super) fn of_files(files: &[Vec<u8>]) -> Result<DescriptorPool, String> {
    // A set is nothing but its files, each as field 1.
    let mut set = Vec::new();
    for file in files {
        set.push(10);
        let mut size = file.len();
        while size >= 0x80 {
            set.push(size as u8 | 0x80);
            size >>= 7;
        }
        set.push(size as u8);
        set.extend_from_slice(file);
    }
    decode(&set)
}

/// Descriptors that do not contradict themselves: over such, prost-reflect may panic.
fn whole(make: impl FnOnce() -> Result<DescriptorPool, String>) -> Result<DescriptorPool, String> {
    let contradicts = || "the descriptors contradict themselves".to_owned();
    let pool = catch_unwind(AssertUnwindSafe(make)).map_err(|_| contradicts())??;
    let has_both = |it: &MessageDescriptor| [1, 2].iter().all(|&n| it.get_field(n).is_some());
    let is_whole = |it: MessageDescriptor| !it.is_map_entry() || has_both(&it);
    if pool.all_messages().all(is_whole) { Ok(pool) } else { Err(contradicts()) }
}

/// The method of a path `/package.Service/Method`.
pub(super) fn method(pools: &[DescriptorPool], path: &str) -> Option<MethodDescriptor> {
    let (service, name) = path.strip_prefix('/')?.rsplit_once('/')?;
    let of_pool = |pool: &DescriptorPool| {
        let service = pool.get_service_by_name(service)?;
        service.methods().find(|method| method.name() == name)
    };
    // What was loaded last counts.
    pools.iter().rev().find_map(of_pool)
}
