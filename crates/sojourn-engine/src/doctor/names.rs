//! The names of a plan's targets, looked up once.

use std::{
    collections::BTreeSet,
    net::{IpAddr, ToSocketAddrs},
};

use sojourn_analysis::check::Check;
use sojourn_http::Origin;

/// Addresses shown of a name.
const SHOWN_MAX: usize = 4;

/// What was found of each host that is a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<(String, Result<BTreeSet<IpAddr>, String>)>);

impl Names {
    /// Looks up the host of every target; `begin` is told each before.
    pub(super) fn of(targets: &[Origin], begin: &mut dyn FnMut(&str)) -> Self {
        let mut names = Self::default();
        for Origin { host, port, .. } in targets {
            let is_known = names.0.iter().any(|(known, _)| known == host);
            if is_known || host.parse::<IpAddr>().is_ok() {
                continue;
            }
            begin(&format!("name {host}"));
            let found = (host.as_str(), *port).to_socket_addrs();
            let found = found.map(|found| found.map(|address| address.ip()).collect());
            names.0.push((host.clone(), found.map_err(|error| error.to_string())));
        }
        names
    }

    /// Addresses of a target, at least one.
    pub(super) fn count(&self, origin: &Origin) -> u64 {
        let found = self.0.iter().find(|(host, _)| *host == origin.host);
        found.map_or(1, |(_, found)| found.as_ref().map_or(1, |all| all.len().max(1) as u64))
    }

    /// Whether the target's host is a name that nobody knows.
    pub(super) fn is_unknown(&self, origin: &Origin) -> bool {
        self.0.iter().any(|(host, found)| *host == origin.host && found.is_err())
    }

    /// A check for each name.
    pub(super) fn checks(&self) -> Vec<Check> {
        if self.0.is_empty() {
            return vec![Check::skipped("name", "", "the plan's targets are addresses")];
        }
        self.0.iter().map(|(host, found)| check(host, found)).collect()
    }
}

fn check(host: &str, found: &Result<BTreeSet<IpAddr>, String>) -> Check {
    match found {
        Err(why) => Check::failed("name", host, why).advised(
            "is the name right? mend the plan's `target:` (or --target), or this machine's DNS"
                .to_owned(),
        ),
        Ok(addresses) => {
            let mut shown: Vec<String> =
                addresses.iter().take(SHOWN_MAX).map(IpAddr::to_string).collect();
            let more = addresses.len().saturating_sub(SHOWN_MAX);
            if more > 0 {
                shown.push(format!("{more} more"));
            }
            Check::passed("name", host, shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;

    use super::*;

    #[test]
    fn names_are_looked_up_once_and_addresses_not_at_all() {
        let origin = |host: &str, port| Origin { tls: false, host: host.to_owned(), port };
        let mut asked = Vec::new();
        // An empty label: the system refuses it without asking anybody.
        let targets = [
            origin("127.0.0.1", 1),
            origin("localhost", 1),
            origin("localhost", 2),
            origin("no..name", 1),
        ];
        let names = Names::of(&targets, &mut |name| asked.push(name.to_owned()));
        assert_eq!(asked, ["name localhost", "name no..name"]);
        let checks = names.checks();
        assert_eq!(checks.len(), 2);
        assert_eq!(checks[0].outcome, Finding::Passed);
        assert_eq!(checks[1].outcome, Finding::Failed);
        assert!(names.is_unknown(&targets[3]) && !names.is_unknown(&targets[0]));
        assert!(names.count(&targets[1]) >= 1 && names.count(&targets[3]) == 1);
        assert_eq!(Names::default().checks()[0].outcome, Finding::Skipped);
    }

    #[test]
    fn many_addresses_are_not_all_shown() {
        let addresses = (1..=6).map(|last| IpAddr::from([127, 0, 0, last])).collect();
        let check = check("a.test", &Ok(addresses));
        assert_eq!(check.found, "127.0.0.1, 127.0.0.2, 127.0.0.3, 127.0.0.4, 2 more");
    }
}
