//! gRPC (placeholder).
#[derive(Debug)]
pub(crate) enum Event {}
