//! The flags that say which of the system's own resources are read beside the load.

use std::sync::Arc;

use sojourn_plan::{Plan, Prometheus, Resource, ResourceSource};

use crate::errors::UsageError;

/// What is observed of the system besides its events.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ResourceFlags {
    /// Process of this machine whose processor time, memory, descriptors and threads are read each
    /// second, with its children's; repeatable
    #[arg(long, value_name = "[NAME=]PID", value_parser = Resource::process)]
    target_pid: Vec<Resource>,
    /// Control group whose processor time, throttling and memory are read each second, such as
    /// /sys/fs/cgroup/api.slice; repeatable
    #[arg(long, value_name = "[NAME=]PATH", value_parser = Resource::cgroup)]
    target_cgroup: Vec<Resource>,
    /// Instant query asked of --prometheus each second, such as queue='sum(queue_length)';
    /// repeatable
    #[arg(long, value_name = "NAME=PROMQL", value_parser = Resource::query)]
    observe: Vec<Resource>,
    /// Prometheus, or what speaks its API: <http(s)://[user:password@]host[:port]>
    #[arg(long, value_name = "URL")]
    prometheus: Option<String>,
}

impl ResourceFlags {
    /// Adds them to the plan's own, and says where the queries of both are answered that do not say
    /// it themselves.
    pub(crate) fn add_to(&self, plan: &mut Plan) -> Result<(), UsageError> {
        let flags = self.target_pid.iter().chain(&self.target_cgroup).chain(&self.observe);
        plan.resources.extend(flags.cloned());
        let mut open =
            plan.resources.iter_mut().filter_map(|resource| match &mut resource.source {
                ResourceSource::Query { prometheus: prometheus @ None, .. } => Some(prometheus),
                _ => None,
            });
        let first = open.next();
        let (first, url) = match (first, &self.prometheus) {
            (Some(first), Some(url)) => (first, url),
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                return Err(UsageError::new(
                    "--prometheus without a query",
                    "say what to ask it: --observe queue='sum(queue_length)'",
                ));
            }
            (Some(_), None) => {
                return Err(UsageError::new(
                    "a query without --prometheus: nothing says who answers it",
                    "add --prometheus http://127.0.0.1:9090",
                ));
            }
        };
        // The URL may hold a password: it is not repeated.
        let prometheus = Prometheus::parse(url).map_err(|why| {
            UsageError::new(format!("--prometheus: {why}"), "write http://127.0.0.1:9090")
        })?;
        let prometheus = Arc::new(prometheus);
        for place in std::iter::once(first).chain(open) {
            *place = Some(Arc::clone(&prometheus));
        }
        Ok(())
    }
}
