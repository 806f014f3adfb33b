//! Pruning filters: which types are counted in aggregate below which vertices.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::graph::Tree;
use crate::snapshot::fault;
use crate::{Error, Graph, TypeId};

/// Which types each type of vertex tracks below it.
///
/// A specification such as `ALL:core,rack:node` names pairs of the type of a vertex and the type it
/// tracks. Types of leaves that no pair names are tracked at vertices of type `cluster`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filters {
    at_all: BTreeSet<TypeId>,
    at_type: BTreeMap<TypeId, BTreeSet<TypeId>>,
    tracked_somewhere: BTreeSet<TypeId>,
}

impl Filters {
    /// Reads a specification. Blanks around names do not matter.
    ///
    /// # Errors
    ///
    /// [`Error::FilterSpec`] for a part without a colon or with an empty side.
    pub(crate) fn parse(spec: &str, graph: &mut Graph) -> Result<Self, Error> {
        let mut filters = Self::default();
        for pair in spec.split(',') {
            let fault = |expected| Error::FilterSpec { given: pair.to_owned(), expected };
            let (anchor, kind) =
                pair.split_once(':').ok_or_else(|| fault("expected `TYPE:TYPE` or `ALL:TYPE`"))?;
            let squeeze = |name: &str| name.split_whitespace().collect::<String>();
            let (anchor, kind) = (squeeze(anchor), squeeze(kind));
            if anchor.is_empty() || kind.is_empty() {
                return Err(fault("expected a type on both sides of the colon"));
            }
            let kind = graph.intern_type(&kind)?;
            if anchor == "ALL" {
                filters.track_at_all(kind);
            } else {
                let anchor = graph.intern_type(&anchor)?;
                filters.track_at(anchor, kind);
            }
        }
        Ok(filters)
    }

    fn track_at_all(&mut self, kind: TypeId) {
        for tracked in self.at_type.values_mut() {
            tracked.remove(&kind);
        }
        self.at_all.insert(kind);
        self.tracked_somewhere.insert(kind);
    }

    fn track_at(&mut self, anchor: TypeId, kind: TypeId) {
        if !self.at_all.contains(&kind) {
            self.at_type.entry(anchor).or_default().insert(kind);
        }
        self.tracked_somewhere.insert(kind);
    }

    /// Returns whether `kind` is tracked at all.
    pub(crate) fn tracks(&self, kind: TypeId) -> bool {
        self.tracked_somewhere.contains(&kind)
    }

    /// Returns the types that are tracked anywhere.
    pub(crate) fn kinds(&self) -> Vec<TypeId> {
        self.tracked_somewhere.iter().copied().collect()
    }

    /// Returns the types that vertices of type `anchor` track, in the order of their lanes.
    pub(crate) fn tracked_at(&self, anchor: TypeId) -> Vec<TypeId> {
        let own = self.at_type.get(&anchor).into_iter().flatten();
        own.chain(self.at_all.iter().filter(|&&kind| kind != anchor)).copied().collect()
    }
}

/// Filters as a snapshot has them, by the numbers of types.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FiltersImage {
    at_all: Vec<u16>,
    at_type: Vec<(u16, Vec<u16>)>,
    tracked_somewhere: Vec<u16>,
}

impl Filters {
    pub(crate) fn image(&self) -> FiltersImage {
        let numbers = |kinds: &BTreeSet<TypeId>| kinds.iter().map(|kind| kind.0).collect();
        FiltersImage {
            at_all: numbers(&self.at_all),
            at_type: self
                .at_type
                .iter()
                .map(|(anchor, kinds)| (anchor.0, numbers(kinds)))
                .collect(),
            tracked_somewhere: numbers(&self.tracked_somewhere),
        }
    }

    /// Makes filters of their image.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] for a type that `graph` does not have, or one that is tracked and is not.
    pub(crate) fn from_image(image: &FiltersImage, graph: &Graph) -> Result<Self, Error> {
        let known = |&number: &u16| {
            let kind = TypeId(number);
            let unknown = || fault("filters", format_args!("no type {number}"));
            (kind.index() < graph.n_types()).then_some(kind).ok_or_else(unknown)
        };
        let set = |numbers: &[u16]| numbers.iter().map(known).collect::<Result<BTreeSet<_>, _>>();
        let mut at_type = BTreeMap::new();
        for (anchor, kinds) in &image.at_type {
            at_type.insert(known(anchor)?, set(kinds)?);
        }
        let at_all = set(&image.at_all)?;
        let tracked_somewhere = set(&image.tracked_somewhere)?;
        if !at_type.values().flatten().chain(&at_all).all(|kind| tracked_somewhere.contains(kind)) {
            return Err(fault("filters", "a tracked type is not among those tracked"));
        }
        Ok(Self { at_all, at_type, tracked_somewhere })
    }
}

/// The filters of one tree: lanes by type of vertex, totals by vertex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aggregates {
    lanes: Vec<Vec<TypeId>>,
    totals: Vec<SmallVec<[i64; 4]>>,
}

