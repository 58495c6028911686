//! Redirects: to hosts that the plan names and no others, without credentials to another origin.

use sojourn_http::{Origin, Response};
use sojourn_plan::{HttpAction, Plan, StageSource, Template};

use super::prepared::origin_of;

/// Hosts that a redirect may go to, sorted: those that the plan's file names.
pub(crate) fn hosts(plan: &Plan) -> Vec<String> {
    let steps = plan
        .journeys
        .iter()
        .flat_map(|journey| &journey.steps)
        .chain(&plan.setup)
        .chain(&plan.teardown)
        .chain(plan.refresh.iter().map(|refresh| &refresh.step));
    let of_steps = steps.filter_map(|step| step.action.http().map(|action| action.host.clone()));
    let stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
    let of_polls = stages.filter_map(|stage| match &stage.source {
        StageSource::Poll(poll) => Some(poll.action.host.clone()),
        StageSource::Event { .. } => None,
    });
    let mut hosts: Vec<String> =
        plan.allowed_hosts.iter().cloned().chain(of_steps).chain(of_polls).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// The request that an answer redirects to; `None` when it is no redirect. `path` is the previous
/// request's, rendered. Errs in words when it must not or cannot be followed.
pub(crate) fn next_action(
    previous: &HttpAction,
    path: &str,
    response: &Response,
    hosts: &[String],
) -> Result<Option<HttpAction>, String> {
    let method = sojourn_http::redirected_method(response.status, &previous.method);
    let (Some(method), Some(location)) = (method, response.header("location")) else {
        return Ok(None);
    };
    let base = origin_of(previous);
    let (origin, path) =
        sojourn_http::next_location(&base, path, location).map_err(|error| error.to_string())?;
    if !hosts.contains(&origin.host) {
        return Err(format!("redirect to {}, a host the plan does not name", origin.host));
    }
    Ok(Some(redirected(previous, method, &path, &origin)))
}

/// The request that a redirect asks for.
fn redirected(action: &HttpAction, method: &str, path: &str, origin: &Origin) -> HttpAction {
    let is_same_origin = origin_of(action) == *origin;
    let mut next = action.clone();
    next.tls = origin.tls;
    next.host.clone_from(&origin.host);
    next.port = origin.port;
    next.path = Template::literal(path);
    if method != action.method {
        next.method = method.to_owned();
        next.body = None;
        next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    }
    if !is_same_origin {
        // Credentials stay with the scheme, host and port they were meant for.
        next.headers.retain(|(name, _)| !is_secret_header(name));
    }
    next
}

/// Whether a header's name says that its value is secret.
pub(crate) fn is_secret_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "token", "secret", "password", "credential", "api-key", "apikey"]
        .iter()
        .any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_to_no_other_scheme_host_or_port() {
        let text = "
target: https://a.example
journeys:
  j:
    root:
      http:
        url: /x
        headers: { Authorization: a, COOKIE: c, x-api-key: k, x-auth-token: t, accept: b }
load: { rate: 1/s, steady: 1s }
";
        let plan = sojourn_plan::read("p.yaml", text, &NoFiles, &Default::default()).unwrap();
        let action = plan.journeys[0].steps[0].action.http().unwrap();
        for (to, kept) in [
            ("https://a.example", 5),
            ("https://a.example:443", 5),
            ("http://a.example", 1),
            ("http://a.example:443", 1),
            ("https://a.example:8443", 1),
            ("https://b.example", 1),
        ] {
            let next = redirected(action, "GET", "/y", &Origin::parse(to).unwrap());
            assert_eq!(next.headers.len(), kept, "{to}: {:?}", next.headers);
            assert!(next.headers.iter().any(|(name, _)| name == "accept"), "{to}");
        }
    }

    struct NoFiles;

    impl sojourn_plan::Files for NoFiles {
        fn read(&self, _path: &std::path::Path) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }

        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
}
