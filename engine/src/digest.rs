//! Digests: a number that tells whether two states are the same.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::Xxh3;

use crate::engine::Engine;
use crate::planner::{Held, Plan};
use crate::{Graph, JobId, Status, SubsystemId, VertexId};

/// What [`Engine::digest`] tells. Printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub u128);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// XXH3 over numbers and texts, each of which says where it ends.
struct Hasher(Box<Xxh3>);

impl Hasher {
    fn new() -> Self {
        Self(Box::new(Xxh3::new()))
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn signed(&mut self, number: i64) {
        self.0.update(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn flags(&mut self, flags: &[bool]) {
        self.number(flags.iter().fold(0, |all, &flag| all << 1 | u64::from(flag)));
    }

    fn optional<T>(&mut self, value: Option<T>, hash: impl FnOnce(&mut Self, T)) {
        self.flags(&[value.is_some()]);
        if let Some(value) = value {
            hash(self, value);
        }
    }
}

/// A vertex that has no number.
const NONE: u32 = u32::MAX;

impl Engine {
    /// Returns a number that is equal for two engines if graph, statuses, properties and what jobs
    /// hold are: 128 bits of XXH3, good against accidents and not against forgery.
    ///
    /// It does not depend on the ids of vertices, on the order in which things happened, nor on whether
    /// a subtree is held as a whole or vertex by vertex. What is nobody's counts without an id. What
    /// only decides later answers (weights of edges, labels, counters, amounts that were lowered when
    /// the graph shrank) is left out: a snapshot has it.
    ///
    /// **Complexity**: O(|V| + |E| + what is held).
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        let order = self.graph.canonical_order();
        self.graph.hash(&order, &mut hasher);
        let jobs = || self.jobs.iter().filter(|entry| !self.is_nobody(*entry.0));
        hasher.number(jobs().count() as u64);
        for (job, known) in jobs() {
            let span = known.span;
            hasher.number(job.0);
            hasher.signed(span.interval.start);
            hasher.signed(span.interval.end);
            hasher.flags(&[span.reserved, known.over]);
        }
        self.hash_holds(&order, &mut hasher);
        Digest(hasher.0.digest128())
    }

    fn hash_holds(&self, order: &[VertexId], hasher: &mut Hasher) {
        let full = self.full_holds();
        for (number, &vertex) in order.iter().enumerate() {
            let Some(pos) = self.tree.position(vertex) else { continue };
            let Some(plan) = self.plan(pos) else { continue };
            let above = self.tree.ancestors(pos).next().filter(|_| !self.tree.shared);
            // What is held because all above it is, is told there.
            let told = |job| {
                above.is_some_and(|above| {
                    full.contains(&(above, job))
                        && self.held(above, job).is_some_and(|held| !held.subtree)
                })
            };
            let mut nobodys = Vec::new();
            for (&job, held) in plan.held().iter().filter(|&(&job, _)| !told(job)) {
                let subtree = full.contains(&(pos, job)) && !self.tree.children(pos).is_empty();
                if self.is_nobody(job) {
                    let mut own = Hasher::new();
                    hash_held(held, subtree, &mut own);
                    nobodys.push(own.0.digest128());
                } else {
                    hasher.number(number as u64);
                    hasher.number(job.0);
                    hash_held(held, subtree, hasher);
                }
            }
            nobodys.sort_unstable();
            for digest in nobodys {
                hasher.number(number as u64);
                hasher.0.update(&digest.to_le_bytes());
            }
        }
    }

    /// Returns where jobs hold everything below, written out or not.
    fn full_holds(&self) -> FxHashSet<(u32, JobId)> {
        let mut full = FxHashSet::default();
        for pos in self.touched.iter().rev() {
            let held = self.plan(pos).into_iter().flat_map(Plan::held);
            for (&job, held) in held {
                // What has two parents is not held with either.
                let written_out = || {
                    !self.tree.shared
                        && self.tree.children(pos).iter().all(|&child| {
                            full.contains(&(child, job)) && self.is_inherited(child, job, held)
                        })
                };
                if held.subtree || written_out() {
                    full.insert((pos, job));
                }
            }
        }
        full
    }

    /// Returns whether a job holds a vertex as it would if it held everything from its parent down.
    fn is_inherited(&self, pos: u32, job: JobId, above: &Held) -> bool {
        let totals = self.aggregates.totals(self.tree.slots[pos as usize].totals);
        self.held(pos, job).is_some_and(|held| {
            let Held { interval, planned, reserved, user, tagged, subtree: _, counts } = held;
            (*interval, *reserved) == (above.interval, above.reserved)
                && (*user, *tagged) == (above.user, above.tagged)
                && *planned == Some(self.tree.sizes[pos as usize])
                && counts.as_deref() == totals
        })
    }
}

fn hash_held(held: &Held, subtree: bool, hasher: &mut Hasher) {
    hasher.signed(held.interval.start);
    hasher.signed(held.interval.end);
    hasher.optional(held.planned, Hasher::signed);
    hasher.flags(&[held.reserved, held.user, held.tagged, subtree]);
    hasher.optional(held.counts.as_ref(), |hasher, counts| {
        hasher.number(counts.len() as u64);
        counts.iter().for_each(|&count| hasher.signed(count));
    });
}

impl Graph {
    /// Returns the vertices that belong to something, in the order in which a walk over the edges of
    /// all subsystems comes to them.
    fn canonical_order(&self) -> Vec<VertexId> {
        let mut seen = vec![false; self.n_vertices()];
        let mut order = Vec::with_capacity(self.n_vertices());
        let roots =
            self.sorted_subsystems().into_values().filter_map(|subsystem| self.root(subsystem));
        let others = self.vertices().filter(|&vertex| self.belongs(vertex));
        let mut stack = Vec::new();
        for start in roots.chain(others) {
            stack.push(start);
            while let Some(vertex) = stack.pop() {
                if !std::mem::replace(&mut seen[vertex.index()], true) {
                    order.push(vertex);
                    stack.extend(self.out_edges(vertex).iter().rev().map(|&(target, _)| target));
                }
            }
        }
        order
    }

    fn sorted_subsystems(&self) -> BTreeMap<&str, SubsystemId> {
        self.subsystems().map(|subsystem| (self.subsystem_name(subsystem), subsystem)).collect()
    }

    fn hash(&self, order: &[VertexId], hasher: &mut Hasher) {
        let mut numbers = vec![NONE; self.n_vertices()];
        for (&vertex, number) in order.iter().zip(0..) {
            numbers[vertex.index()] = number;
        }
        let number = |vertex: VertexId| u64::from(numbers[vertex.index()]);
        let subsystems = self.sorted_subsystems();
        for (name, &subsystem) in &subsystems {
            if let Some(root) = self.root(subsystem) {
                hasher.text(name);
                hasher.number(number(root));
            }
        }
        hasher.number(order.len() as u64);
        for &vertex in order {
            hasher.text(self.type_name(self.kind(vertex)));
            hasher.text(self.basename(vertex));
            hasher.optional(self.own_name(vertex), Hasher::text);
            hasher.signed(self.id(vertex));
            hasher.signed(self.uniq_id(vertex));
            hasher.signed(self.rank(vertex));
            hasher.number(self.size(vertex));
            hasher.text(self.unit(vertex));
            hasher.flags(&[self.status(vertex) == Status::Down]);
            hasher.optional(self.properties(vertex), |hasher, properties| {
                hasher.number(properties.len() as u64);
                for (key, value) in properties {
                    hasher.text(key);
                    hasher.text(value);
                }
            });
            for (name, &subsystem) in &subsystems {
                if let Some(path) = self.given_path(vertex, subsystem) {
                    hasher.text(name);
                    hasher.text(path);
                }
            }
            let edges = self.out_edges(vertex);
            hasher.number(edges.len() as u64);
            for (target, subsystem) in edges {
                hasher.number(number(target));
                hasher.text(self.subsystem_name(subsystem));
            }
        }
    }
}
