//! The commands, one file each.

mod attack;
mod carrier;
mod compare;
mod completions;
#[cfg(feature = "script")]
mod convert;
mod coordinator;
mod demo;
mod discover;
mod doctor;
mod dump;
mod encode;
mod fleet;
mod generator;
mod image;
mod init;
#[cfg(feature = "script")]
mod k6;
mod man;
mod mock;
#[cfg(not(feature = "script"))]
mod no_script;
#[cfg(not(feature = "wrk"))]
mod no_wrk;
mod plot;
mod rate;
mod report;
pub(crate) mod run;
mod schema;
mod search;
#[cfg(feature = "script")]
mod session;
mod sweep;
mod watch;
mod web;
#[cfg(feature = "wrk")]
mod wrk;
#[cfg(not(feature = "script"))]
use no_script as k6;
#[cfg(not(feature = "script"))]
use no_script as session;
#[cfg(not(feature = "script"))]
use no_script as convert;
#[cfg(not(feature = "wrk"))]
use no_wrk as wrk;

use crate::errors::UsageError;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// A whole payments system in this process, loaded and reported: the one-minute tour
    Demo(Box<demo::Demo>),
    /// Hit targets at a rate: Vegeta's attack, and more
    Attack(Box<attack::Attack>),
    /// Run a journey file
    Run(Box<run::Run>),
    /// Run with generators that dial in from other machines
    Coordinator(Box<coordinator::Coordinator>),
    /// Make load for a coordinator on another machine
    Generator(generator::Generator),
    /// Check whether a journey file can run here and its figures be believed, without load
    Doctor(Box<doctor::Doctor>),
    /// Find the highest arrival rate that a journey file's thresholds allow
    Search(Box<search::Search>),
    /// Run a journey file for each of several values, and compare the runs
    Sweep(Box<sweep::Sweep>),
    /// Fire one root, find every event that mentions its key, write the journey file
    Discover(discover::Discover),
    /// Watch what goes over a journey file's channels, without load
    Watch(watch::Watch),
    /// Write a first journey file to standard output
    Init(init::Init),
    /// Run k6 scripts: k6's command line
    K6(k6::K6),
    /// Run session scripts: tests in JavaScript that cost nothing per request
    Session(session::Session),
    /// Make scripts and journey files of recordings and of one another
    Convert(convert::Convert),
    /// Load a URL as wrk and wrk2 do, with their words, Lua scripts and output
    Wrk(wrk::Wrk),
    /// A server that stands in for others: holds answers as long as you say, and fails as you say
    Mock(Box<mock::MockCommand>),
    /// Change the rate of a run that goes on, from another terminal
    Rate(rate::Rate),
    /// Show the runs of a folder in a browser
    Web(web::Web),
    /// Report on a run file, or on the results of an attack
    Report(report::Report),
    /// Compare two runs: what changed, by how much, and how sure that is
    Compare(compare::Compare),
    /// Results of an attack in another encoding
    Encode(encode::Encode),
    /// Results of an attack as a chart in one HTML file
    Plot(plot::Plot),
    /// Refused: it has become `encode`
    #[command(hide = true)]
    Dump(dump::Dump),
    /// Runs on a Kubernetes cluster: their manifests, and those that go on
    Fleet(fleet::Fleet),
    /// This program as a container image, without Docker
    Image(image::Image),
    /// Print the JSON Schema of journey files, for editors, or of the JSON report
    Schema(schema::Schema),
    /// Print the manual page, or write one for each command
    Man(man::Man),
    /// Print shell completions
    Completions(completions::Completions),
}

/// Does it; the exit code.
pub(crate) fn dispatch(command: Command) -> Result<u8, UsageError> {
    match command {
        Command::Demo(command) => demo::run(&command),
        Command::Attack(command) => attack::run(&command),
        Command::Run(command) => run::run(&command),
        Command::Coordinator(command) => coordinator::run(&command),
        Command::Generator(command) => generator::run(&command),
        Command::Doctor(command) => doctor::run(&command),
        Command::Search(command) => search::run(&command),
        Command::Sweep(command) => sweep::run(&command),
        Command::Discover(command) => discover::run(&command),
        Command::Watch(command) => watch::run(&command),
        Command::Init(command) => init::run(&command),
        Command::K6(command) => k6::run(&command),
        Command::Session(command) => session::run(&command),
        Command::Convert(command) => convert::run(&command),
        Command::Wrk(command) => wrk::run(&command),
        Command::Mock(command) => mock::run(&command),
        Command::Rate(command) => rate::run(&command),
        Command::Web(command) => web::run(&command),
        Command::Report(command) => report::run(&command),
        Command::Compare(command) => compare::run(&command),
        Command::Encode(command) => encode::run(&command),
        Command::Plot(command) => plot::run(&command),
        Command::Dump(command) => dump::run(&command),
        Command::Fleet(command) => fleet::run(&command),
        Command::Image(command) => image::run(&command),
        Command::Schema(command) => schema::run(&command),
        Command::Man(command) => man::run(&command),
        Command::Completions(command) => completions::run(&command),
    }
}
