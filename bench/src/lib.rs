//! What the benches, the comparison and the scaling runs share: inputs, runs of a binary, figures.
//!
//! The program `bench` compares two `resource-query` binaries on one script ([`compare`]) and shows
//! how costs grow ([`scaling`]). The benches in `benches/` time single operations of the library.

pub mod compare;
pub mod figures;
pub mod inputs;
pub mod plot;
pub mod process;
pub mod scaling;
pub mod table;
pub mod trial;
