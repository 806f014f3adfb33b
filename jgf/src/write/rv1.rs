//! The resource set R, version 1 (RFC 20).

use std::collections::BTreeMap;

use super::EmitError;
use super::jgf::Jgf;
use super::rlite::Rlite;
use super::text::{push_integer, push_json_string};

/// Gathers what R says.
#[derive(Clone, Debug)]
pub(super) struct Rv1 {
    pub(super) rlite: Rlite,
    /// What goes under `scheduling`, if anything does.
    pub(super) jgf: Option<Jgf>,
    start: i64,
    end: i64,
    attributes: BTreeMap<Box<str>, Box<str>>,
}

impl Rv1 {
    pub(super) fn new(jgf: Option<Jgf>) -> Self {
        Self { rlite: Rlite::default(), jgf, start: 0, end: 0, attributes: BTreeMap::new() }
    }

    pub(super) fn times(&mut self, start: i64, end: i64) {
        self.start = start;
        self.end = end;
    }

    /// Attributes stay: later sets have them too.
    pub(super) fn attribute(&mut self, key: &str, value: &str) {
        // R without `scheduling` has no attributes.
        if self.jgf.is_some() {
            self.attributes.insert(key.into(), value.into());
        }
    }

    /// Appends R, or nothing where there are no ranks to tell of; then the vertices wait for the
    /// next set, as in Fluxion.
    pub(super) fn emit(&mut self, out: &mut String) -> Result<(), EmitError> {
        if self.rlite.is_empty() || self.jgf.as_ref().is_some_and(Jgf::is_empty) {
            return Ok(());
        }
        out.push_str("{\"version\": 1, \"execution\": {\"R_lite\": ");
        self.rlite.write_list(out)?;
        self.rlite.write_rest(out)?;
        out.push_str(", \"starttime\": ");
        push_integer(self.start, out);
        out.push_str(", \"expiration\": ");
        push_integer(self.end, out);
        out.push('}');
        self.rlite.clear_nodes();
        if let Some(jgf) = &mut self.jgf {
            out.push_str(", \"scheduling\": ");
            jgf.emit(out)?;
        }
        for (index, (key, value)) in self.attributes.iter().enumerate() {
            out.push_str(if index == 0 {
                ", \"attributes\": {\"system\": {\"scheduler\": {"
            } else {
                ", "
            });
            push_json_string(key, out);
            out.push_str(": ");
            push_json_string(value, out);
        }
        out.push_str(if self.attributes.is_empty() { "}\n" } else { "}}}}\n" });
        Ok(())
    }
}
