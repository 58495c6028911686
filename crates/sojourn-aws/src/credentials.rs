//! Keys and region, from where AWS's own tools take them: the environment, then the profile's
//! files.

use std::path::PathBuf;

use sojourn_plan::Secret;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Access key id.
    pub id: String,
    /// Secret access key.
    pub secret: Secret,
    /// Session token, of temporary keys.
    pub token: Option<Secret>,
}

/// What the environment and the profile say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Keys.
    pub credentials: Option<Credentials>,
    /// The region.
    pub region: Option<String>,
    /// The profile's name, for messages.
    pub profile: String,
}

/// Looks a variable up; an empty one counts as none, as AWS's tools have it.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The process's own environment.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Found {
    /// That there are no keys, and where they were looked for.
    pub fn no_keys(&self) -> String {
        let profile = &self.profile;
        format!(
            "no keys: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set, nor does \
             profile `{profile}` have a key of its own"
        )
    }
}

/// What there is: of keys those of the environment before those of the profile.
pub fn find(variable: Variables<'_>) -> Found {
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let found = find_in(variable, &profile);
    Found { credentials: from_variables(variable).or(found.credentials), ..found }
}

/// What there is of a profile that is asked for by its name: its keys, whatever others the
/// environment has.
pub fn find_in(variable: Variables<'_>, profile: &str) -> Found {
    let file = |name: &str, usual: &str| {
        let path = variable(name)
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".aws").join(usual)));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let keys = section(&file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), profile);
    let config = section(&file("AWS_CONFIG_FILE", "config"), profile);
    Found {
        credentials: of_section(&keys).or_else(|| of_section(&config)),
        region: variable("AWS_REGION")
            .or_else(|| variable("AWS_DEFAULT_REGION"))
            .or_else(|| value(&config, "region")),
        profile: profile.to_owned(),
    }
}

fn from_variables(variable: Variables<'_>) -> Option<Credentials> {
    Some(Credentials {
        id: variable("AWS_ACCESS_KEY_ID")?,
        secret: Secret::new(variable("AWS_SECRET_ACCESS_KEY")?),
        token: variable("AWS_SESSION_TOKEN").map(Secret::new),
    })
}

fn of_section(pairs: &[(String, String)]) -> Option<Credentials> {
    Some(Credentials {
        id: value(pairs, "aws_access_key_id")?,
        secret: Secret::new(value(pairs, "aws_secret_access_key")?),
        token: value(pairs, "aws_session_token").map(Secret::new),
    })
}

fn value(pairs: &[(String, String)], name: &str) -> Option<String> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// The pairs of a profile's section: `[name]`, or `[profile name]` as the config file writes it.
fn section(text: &str, profile: &str) -> Vec<(String, String)> {
    let mut inside = false;
    let mut pairs = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let name = head.trim().strip_prefix("profile ").unwrap_or(head).trim();
            inside = name == profile;
        } else if inside
            && !line.starts_with(['#', ';'])
            && let Some((name, value)) = line.split_once('=')
            && !value.trim().is_empty()
        {
            pairs.push((name.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_profile() {
        let variable = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("ID".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("hunter2".to_owned()),
            "AWS_DEFAULT_REGION" => Some("eu-west-1".to_owned()),
            _ => None,
        };
        let found = find(&variable);
        let credentials = found.credentials.as_ref().unwrap();
        assert_eq!((credentials.id.as_str(), found.region.as_deref()), ("ID", Some("eu-west-1")));
        assert!(!format!("{found:?}").contains("hunter2"));
        let named = find_in(&variable, "load");
        assert_eq!(
            (named.credentials.as_ref(), named.region.as_deref()),
            (None, Some("eu-west-1"))
        );
        assert!(named.no_keys().contains("profile `load`"), "{}", named.no_keys());
        assert_eq!(find(&|_| None), Found { profile: "default".to_owned(), ..Found::default() });
    }

    #[test]
    fn profiles_are_sections_of_either_file() {
        let text = "[default]\naws_access_key_id = A\n# x = y\n\n[profile load]\n\
                    region= eu-central-1\naws_access_key_id=B\naws_secret_access_key = s=cret\n";
        assert_eq!(section(text, "default").len(), 1);
        assert_eq!(of_section(&section(text, "default")), None);
        let load = section(text, "load");
        assert_eq!(value(&load, "region").as_deref(), Some("eu-central-1"));
        let credentials = of_section(&load).unwrap();
        assert_eq!((credentials.id.as_str(), credentials.secret.reveal()), ("B", "s=cret"));
        assert_eq!(section("[a\nx=1\n]b]\n[", "a"), []);
    }
}
