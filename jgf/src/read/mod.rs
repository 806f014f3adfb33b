//! From a text to a resource graph, to what a job holds, and to what it gives back.

#[cfg(test)]
mod describe;
mod document;
mod grug;
mod hwloc;
mod jgf;
mod pointer;
mod remap;
mod resource_set;
mod rv1exec;
mod topology;
mod xml;

use std::fmt;
use std::str::FromStr;

use engine::{Booking, Graph, Release};

use crate::{Error, LimitKind, Limits, Place};

pub use remap::{Remap, RemapError};
pub use resource_set::{Envelope, envelope};

/// The format of a text that describes resources.
///
/// The text form is the name that Fluxion gives the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadFormat {
    /// `grug`: a recipe in `GraphML`, from which a graph is generated.
    Grug,
    /// `hwloc`: the topology of one node, as hwloc 1 or 2 exports it in XML.
    Hwloc,
    /// `jgf`: JSON Graph Format (RFC 4, RFC 40).
    Jgf,
    /// `jgf_shorthand`: JGF in which an exclusive vertex stands for all that it contains. For a
    /// whole graph it is the same as `jgf`.
    JgfShorthand,
    /// `rv1exec`: the `execution` part of a resource set (RFC 20).
    Rv1exec,
    /// `rv1exec_force`: as `rv1exec`, also where a richer description is at hand.
    Rv1execForce,
}

impl LoadFormat {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Grug, Self::Hwloc, Self::Jgf, Self::JgfShorthand, Self::Rv1exec, Self::Rv1execForce];

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grug => "grug",
            Self::Hwloc => "hwloc",
            Self::Jgf => "jgf",
            Self::JgfShorthand => "jgf_shorthand",
            Self::Rv1exec => "rv1exec",
            Self::Rv1execForce => "rv1exec_force",
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Returns the format that `text` seems to be in, from its outermost element or keys.
    ///
    /// JGF and its shorthand look alike and are both reported as [`LoadFormat::Jgf`].
    ///
    /// **Complexity**: linear in the text before the telling key.
    pub fn sniff(text: &str) -> Option<Self> {
        let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if start.starts_with('<') {
            return xml::outermost_element(start).and_then(|name| match name {
                "graphml" => Some(Self::Grug),
                "topology" => Some(Self::Hwloc),
                _ => None,
            });
        }
        pointer::top_level_keys(start).find_map(|key| match key {
            "graph" => Some(Self::Jgf),
            "execution" => Some(Self::Rv1exec),
            _ => None,
        })
    }

    /// Returns the format in which the `scheduling` key of a resource set is written, from its
    /// `writer`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownFormat`] for a writer other than `fluxion`, `fluxion:jgf` and
    /// `fluxion:jgf_shorthand`.
    ///
    /// **Source**: RFC 20, RFC 40.
    pub fn of_writer(writer: Option<&str>) -> Result<Self, Error> {
        match writer {
            None | Some("fluxion" | "fluxion:" | "fluxion:jgf") => Ok(Self::Jgf),
            Some("fluxion:jgf_shorthand") => Ok(Self::JgfShorthand),
            Some(writer) => Err(Error::UnknownFormat { given: writer.to_owned() }),
        }
    }
}

impl fmt::Display for LoadFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LoadFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| Error::UnknownFormat { given: name.to_owned() })
    }
}

/// How a graph is to be read.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The resource types to keep, separated by commas; all when `None` or without a name. Only
    /// [`LoadFormat::Hwloc`] heeds it, where the names are `node`, `group`, `numanode`, `socket`,
    /// `L1cache`, `L2cache`, `L3cache`, `core`, `pu`, `gpu` and `storage`.
    pub allowlist: Option<String>,
    /// What the text may ask for.
    pub limits: Limits,
    /// New ranks and ids for those of the text, as a nested instance needs them. JGF remaps the
    /// ranks of all vertices and the ids of cores, hwloc the ids of gpus.
    pub remap: Option<Remap>,
}

/// Reads a resource graph.
///
/// Vertices keep the order of the text, and so do the edges that leave a vertex.
///
/// **Complexity**: linear in the text; for GRUG, in the graph that it asks for. Strings are
/// borrowed from `text`, so that beside the graph only a few words per vertex are needed.
///
/// # Errors
///
/// [`Error`] with the place of the first fault: malformed or truncated text, a text in another
/// format, a value of the wrong kind or out of range, a duplicate vertex, a dangling edge, two roots
/// or none, a cycle in the containment subsystem, no vertices, or an exceeded limit.
///
/// **Source**: RFC 4, RFC 20, RFC 40.
pub fn load(text: &str, format: LoadFormat, options: &LoadOptions) -> Result<Graph, Error> {
    check_length(text, &options.limits)?;
    match format {
        LoadFormat::Grug => grug::load(text, options),
        LoadFormat::Hwloc => hwloc::load(text, options),
        LoadFormat::Jgf | LoadFormat::JgfShorthand => jgf::load(text, options),
        LoadFormat::Rv1exec | LoadFormat::Rv1execForce => rv1exec::load(text, options),
    }
}

