//! Every target on its seeds: what was found once stays mended.

#![allow(clippy::unwrap_used, reason = "tests")]

mod broker_seeds;
mod run_file_seed;

use std::fs;
use std::path::Path;

use fuzz::{Input, TARGETS};

#[test]
fn every_target_keeps_its_promises_on_its_seeds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for target in TARGETS {
        let folder = corpus.join(target.name);
        let mut count = 0;
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
            let path = entry.unwrap().path();
            // Shown only if it panics.
            println!("{}", path.display());
            let data = fs::read(&path).unwrap();
            // As it is, cut short, and cut in other portions.
            for length in [data.len(), data.len() / 2, data.len() * 9 / 10] {
                (target.check)(Input::new(&data[..length]));
            }
            for cut in [0, 1, 6, 99, 150, 192, 250] {
                let mut data = data.clone();
                if let Some(byte) = data.get_mut(1) {
                    *byte = cut;
                }
                (target.check)(Input::new(&data));
            }
            count += 1;
        }
        assert!(count > 0, "{} has no seeds", target.name);
    }
}

#[test]
fn every_folder_of_seeds_has_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for entry in fs::read_dir(corpus).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(fuzz::target(&name).is_some(), "{name}");
    }
}
