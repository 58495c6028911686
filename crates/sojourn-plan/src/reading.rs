//! The reader's machinery, for other files whose errors shall name place and remedy as well.
//!
//! A file is described by a [`Shape`], from which the reader refuses unknown names and
//! [`schema_of`] makes the JSON Schema. A [`Reader`] holds what is found wrong, compiles templates
//! and reads what such files have in common.

pub use crate::read::Reader;
pub use crate::read::channels::CHANNEL;
pub use crate::read::conditions::value_tests;
pub use crate::read::fields::{Fields, given_or, shown};
pub use crate::read::node::{Content, Key, Node, Scalar};
pub use crate::read::problems::{Problems, similar, suggestion};
pub use crate::read::publish::PUBLISH;
pub use crate::read::shape::{Field, Kind, Shape};
pub use crate::read::shapes::{DATA, HTTP};
pub use crate::read::templates::{Compiler, Scope};
pub use crate::read::units::{bytes, duration_ns, fraction, rate_per_s, show_ns, show_rate};
pub use crate::schema::schema_of;
