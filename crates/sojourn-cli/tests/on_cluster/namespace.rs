//! A namespace of the cluster, and a folder here with a plan.

use std::path::PathBuf;

use sojourn_testkit::{Program, TempDir, sojourn, temp_dir};

use super::cluster::{self, state};
use crate::common::until;

/// A pod that answers, and its Service.
const TARGET: &str = "
apiVersion: v1
kind: Pod
metadata: { name: target, labels: { app: target } }
spec:
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
  containers:
  - name: target
    image: localhost/sojourn:VERSION
    command: [sojourn, mock, --listen, '0.0.0.0:8080', --status, '200', --quiet, --latency, LAW]
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
---
apiVersion: v1
kind: Service
metadata: { name: target, labels: { app: target } }
spec: { selector: { app: target }, ports: [{ port: 8080 }] }
";

/// See the module. Dropped, it is deleted with all that is in it.
pub(super) struct Namespace {
    name: String,
    folder: TempDir,
}

impl Namespace {
    /// A fresh one; the plan stands in `plan.yaml` of its folder.
    pub(super) fn new(name: &str, plan: &str) -> Self {
        let folder = temp_dir().unwrap();
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        let namespace = Self { name: format!("test-{name}"), folder };
        namespace.kubectl(&format!("create namespace {}", namespace.name));
        let enforced = "pod-security.kubernetes.io/enforce=restricted";
        namespace.kubectl(&format!("label namespace {} {enforced}", namespace.name));
        until("it has its account", || {
            !namespace.kubectl("get serviceaccount default --ignore-not-found").is_empty()
        });
        namespace
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What loads are for, once it answers.
    pub(super) fn start_target(&self) {
        self.start_slow_target("0ms");
    }

    /// The same, which holds answers as long as a law says.
    pub(super) fn start_slow_target(&self, law: &str) {
        self.start(&TARGET.replace("LAW", &format!("'{law}'")), "target");
    }

    /// Creates objects, in which `VERSION` is this program's, and waits until a pod of them runs.
    pub(super) fn start(&self, yaml: &str, pod: &str) {
        self.apply(&yaml.replace("VERSION", env!("CARGO_PKG_VERSION")));
        let line = format!("get pod {pod} -o jsonpath={{.status.phase}}");
        until("the pod runs", || self.kubectl(&line) == "Running");
    }

    /// This program, in the folder.
    pub(super) fn words(&self, line: &str) -> Program {
        sojourn(line.split_whitespace())
            .in_dir(self.folder.path())
            .env("KUBECONFIG", state().join("pki/admin.kubeconfig"))
            .timeout(std::time::Duration::from_secs(120))
    }

    /// The same, told where the cluster is.
    pub(super) fn sojourn(&self, line: &str) -> Program {
        let kubectl = state().join("kubectl");
        self.words(&format!("{line} --kubectl {} --namespace {}", kubectl.display(), self.name))
    }

    /// The same, as an account of the namespace.
    pub(super) fn as_account(&self, account: &str, line: &str) -> Program {
        let token = self.kubectl(&format!("create token {account}"));
        let server = "https://10.200.0.2:6443";
        let authority = state().join("pki/ca.crt");
        let text = format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{ name: c, cluster: {{ server: \"{server}\", \
             certificate-authority: {} }} }}]\nusers: [{{ name: u, user: {{ token: {token} }} }}]\n\
             contexts: [{{ name: x, context: {{ cluster: c, user: u }} }}]\ncurrent-context: x\n",
            authority.display()
        );
        std::fs::write(self.path("account.yaml"), text).unwrap();
        self.sojourn(line).env("KUBECONFIG", self.path("account.yaml"))
    }

    /// What `kubectl` says, which must succeed.
    pub(super) fn kubectl(&self, line: &str) -> String {
        let output = self.program(line).run().unwrap();
        assert_eq!(output.code, Some(0), "{line}: {output}");
        output.stdout.trim().to_owned()
    }

    pub(super) fn apply(&self, yaml: &str) {
        let output = self.program("create -f -").input(yaml).run().unwrap();
        assert_eq!(output.code, Some(0), "{output}\n{yaml}");
    }

    /// The pod of a generator of the only run.
    pub(super) fn generator(&self, number: u32) -> String {
        let index = format!("batch.kubernetes.io/job-completion-index={number}");
        self.kubectl(&format!("get pods -l {index} -o jsonpath={{.items[0].metadata.name}}"))
    }

    /// The pod of the only run's coordinator.
    pub(super) fn coordinator(&self) -> String {
        let label = "app.kubernetes.io/component=coordinator";
        self.kubectl(&format!("get pods -l {label} -o jsonpath={{.items[0].metadata.name}}"))
    }

    /// The exit codes of the only run's generators that have ended, in the order of their numbers.
    pub(super) fn codes(&self) -> Vec<String> {
        let line = "get pods -l app.kubernetes.io/component=generator -o \
                    jsonpath={.items[*].status.containerStatuses[*].state.terminated.exitCode}";
        self.kubectl(line).split_whitespace().map(str::to_owned).collect()
    }

    /// What the coordinator of a run has said so far.
    pub(super) fn log(&self, run: &str) -> String {
        self.log_of(&format!("job/{run} -c coordinator"))
    }

    /// What somebody has said so far.
    pub(super) fn log_of(&self, whom: &str) -> String {
        self.program(&format!("logs {whom}")).run().unwrap().stdout
    }

    /// The names of what runs consist of, in this namespace.
    pub(super) fn objects(&self) -> String {
        let kinds = "jobs,secrets,networkpolicies,services,pods";
        self.kubectl(&format!("get {kinds} -l app.kubernetes.io/name=sojourn -o name"))
    }

    fn program(&self, line: &str) -> Program {
        cluster::kubectl(&format!("--namespace {} {line}", self.name))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // It fails where there is none: the test has said why.
        let line = format!("delete namespace {} --wait=false", self.name);
        let _ignored = self.program(&line).run();
    }
}
