//! k6's dashboard: what `K6_WEB_DASHBOARD` and its further variables, or `--out web-dashboard=…`,
//! ask for.

use crate::duration::Nanos;
use crate::options::{Environment, Kind, OptionsError, Tier, Wrong};

/// What such an output is called.
const OUTPUT: &str = "web-dashboard";

/// Where k6's dashboard listens unless it is told otherwise.
const HOST: &str = "127.0.0.1";
const PORT: u16 = 5665;

/// A dashboard that k6's words ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DashboardSettings {
    /// Where it listens; `None`: nowhere (port -1), there is a report alone.
    pub address: Option<String>,
    /// Whether that is what k6 takes where nothing is said.
    pub is_usual_address: bool,
    /// Whether a browser is to be opened.
    pub opens: bool,
    /// File for the report as HTML.
    pub export: Option<String>,
    /// How often it shows something new; `None`: every second.
    pub period: Option<Nanos>,
}

/// Words of k6's dashboard that nothing here answers to, and what does instead.
const WITHOUT_EFFECT: [(&str, &str); 2] = [
    (
        "record",
        "nothing is recorded in the format of k6's dashboard; --out json=FILE has all samples",
    ),
    (
        "tag",
        "the dashboard shows no figures by tag; a threshold on `metric{tag:value}` gives that \
         value figures of its own, in the report and the summary",
    ),
];

/// The words of one dashboard, each from the output's argument or else from its variable.
struct Words<'a> {
    argument: &'a str,
    environment: &'a Environment,
}

