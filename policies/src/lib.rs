//! Match policies: which resources are preferred where several would do.

mod id_order;
mod locality;
mod registry;
mod variation;

pub use id_order::{Direction, IdOrder};
pub use locality::Locality;
pub use registry::{Error, names, policy};
pub use variation::Variation;
