//! Response times against queueing theory.
