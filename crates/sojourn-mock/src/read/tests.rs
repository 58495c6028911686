//! Mock files, good and bad.
