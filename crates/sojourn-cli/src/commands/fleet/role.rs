//! `sojourn fleet role`: what who makes runs in a namespace must be allowed.

use sojourn_kubernetes::{Subject, documents, role};

use crate::{errors::UsageError, outputs};

/// Print the Role that making runs in a namespace needs, and its binding, for who administers it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn fleet role --namespace load --group testers | kubectl apply -f -
  sojourn fleet role --namespace load --service-account ci")]
pub(crate) struct RoleCommand {
    /// Namespace to write into it
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// User to bind it to, repeatable
    #[arg(long, value_name = "NAME")]
    user: Vec<String>,
    /// Group to bind it to, repeatable
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,
    /// Service account of the namespace to bind it to, repeatable
    #[arg(long, value_name = "NAME")]
    service_account: Vec<String>,
}

/// Prints it.
pub(super) fn run(command: &RoleCommand) -> Result<u8, UsageError> {
    let mut subjects: Vec<Subject> = command.user.iter().cloned().map(Subject::User).collect();
    subjects.extend(command.group.iter().cloned().map(Subject::Group));
    subjects.extend(command.service_account.iter().cloned().map(Subject::ServiceAccount));
    let objects = role(command.namespace.as_deref(), &subjects);
    let comment = "What `sojourn run --on kubernetes` needs in a namespace, and nothing beyond it.";
    outputs::print(&documents(comment, &objects));
    Ok(0)
}
