//! HTTP/1.1 as a server speaks it: heads of requests in, answers out. Sans-IO.

pub(crate) mod head;
pub(crate) mod intake;
pub(crate) mod understood;
