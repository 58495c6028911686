//! The flag that spreads a run's generators over processes.

use sojourn_engine::Processes;

use crate::errors::UsageError;

/// Generators in processes of their own.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ProcessFlags {
    /// Generator processes on this machine, each with --threads threads: for more connections than
    /// one process may open, or more cores. They make one run and one report
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    generators: Option<u32>,
}

impl ProcessFlags {
    /// The processes that are asked for: each makes its plan of this program's own words.
    pub(crate) fn processes(&self) -> Result<Option<Processes>, UsageError> {
        let Some(count) = self.generators else { return Ok(None) };
        let words = std::env::args_os().skip(1).map(|word| {
            word.into_string().map_err(|word| {
                UsageError::new(
                    format!("{} is no UTF-8, which --generators needs", word.display()),
                    "rename the file",
                )
            })
        });
        Ok(Some(Processes { count, words: words.collect::<Result<_, _>>()? }))
    }
}