impl Aggregates {
    /// Counts what is below each vertex of `tree`. Types of leaves that were not tracked are
    /// tracked at clusters from their first leaf on.
    pub(crate) fn prime(graph: &Graph, tree: &mut Tree, filters: &mut Filters) -> Self {
        let n_types = graph.n_types();
        let mut counted = Vec::with_capacity(tree.len());
        for slot in &tree.slots {
            if slot.leaf && !filters.tracks(slot.kind) {
                filters.track_at(Graph::CLUSTER, slot.kind);
            }
            counted.push(filters.tracks(slot.kind));
        }
        let lanes: Vec<Vec<TypeId>> =
            (0..n_types).filter_map(TypeId::new).map(|kind| filters.tracked_at(kind)).collect();
        let kinds = filters.kinds();
        let mut column = vec![usize::MAX; n_types];
        for (i, kind) in kinds.iter().enumerate() {
            column[kind.index()] = i;
        }

        let mut totals = Vec::new();
        let mut known: FxHashMap<SmallVec<[i64; 4]>, u32> = FxHashMap::default();
        // Sums of the vertices whose subtree is not complete, from the root down.
        let mut open: Vec<(u32, Vec<i64>)> = Vec::new();
        let mut spare: Vec<Vec<i64>> = Vec::new();
        let past_the_last = std::iter::once(false);
        for (pos, counted) in counted.into_iter().chain(past_the_last).enumerate() {
            while let Some((owner, _)) = open.last()
                && tree.slots[*owner as usize].end as usize <= pos
            {
                let Some((owner, sums)) = open.pop() else {
                    break;
                };
                let slot = &mut tree.slots[owner as usize];
                let row: SmallVec<[i64; 4]> = lanes[slot.kind.index()]
                    .iter()
                    .map(|kind| sums[column[kind.index()]])
                    .collect();
                if !row.is_empty() {
                    let next = u32::try_from(totals.len()).unwrap_or(Tree::NO_TOTALS);
                    slot.totals = *known.entry(row).or_insert_with_key(|row| {
                        totals.push(row.clone());
                        next
                    });
                }
                if let Some((_, above)) = open.last_mut() {
                    for (above, sum) in above.iter_mut().zip(&sums) {
                        *above = above.saturating_add(*sum);
                    }
                }
                spare.push(sums);
            }
            let Some(slot) = tree.slots.get(pos) else {
                break;
            };
            if counted && let Some((_, sums)) = open.last_mut() {
                let sum = &mut sums[column[slot.kind.index()]];
                *sum = sum.saturating_add(tree.sizes[pos]);
            }
            if !slot.leaf {
                let mut sums = spare.pop().unwrap_or_default();
                sums.clear();
                sums.resize(kinds.len(), 0);
                open.push((u32::try_from(pos).unwrap_or(u32::MAX), sums));
            }
        }
        Self { lanes, totals }
    }

    /// Returns the tracked types of vertices of type `kind`, in the order of their lanes.
    pub(crate) fn lanes(&self, kind: TypeId) -> &[TypeId] {
        self.lanes.get(kind.index()).map_or(&[], |lanes| lanes)
    }

    /// Returns how much of each tracked type there is below a vertex, by lane. `None` where the
    /// vertex tracks nothing.
    pub(crate) fn totals(&self, totals: u32) -> Option<&[i64]> {
        self.totals.get(totals as usize).map(|row| &**row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(spec: &str) -> Result<(Filters, Graph), Error> {
        let mut graph = Graph::new();
        Filters::parse(spec, &mut graph).map(|filters| (filters, graph))
    }

    /// Returns the names of the types that vertices of type `anchor` track, in order.
    fn tracked_at(spec: &str, anchor: &str) -> Vec<String> {
        let (filters, mut graph) = parse(spec).unwrap();
        let anchor = graph.intern_type(anchor).unwrap();
        let tracked = filters.tracked_at(anchor);
        tracked.into_iter().map(|kind| graph.type_name(kind).to_owned()).collect()
    }

    #[test]
    fn what_all_track_every_type_tracks_but_itself() {
        assert_eq!(tracked_at("ALL:core,ALL:node", "rack"), ["core", "node"]);
        assert_eq!(tracked_at("ALL:core,ALL:node", "node"), ["core"]);
        assert_eq!(tracked_at("ALL:node,ALL:core", "rack"), ["core", "node"]);
    }

    #[test]
    fn what_a_type_tracks_the_others_do_not() {
        let spec = "rack:node,rack:gpu,node:core";
        assert_eq!(tracked_at(spec, "rack"), ["gpu", "node"]);
        assert_eq!(tracked_at(spec, "node"), ["core"]);
        assert!(tracked_at(spec, "cluster").is_empty());
    }

    #[test]
    fn a_types_own_come_before_those_of_all() {
        assert_eq!(tracked_at("rack:node,ALL:core", "rack"), ["node", "core"]);
    }

    #[test]
    fn all_includes_what_was_named_before_or_is_named_after() {
        for spec in ["rack:core,ALL:core", "ALL:core,rack:core", "ALL:core,ALL:core"] {
            assert_eq!(tracked_at(spec, "rack"), ["core"], "{spec}");
        }
    }

    #[test]
    fn blanks_do_not_matter() {
        let (filters, _) = parse(" ALL : core ,\track:no de").unwrap();
        assert_eq!(filters, parse("ALL:core,rack:node").unwrap().0);
    }

    #[test]
    fn types_become_known_by_being_named() {
        let (filters, graph) = parse("burst:licence").unwrap();
        let licence = graph.type_id("licence").unwrap();
        assert!(filters.tracks(licence));
        assert!(!filters.tracks(graph.type_id("burst").unwrap()));
        assert_eq!(filters.kinds(), [licence]);
    }

    #[test]
    fn faults_are_named_with_their_part() {
        for (spec, part) in [
            ("", ""),
            ("core", "core"),
            ("ALL:core,node", "node"),
            ("ALL:core,", ""),
            (":core", ":core"),
            ("ALL:core,rack: ", "rack: "),
        ] {
            match parse(spec) {
                Err(Error::FilterSpec { given, .. }) => assert_eq!(given, part, "{spec}"),
                other => panic!("{spec}: {other:?}"),
            }
        }
    }
}
