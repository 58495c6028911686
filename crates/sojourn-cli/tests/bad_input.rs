//! Input that cannot work: a clear error, a non-zero exit, nothing lost.
