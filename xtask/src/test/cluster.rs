//! A real Kubernetes of two nodes on this machine, for the tests of runs on a cluster.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{command, find_on_path, root, run};

/// What `xtask/kubernetes/build` makes.
const BUILT: [&str; 9] = [
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kubectl",
    "kube-proxy",
    "etcd",
    "coredns",
    "pause.tar",
];

/// A cluster that runs; dropped, it is taken down with all that it left.
#[derive(Debug)]
pub(super) struct Cluster {
    built: PathBuf,
}

impl Cluster {
    /// Starts it, with an image of this binary on each node. What it is made of is built first,
    /// where that was not done before: ten minutes.
    pub(super) fn start(binary: &Path) -> Result<Self, String> {
        if find_on_path("go").is_none() {
            return Err("the cluster is built with Go 1.24 or later, which is not here".to_owned());
        }
        let built = home()?.join(".cache/sojourn-kubernetes/bin");
        if !BUILT.iter().all(|name| built.join(name).exists()) {
            eprintln!("  the cluster is built into {}, once: ten minutes", built.display());
            run(command(&script("build"), &[]).arg(&built))?;
        }
        let image = root().join("target/sojourn-image.tar");
        run(Command::new(binary).args(["image", "save", "-o"]).arg(&image))?;
        let cluster = Self { built };
        // What an earlier one may have left.
        cluster.call("down", &image)?;
        cluster.call("up", &image)?;
        Ok(cluster)
    }

    fn call(&self, what: &str, image: &Path) -> Result<(), String> {
        let mut cluster = command(&script("cluster"), &[what]);
        cluster.env("STATE", root().join("target/kubernetes"));
        run(cluster.env("BIN", &self.built).env("NODES", "2").env("IMAGES", image))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.call("down", Path::new("")) {
            eprintln!("  the cluster is not down: {error}");
        }
    }
}

fn script(name: &str) -> String {
    root().join("xtask/kubernetes").join(name).display().to_string()
}

fn home() -> Result<PathBuf, String> {
    std::env::var_os("HOME").map(PathBuf::from).ok_or_else(|| "HOME is not set".to_owned())
}
