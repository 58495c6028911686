//! What the README and the guide show is what this program reads: their command lines, every
//! file and script of theirs, and their pictures.

mod blocks;
mod commands;
mod kinds;
mod pictures;
mod readers;
mod whole;
