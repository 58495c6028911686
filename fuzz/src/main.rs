//! The fuzzer: libFuzzer on the target that `SOJOURN_FUZZ_TARGET` names. `cargo xtask fuzz` builds
//! and runs it.

#![no_main]

use std::sync::OnceLock;

use fuzz::{Input, Target};
use libfuzzer_sys::fuzz_target;

fn chosen() -> Target {
    static CHOSEN: OnceLock<Target> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let name = std::env::var("SOJOURN_FUZZ_TARGET").unwrap_or_default();
        fuzz::target(&name).unwrap_or_else(|| panic!("SOJOURN_FUZZ_TARGET={name}: no such target"))
    })
}

fuzz_target!(|data: &[u8]| {
    (chosen().check)(Input::new(data));
});
