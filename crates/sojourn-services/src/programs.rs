//! Where the servers' programs lie, and which Debian package brings each.

use std::io;
use std::path::PathBuf;

/// A program that a server needs.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// The executable's name.
    pub program: &'static str,
    /// What Debian calls the package that brings it.
    pub name: &'static str,
}

/// All that the servers need, besides the jars of [`crate::JarSet::ALL`], the wheels of
/// [`crate::WheelSet::ALL`] and the packages of [`crate::ModuleSet::ALL`].
pub const PACKAGES: &[Package] = &[
    Package { program: "nats-server", name: "nats-server" },
    Package { program: "redis-server", name: "redis-server" },
    Package { program: "mosquitto", name: "mosquitto" },
    Package { program: "mosquitto_passwd", name: "mosquitto" },
    Package { program: "initdb", name: "postgresql" },
    Package { program: "rabbitmq-server", name: "rabbitmq-server" },
    Package { program: "epmd", name: "rabbitmq-server" },
    Package { program: "java", name: "default-jre-headless" },
    Package { program: "prometheus", name: "prometheus" },
    Package { program: "influxd", name: "influxdb" },
    Package { program: "dnsmasq", name: "dnsmasq-base" },
    Package { program: "node", name: "nodejs" },
    Package { program: "openssl", name: "openssl" },
];

/// Where a program lies: on PATH, or where Debian puts servers that are no commands.
///
/// # Errors
/// It is nowhere; the text says what to install.
pub fn find_program(program: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Debian's `rabbitmq-server` on PATH changes to a user who may not read our folders.
    let mut folders = vec![PathBuf::from("/usr/lib/rabbitmq/bin")];
    folders.extend(std::env::split_paths(&path));
    folders.extend(["/usr/sbin".into(), "/usr/bin".into()]);
    folders.extend(postgres_folders());
    if let Some(found) =
        folders.into_iter().map(|folder| folder.join(program)).find(|found| found.is_file())
    {
        return Ok(found);
    }
    let package = PACKAGES.iter().find(|package| package.program == program);
    let name = package.map_or(program, |package| package.name);
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "`{program}` is not installed: run `cargo xtask services install`, or install what \
             Debian calls `{name}`"
        ),
    ))
}

/// The newest version first.
fn postgres_folders() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<(u32, PathBuf)> = versions
        .map(|entry| {
            let version = entry.file_name().to_string_lossy().parse().unwrap_or(0);
            (version, entry.path().join("bin"))
        })
        .collect();
    folders.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    folders.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        assert!(find_program("sh").is_ok());
        let error = find_program("no-such-program").unwrap_err().to_string();
        assert!(error.contains("`no-such-program`") && error.contains("xtask"), "{error}");
    }
}
