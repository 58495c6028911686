//! `sojourn fleet status`: the runs that there are, or the pods of one.

use sojourn_kubernetes::RunName;

use super::{name, no_run};
use crate::{errors::UsageError, kubernetes_flags::ClusterFlags};

/// Show the runs of a namespace, or how the pods of one stand
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Name of the run [default: all]
    #[arg(value_name = "RUN", value_parser = name)]
    name: Option<RunName>,
    #[command(flatten)]
    cluster: ClusterFlags,
}

/// Shows it.
pub(super) fn run(command: &Status) -> Result<u8, UsageError> {
    let cluster = command.cluster.cluster();
    let Some(name) = &command.name else {
        let runs = cluster.runs()?;
        if runs.is_empty() {
            eprintln!("no run in this namespace");
        }
        for job in &runs {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let conditions = job["status"]["conditions"].as_array();
            let ended = conditions.and_then(|all| {
                all.iter().find(|it| {
                    it["status"] == "True" && (it["type"] == "Complete" || it["type"] == "Failed")
                })
            });
            let state = ended.map_or_else(|| "goes on".to_owned(), |it| text(&it["type"]));
            let metadata = &job["metadata"];
            let (name, since) = (text(&metadata["name"]), text(&metadata["creationTimestamp"]));
            println!("{name:<40}  {since:<20}  {}", state.to_lowercase());
        }
        return Ok(0);
    };
    let seen = cluster.look(name)?;
    if seen.coordinator.is_none() && seen.generators.is_empty() {
        return Err(no_run(name));
    }
    let line = |who: &str, pod: &sojourn_kubernetes::PodState| {
        let node = pod.node.as_deref().unwrap_or("-");
        println!("{who:<14}  {node:<24}  {}", pod.standing);
    };
    seen.coordinator.iter().for_each(|pod| line("coordinator", pod));
    for pod in &seen.generators {
        let index = pod.index.map_or_else(|| "?".to_owned(), |index| index.to_string());
        line(&format!("generator {index}"), pod);
    }
    Ok(0)
}
