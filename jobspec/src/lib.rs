//! Canonical job specifications.
//!
//! A jobspec asks for resources, says what to run on them and for how long. This
//! crate reads and writes the language of Flux RFC 14 (versions 1, which is RFC
//! 25, and 9999), in YAML and JSON, with the small languages inside it:
//!
//! - [`Count`]: how many of a resource, as number, range or set; [`range`] has
//!   the text form of ranges (RFC 45);
//! - [`Idset`]: sets of integers such as `0-3,7` (RFC 22);
//! - [`Hostlist`]: lists of host names such as `node[0-3,7]` (RFC 29);
//! - [`Constraint`]: conditions on the targets of a job (RFC 31).
//!
//! It does not match anything, knows no resource graph, and does not decide
//! whether the resource types of a jobspec exist.
//!
//! What is accepted is what Fluxion accepts ([`Dialect::Fluxion`]), or that and
//! the rest of the RFCs ([`Dialect::Extended`]). Keys that are given twice are
//! refused in both.
//!
//! ```
//! use jobspec::{Dialect, Jobspec};
//!
//! let jobspec = Jobspec::parse(
//!     "
//! version: 1
//! resources:
//!   - type: slot
//!     count: 2
//!     label: default
//!     with: [{type: core, count: 4}]
//! tasks:
//!   - command: [app]
//!     slot: default
//!     count: {per_slot: 1}
//! attributes: {system: {duration: 60}}
//! ",
//!     Dialect::Fluxion,
//! )?;
//! assert_eq!(jobspec.resources[0].with[0].kind, "core");
//! assert_eq!(Jobspec::parse(&jobspec.to_json(), Dialect::Fluxion)?, jobspec);
//!
//! let error = Jobspec::parse("version: 1\nresources: node\n", Dialect::Fluxion).unwrap_err();
//! assert_eq!(error.to_string(), "1:1: key `tasks` is missing");
//! # Ok::<(), jobspec::Error>(())
//! ```

mod constraint;
mod count;
mod error;
mod hostlist;
mod idset;
mod json;
mod limits;
mod model;
mod print;
pub mod range;
mod raw;
mod span;
mod value;
mod yaml;

pub use constraint::{Constraint, Property};
pub use count::{Count, Operator};
pub use error::{Dialect, Error, Feature, FeatureUse};
pub use hostlist::{Hostlist, HostlistError};
pub use idset::{Idset, IdsetError};
pub use limits::{LimitKind, Limits};
pub use model::{Attributes, Jobspec, Resource, System, Task, TaskCount};
pub use range::RangeError;
pub use span::{Location, Span};
pub use value::{Number, Value};
