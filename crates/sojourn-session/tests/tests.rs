//! Session scripts from text to what their clients do, without a network.

mod convert;
mod data;
mod defines;
mod events;
mod extraction;
mod files;
mod flow;
mod invalid;
mod journeys;
mod k6;
mod load;
mod measured;
mod nfr;
mod payload_files;
mod placeholders;
mod reference;
mod requests;
mod trace;
mod util;
