//! The cluster itself, and what befalls it.

use std::path::{Path, PathBuf};

use sojourn_testkit::{Output, Program};

/// Where the cluster keeps its state.
pub(super) fn state() -> PathBuf {
    root().join("target/kubernetes")
}

/// Has something done to the cluster by the script that started it.
pub(super) fn cluster(words: &[&str]) {
    let output = script(words);
    assert_eq!(output.code, Some(0), "{words:?}: {output}");
}

fn script(words: &[&str]) -> Output {
    let script = root().join("xtask/kubernetes/cluster");
    Program::new(script).args(words).env("STATE", state()).run().unwrap()
}

/// `kubectl` as the cluster's administrator.
pub(super) fn kubectl(line: &str) -> Program {
    Program::new(state().join("kubectl"))
        .args(line.split_whitespace())
        .env("KUBECONFIG", state().join("pki/admin.kubeconfig"))
}

/// Something that befalls the cluster until it is dropped.
pub(super) struct Fault(Box<dyn Fn() -> Output>);

impl Fault {
    /// Nothing gets to the second node or from it, nor to its pods.
    pub(super) fn second_node_is_cut_off() -> Self {
        cluster(&["cut", "2"]);
        Self(Box::new(|| script(&["mend", "2"])))
    }

    /// There is no API server.
    pub(super) fn no_api_server() -> Self {
        cluster(&["api-down"]);
        Self(Box::new(|| script(&["api-up"])))
    }

    /// Both nodes take no further pods.
    pub(super) fn cordoned() -> Self {
        succeeds("cordon node1 node2");
        Self(Box::new(|| kubectl("uncordon node1 node2").run().unwrap()))
    }

    /// A node is emptied of a namespace's generator of this number, and takes no further pods.
    pub(super) fn drained(node: &str, generator: u32) -> Self {
        let index = format!("batch.kubernetes.io/job-completion-index={generator}");
        let flags = "--ignore-daemonsets --delete-emptydir-data --timeout=50s";
        let node = node.to_owned();
        succeeds(&format!("drain {node} --pod-selector={index} {flags}"));
        Self(Box::new(move || kubectl(&format!("uncordon {node}")).run().unwrap()))
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        let output = (self.0)();
        // A second panic would end all tests.
        if !std::thread::panicking() {
            assert_eq!(output.code, Some(0), "{output}");
        }
    }
}

fn succeeds(line: &str) -> Output {
    let output = kubectl(line).run().unwrap();
    assert_eq!(output.code, Some(0), "{line}: {output}");
    output
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
