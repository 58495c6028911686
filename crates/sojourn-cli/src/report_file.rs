//! A report in a file: its format by the name's ending, or a template of the user's own beside the
//! name, as `OUT=FILE.tmpl`.

use std::path::{Path, PathBuf};

use sojourn_report::render::Template;

use crate::{errors::UsageError, reported::RunFormat};

/// Endings of templates, which tell `OUT=FILE.tmpl` from a name that has a `=` in it.
const TEMPLATES: [&str; 4] = ["tmpl", "j2", "jinja", "jinja2"];

/// A report that was asked for.
#[derive(Debug)]
pub(crate) struct ReportFile {
    /// Where it goes.
    pub(crate) path: PathBuf,
    /// How it is made.
    pub(crate) made: Made,
}

/// How a report is made.
#[derive(Debug)]
pub(crate) enum Made {
    /// In a format.
    Format(RunFormat),
    /// By a template.
    Template(Box<Template>),
}

impl ReportFile {
    /// The report that a flag asks for. Errs when no format goes with the name, and when a template
    /// is none: better before the run than after it.
    pub(crate) fn of(asked: &Path) -> Result<Self, UsageError> {
        let Some((path, template)) = parts(asked) else {
            let made = Made::Format(RunFormat::check_name(asked)?);
            return Ok(Self { path: asked.to_owned(), made });
        };
        let text = std::fs::read_to_string(&template).map_err(|error| {
            UsageError::unreadable(
                &template,
                &error,
                "a template goes with a report as OUT=FILE.tmpl",
            )
        })?;
        let template = Template::new(&template.display().to_string(), text, &path)?;
        Ok(Self { path, made: Made::Template(Box::new(template)) })
    }

    /// What a flag asks for, of another name.
    pub(crate) fn renamed(asked: &Path, name: impl Fn(&Path) -> PathBuf) -> PathBuf {
        match parts(asked) {
            Some((path, template)) => {
                let path = name(&path);
                PathBuf::from(format!("{}={}", path.display(), template.display()))
            }
            None => name(asked),
        }
    }
}

/// The report's name and the template's, of `OUT=FILE.tmpl`.
fn parts(asked: &Path) -> Option<(PathBuf, PathBuf)> {
    let (path, template) = asked.to_str()?.rsplit_once('=')?;
    let ending = Path::new(template).extension()?.to_str()?;
    let is_one = TEMPLATES.contains(&ending) && !path.is_empty();
    is_one.then(|| (PathBuf::from(path), PathBuf::from(template)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_stands_after_the_last_sign_and_a_name_may_have_others() {
        let split = |asked: &str| parts(Path::new(asked));
        let pair = |path: &str, template: &str| Some((path.into(), template.into()));
        assert_eq!(split("slack.json=ci/slack.tmpl"), pair("slack.json", "ci/slack.tmpl"));
        assert_eq!(split("git=4b1/x.txt=x.j2"), pair("git=4b1/x.txt", "x.j2"));
        assert_eq!(split("git=4b1.html"), None);
        assert_eq!(split("=x.tmpl"), None);
        let renamed =
            |asked| ReportFile::renamed(Path::new(asked), |path| path.with_extension("x"));
        assert_eq!(renamed("git=4b1.html"), Path::new("git=4b1.x"));
        assert_eq!(renamed("a.md=b.jinja"), Path::new("a.x=b.jinja"));
    }
}
