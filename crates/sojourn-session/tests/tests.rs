//! Session scripts from text to what their clients do, without a network.

mod convert;
mod data;
mod events;
mod extraction;
mod flow;
mod invalid;
mod load;
mod nfr;
mod placeholders;
mod reference;
mod requests;
mod util;