/// Adds the vertices and edges of a JGF text to a graph.
///
/// A vertex of the text that has the path and the rank of one in the graph stands for that one,
/// which stays as it is. An edge is added when one of its ends is new.
///
/// # Errors
///
/// As [`load`]. The graph may then hold a part of the text: work on a copy.
pub fn attach(graph: &mut Graph, text: &str, options: &LoadOptions) -> Result<(), Error> {
    check_length(text, &options.limits)?;
    jgf::attach(graph, text, options)
}

/// Reads what a job holds from a resource set, which is JGF (RFC 40) or the `execution` part of R
/// (RFC 20).
///
/// With JGF, an exclusive vertex is held and any other must only be free. With
/// [`LoadFormat::JgfShorthand`], all that an exclusive vertex contains is held too. With
/// [`LoadFormat::Rv1exec`], the children of a rank are held, and its node is when they are all that
/// the rank has.
///
/// **Complexity**: linear in the text, and once per change of the graph in the graph.
///
/// # Errors
///
/// [`Error::Unsupported`] for other formats, [`Error::NotInGraph`] and [`Error::Differs`] where the
/// resource set does not fit the graph, and as [`load`].
pub fn read_booking(
    graph: &Graph,
    text: &str,
    format: LoadFormat,
    limits: &Limits,
) -> Result<Booking, Error> {
    check_length(text, limits)?;
    match format {
        LoadFormat::Jgf => jgf::read_booking(graph, text, false),
        LoadFormat::JgfShorthand => jgf::read_booking(graph, text, true),
        LoadFormat::Rv1exec | LoadFormat::Rv1execForce => {
            rv1exec::read_booking(graph, text, limits)
        }
        LoadFormat::Grug | LoadFormat::Hwloc => {
            Err(Error::Unsupported { format: format.name(), operation: "tell what a job holds" })
        }
    }
}

/// Reads what a job gives back: with JGF the vertices listed (with [`LoadFormat::JgfShorthand`]
/// also what the exclusive ones contain), with [`LoadFormat::Rv1exec`] all that it holds at the
/// ranks listed.
///
/// # Errors
///
/// As [`read_booking`].
pub fn read_release(
    graph: &Graph,
    text: &str,
    format: LoadFormat,
    limits: &Limits,
) -> Result<Release, Error> {
    check_length(text, limits)?;
    match format {
        LoadFormat::Jgf => jgf::read_release(graph, text, false),
        LoadFormat::JgfShorthand => jgf::read_release(graph, text, true),
        LoadFormat::Rv1exec | LoadFormat::Rv1execForce => rv1exec::read_release(graph, text),
        LoadFormat::Grug | LoadFormat::Hwloc => Err(Error::Unsupported {
            format: format.name(),
            operation: "tell what a job gives back",
        }),
    }
}

fn check_length(text: &str, limits: &Limits) -> Result<(), Error> {
    if text.len() > limits.input_bytes {
        return Err(limits.passed(LimitKind::InputBytes, Place::default()));
    }
    Ok(())
}

/// A resource as it is named: a basename and an id, from a name such as `node12`.
///
/// A name without digits at its end has the id -1; one of digits only is its own basename.
/// Returns `None` when the id does not fit.
pub(crate) fn split_hostname(name: &str) -> Option<(&str, i64)> {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = &name[stem.len()..];
    if digits.is_empty() {
        return Some((name, -1));
    }
    let significant = digits.trim_start_matches('0');
    let id = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    Some((if stem.is_empty() { name } else { stem }, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in LoadFormat::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert!("JGF".parse::<LoadFormat>().is_err());
    }

    #[test]
    fn formats_are_recognised() {
        let table = [
            ("", None),
            ("{}", None),
            ("{\"graph\": {", Some(LoadFormat::Jgf)),
            ("{\"version\": 1, \"execution\": {}}", Some(LoadFormat::Rv1exec)),
            (
                "<?xml version=\"1.0\"?>\n<!-- <topology> -->\n<graphml xmlns=\"x\">",
                Some(LoadFormat::Grug),
            ),
            (
                "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc.dtd\"><topology>",
                Some(LoadFormat::Hwloc),
            ),
            ("<html>", None),
        ];
        for (text, format) in table {
            assert_eq!(LoadFormat::sniff(text), format, "{text}");
        }
    }

    #[test]
    fn hostnames_are_split() {
        let table = [
            ("node12", Some(("node", 12))),
            ("node0012", Some(("node", 12))),
            ("node000", Some(("node", 0))),
            ("node", Some(("node", -1))),
            ("12", Some(("12", 12))),
            ("a1b", Some(("a1b", -1))),
            ("", Some(("", -1))),
            ("n99999999999999999999", None),
        ];
        for (name, split) in table {
            assert_eq!(split_hostname(name), split, "{name}");
        }
    }

    #[test]
    fn writers_name_formats() {
        assert_eq!(LoadFormat::of_writer(None), Ok(LoadFormat::Jgf));
        assert_eq!(LoadFormat::of_writer(Some("fluxion:")), Ok(LoadFormat::Jgf));
        assert_eq!(
            LoadFormat::of_writer(Some("fluxion:jgf_shorthand")),
            Ok(LoadFormat::JgfShorthand)
        );
        assert!(LoadFormat::of_writer(Some("other")).is_err());
        assert!(LoadFormat::of_writer(Some("fluxion:x")).is_err());
    }
}
