//! Brings what the tests need: Debian packages, jars from Maven Central, wheels from PyPI,
//! packages of Node's from npm.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sojourn_services::{JarSet, Kind, ModuleSet, PACKAGES, WheelSet, find_program};

use super::{node, python};
use crate::shell::{command, find_on_path, run, succeeds};
use crate::tools;

/// Its version is our choice; whatever newer one fits Maven does as well.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// Installs what is missing, or says what to install.
pub(crate) fn ensure() -> Result<(), String> {
    let mut packages: Vec<&str> = PACKAGES
        .iter()
        .filter(|package| find_program(package.program).is_err())
        .map(|package| package.name)
        .collect();
    let missing: Vec<&JarSet> = JarSet::ALL
        .into_iter()
        .filter(|jars| !jars.folder().is_ok_and(|folder| folder.is_dir()))
        .collect();
    if !missing.is_empty() && find_on_path("mvn").is_none() {
        packages.push("maven");
    }
    let wheels: Vec<&WheelSet> =
        WheelSet::ALL.into_iter().filter(|wheels| wheels.python().is_err()).collect();
    if !wheels.is_empty() && python::find().is_none() {
        packages.push(python::PACKAGE);
    }
    let modules: Vec<&ModuleSet> =
        ModuleSet::ALL.into_iter().filter(|modules| !node::is_made(modules)).collect();
    if !modules.is_empty() && find_on_path("npm").is_none() {
        packages.push("npm");
    }
    // What the live terminal is looked at in.
    if find_on_path("tmux").is_none() {
        packages.push("tmux");
    }
    packages.dedup();
    if !packages.is_empty() {
        eprintln!("  the tests need {}", packages.join(", "));
        tools::install(&packages)?;
    }
    missing.into_iter().try_for_each(fetch)?;
    wheels.into_iter().try_for_each(python::make)?;
    modules.into_iter().try_for_each(node::make)
}

/// By Maven, since it knows the user's mirrors and proxies; each file must be the one we know.
fn fetch(jars: &JarSet) -> Result<(), String> {
    let folder = jars.folder().map_err(|error| error.to_string())?;
    let mut unchecked = folder.clone().into_os_string();
    unchecked.push(format!(".part{}", std::process::id()));
    let unchecked = PathBuf::from(unchecked);
    let outcome = copy_dependencies(jars, &unchecked).and_then(|()| check(jars, &unchecked));
    let outcome = outcome.and_then(|()| match std::fs::rename(&unchecked, &folder) {
        // Another one was as quick.
        Err(_) if folder.is_dir() => Ok(()),
        other => other.map_err(|error| format!("{}: {error}", folder.display())),
    });
    if unchecked.is_dir() {
        std::fs::remove_dir_all(&unchecked).map_err(|error| error.to_string())?;
    }
    outcome
}

fn copy_dependencies(jars: &JarSet, folder: &Path) -> Result<(), String> {
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(explain)?;
    let project = folder.join("pom.xml");
    let JarSet { group, artifact, version, .. } = jars;
    let text = format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>local</groupId>\
         <artifactId>services</artifactId><version>1</version><dependencies><dependency>\
         <groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
         <version>{version}</version></dependency></dependencies></project>"
    );
    std::fs::write(&project, text).map_err(explain)?;
    let mut maven = command("mvn", &["--quiet", "--batch-mode", "--no-transfer-progress"]);
    maven.arg("--file").arg(&project).arg(PLUGIN).arg("-DincludeScope=runtime");
    maven.arg(format!("-DoutputDirectory={}", folder.display()));
    run(&mut maven)
}

fn check(jars: &JarSet, folder: &Path) -> Result<(), String> {
    let sums = folder.join("jars.sha256");
    std::fs::write(&sums, jars.sums).map_err(|error| format!("{}: {error}", sums.display()))?;
    let mut sha256sum = Command::new("sha256sum");
    run(sha256sum.current_dir(folder).args(["--check", "--strict", "--quiet", "jars.sha256"]))?;
    let known = |name: &str| jars.sums.lines().any(|line| line.ends_with(&format!(" {name}")));
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".jar") && !known(&name) {
            return Err(format!("Maven brought `{name}`, which {} does not name", sums.display()));
        }
    }
    Ok(())
}

