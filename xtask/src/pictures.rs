//! `cargo xtask pictures`: the pictures of the README and the guide, by the test that makes them
//! anyway, kept this time.

use crate::{
    Failure, services,
    shell::{cargo, root, run as run_command},
    test::EVERY_FEATURE,
};

/// Makes all of them anew.
pub(crate) fn run() -> Result<(), Failure> {
    // Among them the browser's driver.
    services::ensure()?;
    let folder = root().join("docs/pictures");
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    // As `test` builds them: nothing is compiled twice.
    let mut test = cargo(&["test", "--release", "--workspace", "--features", EVERY_FEATURE]);
    test.args(["--test", "tests", "pictures::"]).env("SOJOURN_PICTURES", &folder);
    Ok(run_command(&mut test)?)
}
