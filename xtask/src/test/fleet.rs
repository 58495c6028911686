//! `cargo xtask test fleet`: what several machines make of one run; with `--cluster` on a real
//! Kubernetes, which takes root and, once, ten minutes more.

use super::Size;
use super::cluster::Cluster;
use super::suite::Suite;
use super::suites::EVERY_FEATURE;
use crate::phase::phase;
use crate::shell::root;

/// Runs the tests on a cluster too.
pub(super) const CLUSTER: &str = "--cluster";

/// The tests of the command line.
const COMMAND_LINE: &str = "crates/sojourn-cli, test tests";
/// Those that are about fleets, by the beginnings of their names.
const OF_FLEETS: [&str; 5] =
    ["generators", "fleet", "kubernetes", "k6_processes", "attack::several"];
/// The crates that are about nothing else.
const CRATES: [&str; 2] = ["crates/sojourn-fleet,", "crates/sojourn-kubernetes,"];
/// Those that need a cluster.
const ON_CLUSTER: &str = "on_cluster::";

/// Runs them.
pub(super) fn run(on_cluster: bool) -> Result<(), String> {
    phase("fleet", here)?;
    if on_cluster { phase("cluster", there) } else { Ok(()) }
}

/// Every feature, and that of the tests on a cluster.
pub(super) fn cluster_features() -> String {
    format!("{EVERY_FEATURE},sojourn-cli/cluster")
}

fn here() -> Result<(), String> {
    let suites = Suite::build(&["--workspace", "--features", EVERY_FEATURE])?;
    for suite in &suites {
        let names = match suite.is(COMMAND_LINE) {
            true => names(&OF_FLEETS),
            false if CRATES.iter().any(|it| suite.name.starts_with(it)) => Vec::new(),
            false => continue,
        };
        suite.run(&names, Size::Usual, false).1?;
    }
    Ok(())
}

fn there() -> Result<(), String> {
    let features = cluster_features();
    let suites = Suite::build(&["--workspace", "--features", &features])?;
    let suite = suites.iter().find(|suite| suite.is(COMMAND_LINE));
    let suite = suite.ok_or("cargo built no tests of the command line")?;
    let _cluster = Cluster::start(&root().join("target/release/sojourn"))?;
    let mut names = names(&[ON_CLUSTER]);
    // One cluster, two cores.
    names.push("--test-threads=1".to_owned());
    let (count, outcome) = suite.run(&names, Size::Usual, false);
    outcome?;
    if count.passed == 0 { Err("no test was run on the cluster".to_owned()) } else { Ok(()) }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
