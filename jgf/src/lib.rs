//! Wire formats: how resource graphs and resource sets are written down.
//!
//! [`load`] reads a whole graph, [`attach`] adds to one. [`read_booking`] and [`read_release`] read
//! what a job holds or gives back, as resource sets say it. A [`Writer`] turns a match into text.
//! What a graph means, and how resources are matched, is the business of the `engine` package.

mod error;
mod format;
mod limits;
mod read;
mod write;

pub use error::{Error, Place};
pub use format::{MatchFormat, UnknownFormat};
pub use limits::{LimitKind, Limits};
pub use read::{
    Envelope, LoadFormat, LoadOptions, Remap, RemapError, attach, envelope, load, read_booking,
    read_release,
};
pub use write::{EmitError, FindWriter, Writer, write_dot, write_graphml, write_jgf_graph};
