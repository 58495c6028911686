//! What a fresh machine lacks: rustup components and Debian packages. Each is named before it is
//! installed; nothing is installed that is there already.

use crate::services::without_starting;
use crate::shell::{cargo, command, find_on_path, run, succeeds};

/// A program that building or testing needs.
struct Tool {
    program: &'static str,
    package: &'static str,
    purpose: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool { program: "make", package: "build-essential", purpose: "librdkafka is built with it" },
    Tool { program: "c++", package: "build-essential", purpose: "librdkafka is built with it" },
    Tool { program: "pkg-config", package: "pkg-config", purpose: "OpenSSL is found with it" },
    Tool { program: "nginx", package: "nginx-light", purpose: "the HTTP client is tested on it" },
    Tool { program: "chromium", package: "chromium", purpose: "tests open the HTML report in it" },
    Tool { program: "node", package: "nodejs", purpose: "peers of the k6 scripts run in it" },
    Tool { program: "ip", package: "iproute2", purpose: "tests make networks of their own" },
    Tool {
        program: "openssl",
        package: "openssl",
        purpose: "the mock's certificates are read by it",
    },
];

/// Installs what is missing, or says what to install.
pub(crate) fn ensure() -> Result<(), String> {
    ensure_components()?;
    let missing: Vec<&Tool> =
        TOOLS.iter().filter(|tool| find_on_path(tool.program).is_none()).collect();
    if missing.is_empty() {
        return ensure_openssl();
    }
    for tool in &missing {
        eprintln!("  `{}` is missing ({})", tool.program, tool.purpose);
    }
    let mut packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    packages.dedup();
    install(&packages)?;
    ensure_openssl()
}

/// OpenSSL's headers are no program: Kafka with TLS is built with them.
fn ensure_openssl() -> Result<(), String> {
    if succeeds(&mut command("pkg-config", &["--exists", "openssl"])) {
        return Ok(());
    }
    eprintln!("  OpenSSL's headers are missing (Kafka with TLS is built with them)");
    install(&["libssl-dev"])
}

fn ensure_components() -> Result<(), String> {
    let missing: Vec<&str> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(subcommand, _)| !succeeds(&mut cargo(&[subcommand, "--version"])))
        .map(|(_, component)| component)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find_on_path("rustup").is_none() {
        return Err(format!(
            "`{}` is missing and there is no rustup to install it with; install it from where \
             your Rust comes from",
            missing.join("` and `")
        ));
    }
    let mut arguments = vec!["component", "add"];
    arguments.extend(missing);
    run(&mut command("rustup", &arguments))
}

/// Installs Debian packages, without starting what they bring, or says how to.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    let by_hand = format!("apt-get install {}", packages.join(" "));
    if find_on_path("apt-get").is_none() {
        return Err(format!(
            "no apt-get here; install by your system's means what Debian calls `{}`",
            packages.join("`, `")
        ));
    }
    if !is_root() {
        return Err(format!("not root, so run this first: sudo {by_hand}"));
    }
    // A fresh machine's package lists may be empty or old.
    run(&mut command("apt-get", &["update", "--quiet"]))?;
    // Somebody else may be installing just now.
    let mut arguments = vec!["-o", "DPkg::Lock::Timeout=300", "install"];
    arguments.extend(["--yes", "--quiet", "--no-install-recommends"]);
    arguments.extend(packages);
    let mut apt_get = command("apt-get", &arguments);
    apt_get.env("DEBIAN_FRONTEND", "noninteractive");
    without_starting(|| run(&mut apt_get))
        .map_err(|error| format!("{error}; try by hand: {by_hand}"))
}

/// The owner of our own process, as the kernel says it.
fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:"))
            .and_then(|ids| ids.split_whitespace().nth(1))
            .is_some_and(|effective| effective == "0")
    })
}