impl DashboardSettings {
    /// What is asked for, if anything is: the outputs are searched and lose it. What changes
    /// nothing here is added to `warnings`.
    ///
    /// # Errors
    /// A value that is not of its variable's form, or a word that there is not.
    pub(super) fn take(
        outs: &mut Vec<String>,
        environment: &Environment,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, OptionsError> {
        let mut argument = None;
        outs.retain(|out| {
            let (kind, of) = out.split_once('=').unwrap_or((out, ""));
            let is_it = kind == OUTPUT;
            if is_it {
                argument = Some(of.to_owned());
            }
            !is_it
        });
        let text = environment.get("K6_WEB_DASHBOARD").map_or("", String::as_str);
        let wrong = |wrong: Wrong| wrong.at(Tier::Environment, "K6_WEB_DASHBOARD");
        let is_on = !text.is_empty() && bool::from_text(text).map_err(wrong)?;
        if !is_on && argument.is_none() {
            return Ok(None);
        }
        let argument = argument.unwrap_or_default();
        Words { argument: &argument, environment }.read(warnings).map(Some)
    }
}

impl Words<'_> {
    fn read(&self, warnings: &mut Vec<String>) -> Result<DashboardSettings, OptionsError> {
        self.check()?;
        let host = self.word("host").map(|(text, _)| text).filter(|host| *host != "localhost");
        let port = self.word("port");
        let is_usual_address = host.is_none() && port.is_none();
        let host = host.unwrap_or(HOST);
        let port = match port {
            None => Some(PORT),
            Some(("-1", _)) => None,
            Some((text, from)) => {
                let port = text
                    .parse::<u16>()
                    .map_err(|_| wrong(&from, format!("`{text}` is no port: 0 is any, -1 none")))?;
                Some(port)
            }
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let opens = match self.word("open") {
            None => false,
            Some((text, from)) => bool::from_text(text).map_err(|it| it.at(from.0, &from.1))?,
        };
        for (key, instead) in WITHOUT_EFFECT {
            if let Some((_, (_, from))) = self.word(key) {
                warnings.push(format!("{from} has no effect: {instead}"));
            }
        }
        let period = self.period(warnings)?;
        Ok(DashboardSettings {
            address: port.map(|port| format!("{host}:{port}")),
            is_usual_address,
            opens,
            export: self
                .word("export")
                .or_else(|| self.word("report"))
                .map(|(it, _)| it.to_owned()),
            period,
        })
    }

    /// How often something new is shown: every second at most, which is when there is something.
    fn period(&self, warnings: &mut Vec<String>) -> Result<Option<Nanos>, OptionsError> {
        let Some((text, from)) = self.word("period") else { return Ok(None) };
        let period = Nanos::from_text(text).map_err(|it| it.at(from.0, &from.1))?;
        if period.ns() < 1_000_000_000 {
            warnings
                .push(format!("{} is {text}: the dashboard shows every second at most", from.1));
            return Ok(None);
        }
        Ok(Some(period))
    }

    /// That every word of the argument is one.
    fn check(&self) -> Result<(), OptionsError> {
        const KEYS: [&str; 8] =
            ["host", "port", "period", "open", "export", "report", "record", "tag"];
        for pair in self.argument.split('&').filter(|pair| !pair.is_empty()) {
            let (key, _) = pair.split_once('=').unwrap_or((pair, ""));
            if !KEYS.contains(&key) {
                let problem = format!("`{key}` is none of {}", KEYS.join(", "));
                return Err(Wrong::new(problem).at(Tier::Flags, "--out web-dashboard"));
            }
        }
        Ok(())
    }

    /// A word, and where it is from.
    fn word(&self, key: &str) -> Option<(&str, (Tier, String))> {
        let mut pairs = self.argument.split('&').filter_map(|pair| pair.split_once('='));
        // The last of several counts.
        if let Some((_, value)) = pairs.rfind(|(own, _)| *own == key) {
            return Some((value, (Tier::Flags, format!("--out web-dashboard={key}"))));
        }
        let name = format!("K6_WEB_DASHBOARD_{}", key.to_ascii_uppercase());
        let value = self.environment.get(&name).filter(|value| !value.is_empty())?;
        Some((value, (Tier::Environment, name)))
    }
}

fn wrong((tier, from): &(Tier, String), problem: String) -> OptionsError {
    Wrong::new(problem).at(*tier, from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings, what is left of the outputs, and what is said.
    type Told = (Option<DashboardSettings>, Vec<String>, Vec<String>);

    fn asked(outs: &[&str], variables: &[(&str, &str)]) -> Result<Told, String> {
        let mut outs = outs.iter().map(|out| (*out).to_owned()).collect();
        let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut warnings = Vec::new();
        let taken = DashboardSettings::take(&mut outs, &pairs.collect(), &mut warnings);
        Ok((taken.map_err(|error| error.to_string())?, outs, warnings))
    }

    #[test]
    fn nothing_is_shown_unless_it_is_switched_on() {
        let further = ("K6_WEB_DASHBOARD_EXPORT", "report.html");
        for variables in [&[further][..], &[further, ("K6_WEB_DASHBOARD", "false")], &[]] {
            let (asked, outs, _) = asked(&["csv"], variables).unwrap();
            assert_eq!((asked, outs), (None, vec!["csv".to_owned()]));
        }
    }

    #[test]
    fn addresses_are_k6s() {
        for (host, port, address) in [
            ("", "", Some("127.0.0.1:5665")),
            ("localhost", "0", Some("127.0.0.1:0")),
            ("::1", "80", Some("[::1]:80")),
            ("0.0.0.0", "", Some("0.0.0.0:5665")),
            ("", "-1", None),
        ] {
            let variables = [
                ("K6_WEB_DASHBOARD", "true"),
                ("K6_WEB_DASHBOARD_HOST", host),
                ("K6_WEB_DASHBOARD_PORT", port),
            ];
            let (asked, _, _) = asked(&[], &variables).unwrap();
            let asked = asked.expect("a dashboard");
            assert_eq!(asked.address.as_deref(), address, "{host} {port}");
            assert_eq!(asked.is_usual_address, host.is_empty() && port.is_empty());
        }
    }

    #[test]
    fn the_output_says_the_same_and_is_no_output_of_ours() {
        let variables = [("K6_WEB_DASHBOARD_PORT", "1"), ("K6_WEB_DASHBOARD_OPEN", "true")];
        let out = "web-dashboard=port=2&export=a.html&period=5s&record=b.json";
        let (asked, outs, warnings) = asked(&[out, "json=x"], &variables).unwrap();
        let asked = asked.expect("a dashboard");
        assert_eq!(asked.address.as_deref(), Some("127.0.0.1:2"));
        assert_eq!((asked.opens, asked.export.as_deref()), (true, Some("a.html")));
        assert_eq!(asked.period.map(|period| period.ns()), Some(5_000_000_000));
        assert_eq!((outs, warnings.len()), (vec!["json=x".to_owned()], 1));
        assert!(warnings[0].contains("web-dashboard=record has no effect"), "{warnings:?}");
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (outs, variables, part) in [
            (&[][..], &[("K6_WEB_DASHBOARD", "perhaps")][..], "K6_WEB_DASHBOARD"),
            (&["web-dashboard"], &[("K6_WEB_DASHBOARD_PORT", "-2")], "K6_WEB_DASHBOARD_PORT"),
            (&["web-dashboard=port=x"], &[], "web-dashboard=port"),
            (&["web-dashboard=period=often"], &[], "web-dashboard=period"),
            (&["web-dashboard=color=x"], &[], "`color` is none of"),
        ] {
            let problem = asked(outs, variables).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