/// What the installed server says of itself, as short as it can be.
pub(super) fn version(kind: Kind) -> String {
    let (program, argument) = match kind {
        Kind::ElasticMq => return JarSet::ALL[1].version.to_owned(),
        Kind::Kafka => return JarSet::ALL[0].version.to_owned(),
        Kind::Moto => return WheelSet::ALL[0].version.to_owned(),
        Kind::OpenTelemetry => return WheelSet::ALL[1].version.to_owned(),
        Kind::Fauxqs => return ModuleSet::ALL[2].version.to_owned(),
        Kind::Dnsmasq => ("dnsmasq", "--version"),
        Kind::Statsd => return ModuleSet::ALL[0].version.to_owned(),
        Kind::InfluxDb => ("influxd", "version"),
        Kind::Mosquitto => ("mosquitto", "-h"),
        Kind::Nats => ("nats-server", "--version"),
        Kind::Postgres => ("initdb", "--version"),
        Kind::Prometheus => ("prometheus", "--version"),
        Kind::RabbitMq => ("rabbitmq-server", ""),
        Kind::Redis => ("redis-server", "--version"),
    };
    if kind == Kind::RabbitMq {
        return rabbitmq_version().unwrap_or_default();
    }
    let output = find_program(program).ok().and_then(|path| {
        Command::new(path).arg(argument).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
    });
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.as_deref().and_then(first_version).unwrap_or_default()
}

/// Its folder bears it: `/usr/lib/rabbitmq/lib/rabbitmq_server-3.10.8`.
fn rabbitmq_version() -> Option<String> {
    std::fs::read_dir("/usr/lib/rabbitmq/lib").ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Some(name.strip_prefix("rabbitmq_server-")?.to_owned())
    })
}

/// The first word with a digit and a dot.
fn first_version(text: &str) -> Option<String> {
    text.split_whitespace()
        .map(|word| word.trim_start_matches(['v', '=']).trim_end_matches([',', ':']))
        .map(|word| word.strip_prefix("=").unwrap_or(word))
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        .map(str::to_owned)
}

/// While packages are installed, their servers must not start: a policy says so to Debian's
/// scripts, unless the machine has one already.
pub(crate) fn without_starting<T>(
    install: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let policy = Path::new("/usr/sbin/policy-rc.d");
    if policy.exists() {
        return install();
    }
    let explain = |error: std::io::Error| format!("{}: {error}", policy.display());
    std::fs::write(policy, "#!/bin/sh\nexit 101\n").map_err(explain)?;
    let executable = succeeds(&mut command("chmod", &["755", "/usr/sbin/policy-rc.d"]));
    let outcome = if executable {
        install()
    } else {
        Err(format!("{} cannot be made executable", policy.display()))
    };
    std::fs::remove_file(policy).map_err(explain)?;
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_servers_say() {
        for (text, version) in [
            ("nats-server: v2.9.10\n", "2.9.10"),
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64", "7.0.15"),
            ("mosquitto version 2.0.11\n\nmosquitto is an MQTT v5.0 broker", "2.0.11"),
            ("Dnsmasq version 2.90  Copyright (c) 2000-2024 Simon Kelley", "2.90"),
            ("initdb (PostgreSQL) 15.12 (Debian 15.12-0+deb12u2)", "15.12"),
        ] {
            assert_eq!(first_version(text).as_deref(), Some(version), "{text}");
        }
        assert_eq!(first_version("no such thing."), None);
    }

    #[test]
    fn a_jar_that_is_not_the_one_we_know_is_refused() {
        let jars = JarSet {
            name: "none",
            group: "none",
            artifact: "none",
            version: "1",
            sums: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.jar\n",
        };
        let folder = std::env::temp_dir().join(format!("sojourn-xtask-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.jar"), "a").unwrap();
        check(&jars, &folder).unwrap();
        std::fs::write(folder.join("b.jar"), "a").unwrap();
        assert!(check(&jars, &folder).unwrap_err().contains("`b.jar`"));
        std::fs::remove_file(folder.join("b.jar")).unwrap();
        std::fs::write(folder.join("a.jar"), "b").unwrap();
        assert!(check(&jars, &folder).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
