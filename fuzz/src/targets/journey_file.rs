//! Journey files: errors name a place in them, secrets stay secret, and what is read can be
//! rendered.

use std::io;
use std::path::Path;

use sojourn_plan::{Action, Files, Overrides, Plan, PlanErrors, RenderContext, read};

use crate::Input;

const SECRET: &str = "s3cret-t0ken";

/// Files and variables that a file may name.
pub(crate) struct Memory;

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = match path.to_str() {
            Some("users.csv") => "id,name,age\n1,Ann,30\n2,\"Bob \"\"B\"\"\",x\n",
            Some("instants.txt") => "0\n0.5\n2 # last\n",
            Some("body.xml") => "<id>{{ uuid() }}</id>",
            _ => return Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
        };
        Ok(text.to_owned())
    }

    fn variable(&self, name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some(SECRET.to_owned()),
            "COUNT" => Some("5".to_owned()),
            _ => None,
        }
    }
}

pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = str::from_utf8(input.bytes) else {
        return;
    };
    match read("file.yaml", text, &Memory, &Overrides::default()) {
        Ok(plan) => check_plan(&plan),
        Err(errors) => check_errors(&errors, text),
    }
}

fn check_plan(plan: &Plan) {
    assert!(!plan.text.contains(SECRET));
    let variables = vec![Some("v".into()); plan.variables.len()];
    let context = RenderContext {
        seed: plan.seed,
        k: u64::MAX,
        run_id: "run",
        key: "key",
        variables: &variables,
        own: &[],
        data: &plan.data,
    };
    let steps = plan.journeys.iter().flat_map(|journey| &journey.steps);
    for step in steps.chain(&plan.setup).chain(&plan.teardown) {
        let Action::Http(http) = &step.action else { continue };
        let mut out = Vec::new();
        http.path.render(&context, &mut out).expect("every variable has a value");
        assert!(out.starts_with(b"/"));
        assert!(out.iter().all(|byte| byte.is_ascii_graphic()));
    }
}

/// Every error names a place that there is.
pub(crate) fn check_errors(errors: &PlanErrors, text: &str) {
    assert!(!errors.0.is_empty());
    let lines = text.lines().count() + 1;
    for error in &errors.0 {
        assert!(error.line >= 1 && error.column >= 1, "{error}");
        assert!(error.file != "file.yaml" || error.line <= lines, "{error}");
        assert!(!error.to_string().to_lowercase().contains(SECRET), "{error}");
        assert!(error.message.len() < 1_000, "{error}");
    }
}
