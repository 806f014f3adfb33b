//! The matcher for people.

fn main() {}
