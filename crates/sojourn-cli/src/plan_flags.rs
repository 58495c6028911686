//! The flags that say which plan, and what the command line changes about it.

use std::path::PathBuf;

use sojourn_plan::{Overrides, Plan};

use crate::{
    errors::UsageError,
    files::{Unread, read_plan},
    resource_flags::ResourceFlags,
    shelf::Shelf,
};

/// A journey file, and what is laid over it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PlanFlags {
    /// Journey file (YAML)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Base of the plan's relative URLs, instead of the file's `target:`
    #[arg(long, value_name = "URL")]
    target: Option<String>,
    /// Label of the run, repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    label: Vec<(String, String)>,
    /// Value for `${NAME}` in the file, before the environment's, repeatable
    #[arg(long, short = 'e', value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) env: Vec<(String, String)>,
    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    resources: ResourceFlags,
}

impl PlanFlags {
    /// Reads the plan.
    pub(crate) fn read(&self) -> Result<Plan, UsageError> {
        self.read_with(&[])
    }

    /// Reads it with its files from wherever they are.
    pub(crate) fn read_from(&self, shelf: &Shelf) -> Result<Plan, UsageError> {
        Ok(self.try_read_from(&[], shelf)?)
    }

    /// Reads it with further values for `${NAME}`, which go before all others.
    pub(crate) fn read_with(&self, values: &[(String, String)]) -> Result<Plan, UsageError> {
        Ok(self.try_read(values)?)
    }

    /// The same; says why it could not be read, problem by problem.
    pub(crate) fn try_read(&self, values: &[(String, String)]) -> Result<Plan, Unread> {
        self.try_read_from(values, &Shelf::Here)
    }

    fn try_read_from(&self, values: &[(String, String)], shelf: &Shelf) -> Result<Plan, Unread> {
        let mut environment = self.env.clone();
        environment.extend(values.iter().cloned());
        let overrides = Overrides {
            target: self.target.clone(),
            labels: self.label.clone(),
            seed: self.seed,
            environment,
        };
        let mut plan = read_plan(&self.file, &overrides, shelf)?;
        self.resources.add_to(&mut plan).map_err(Unread::Given)?;
        Ok(plan)
    }
}

/// `NAME=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
