//! The flag that spreads a run's generators over processes.

use sojourn_engine::Processes;

use crate::{errors::UsageError, script_words};

/// Generators in processes of their own.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProcessFlags {
    /// Generator processes, each with --threads threads: for more connections than one process may
    /// open, or more cores. They make one run and one report. They are on this machine, but for
    /// those that dial in from anywhere: where a coordinator listens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    generators: Option<u32>,
}

impl ProcessFlags {
    /// How many are asked for.
    pub(crate) fn count(&self) -> Option<u32> {
        self.generators
    }

    /// The processes that are asked for, on this machine.
    pub(crate) fn processes(&self) -> Result<Option<Processes>, UsageError> {
        let Some(count) = self.generators else { return Ok(None) };
        Ok(Some(Processes { count, words: words()?, parcel: None, fleet: None }))
    }
}

/// This program's own words: each process makes its plan of them.
pub(crate) fn words() -> Result<Vec<String>, UsageError> {
    // What the words mean may depend on files that other machines have not.
    let words = script_words::rewrite(std::env::args_os().collect()).into_iter().skip(1);
    let words = words.map(|word| {
        word.into_string().map_err(|word| {
            UsageError::new(
                format!("{} is no UTF-8, which --generators needs", word.display()),
                "rename the file",
            )
        })
    });
    words.collect()
}
