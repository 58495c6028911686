//! The cluster that pages speak of: `tests/kubernetes/kubectl.sh` plays it, with this machine as
//! its only node. What real clusters make of the commands is for `cargo xtask test fleet --cluster`.

use std::path::PathBuf;

use sojourn_testkit::{Program, sojourn_path};

use super::{page::Command, shop::Shop};
use crate::common::until;

/// What a run is called there.
pub(super) const RUN: &str = "pay-1";
/// How long a run lasts that is to be stopped.
const LONG: &str = "30s";

/// A cluster with one run.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    number: usize,
    /// Where its state is.
    folder: PathBuf,
    /// What the coordinator's pod runs.
    coordinator: String,
}

impl Shop {
    /// The program, with the cluster that there is at the moment.
    pub(super) fn on_cluster(&self, program: Program) -> Program {
        let Some(cluster) = &*self.cluster.borrow() else { return program };
        program
            .env("CLUSTER", &cluster.folder)
            .env("SOJOURN", sojourn_path())
            .env("COORDINATOR", &cluster.coordinator)
    }

    /// A cluster without a run, whose first pod will run what this command is to.
    pub(super) fn has_a_cluster(&self, command: &Command, steady: &str) {
        let file = |name: &str| self.path(name).display().to_string();
        let coordinator = if command.has("sojourn attack") {
            let targets = file("targets.txt");
            format!(
                "attack -targets {targets} -rate 50 -duration 1s -run-file results/run.sojourn \
                 -output results/records.bin"
            )
        } else if command.has("test.js") {
            format!("run {} --output results/run.sojourn", file("test.js"))
        } else {
            let plan = file("journey.yaml");
            format!("run {plan} -e STEADY={steady} --live line --output results/run.sojourn")
        };
        let number = self.cluster.borrow().as_ref().map_or(1, |cluster| cluster.number + 1);
        let folder = self.path(&format!("cluster-{number}"));
        std::fs::create_dir(&folder).unwrap();
        *self.cluster.borrow_mut() = Some(Cluster { number, folder, coordinator });
    }

    fn cluster_has(&self, file: &str) -> bool {
        let cluster = self.cluster.borrow();
        cluster.as_ref().is_some_and(|cluster| cluster.folder.join(file).exists())
    }

    /// What the cluster was asked.
    pub(super) fn calls(&self) -> String {
        let folder = self.cluster.borrow().as_ref().unwrap().folder.clone();
        std::fs::read_to_string(folder.join("calls")).unwrap()
    }

    /// A run as a command about runs needs it, begun by the page's own `--detach`.
    pub(super) fn has_a_run_for(&self, command: &Command, detach: &Command) {
        let has_ended = command.begins("sojourn fleet report");
        let needs_its_own = ["stop", "report", "delete"];
        if !needs_its_own.iter().any(|it| command.has(&format!("fleet {it}"))) {
            return;
        }
        self.has_a_cluster(detach, if has_ended { "2s" } else { LONG });
        let output = self.run(detach);
        assert_eq!(output.code, Some(0), "{output}");
        if has_ended {
            until("the run has ended", || self.cluster_has("code"));
        }
    }
}
