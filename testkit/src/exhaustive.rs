//! The exhaustive traverser: plain, slow and meant to be obviously right.
//!
//! It visits every vertex that a request could mean, depth first, prunes nothing, remembers nothing
//! and forms every candidate before it chooses. It shares no code with the engine but the graph and
//! the policy: it reads requests in the form in which they were made up, and what is held from the
//! [`NaivePlanner`].
//!
//! It answers for the simple traverser, containment alone, and policies that look at all candidates;
//! [`Exhaustive::answers`] says for which requests. For all else the engine's own search without
//! shortcuts stands in as the oracle.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Candidate as Scored, Graph, Interval, MatchPolicy, Preference, Status, Traverser, VertexId,
};

use crate::{Amount, NaivePlanner, Request, ResourceRequest, Setup};

/// When to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Now: what is down or held in the span is out of the question, and what jobs past their end
    /// have for themselves is too.
    Now(Interval),
    /// Later.
    Later(Interval),
    /// When nothing is held and everything is up.
    Ever,
}

/// The traverser.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustive<'a> {
    graph: &'a Graph,
    planner: &'a NaivePlanner,
    policy: &'a dyn MatchPolicy,
    request: &'a Request,
    moment: Moment,
}

/// A vertex of a match: which, how much of it, and whether for one job alone.
pub type Share = (VertexId, u64, bool);

/// How vertices below the root are taken: how much, and whether for one job alone.
type Marks = BTreeMap<VertexId, (u64, bool)>;

/// One vertex that is or could be taken, with what is taken below it.
#[derive(Clone, Debug)]
struct Member {
    vertex: VertexId,
    amount: u64,
    exclusive: bool,
    below: Vec<Member>,
}

/// What can be chosen as one of its kind: a vertex, or the members of a slot.
#[derive(Clone, Debug)]
struct Candidate {
    kind: &'static str,
    score: i64,
    amount: u64,
    members: Vec<Member>,
}

/// A vertex that matched.
struct Matched {
    own: Candidate,
    /// Candidates below it that are left to choose from further up.
    offers: Vec<Candidate>,
}

/// What is known when the walk comes down to a vertex.
#[derive(Clone, Copy)]
struct Above {
    /// Whether nothing matched yet, so that levels may be skipped.
    pristine: bool,
    exclusive: bool,
    score: i64,
}

impl<'a> Exhaustive<'a> {
    /// Returns the traverser for one question.
    pub fn new(
        graph: &'a Graph,
        planner: &'a NaivePlanner,
        policy: &'a dyn MatchPolicy,
        request: &'a Request,
        moment: Moment,
    ) -> Self {
        Self { graph, planner, policy, request, moment }
    }

    /// Returns whether it knows what a request means: there are no siblings of one type and no
    /// alternatives in it, and neither traverser nor policy ends early.
    pub fn answers(setup: Setup, request: &Request) -> bool {
        setup.traverser == Traverser::Simple
            && !setup.policy.policy().first_match()
            && !request.has_like_siblings()
    }

    /// Returns whether there is something to be found, be there a way to it or not.
    pub fn finds(&self) -> bool {
        self.choose().is_some()
    }

    /// Returns the vertices of the match in the order in which they are told, or `None` where there
    /// is no match or no way to it.
    pub fn matches(&self) -> Option<Vec<Share>> {
        let (root, marks) = self.choose()?;
        let mut told = Vec::new();
        self.tell(root.vertex, (root.amount, root.exclusive), false, &marks, &mut told)
            .then_some(told)
    }

    // ---- from the leaves up: what could be taken ---------------------------------------------

    fn visit(&self, vertex: VertexId, wanted: &[ResourceRequest], above: Above) -> Option<Matched> {
        let kind = self.kind(vertex);
        let asked = wanted.iter().find(|resource| resource.kind == kind);
        let mut slot = wanted.iter().chain(asked.iter().flat_map(|asked| &asked.with));
        let slot = slot.rfind(|resource| resource.kind == "slot");
        // A slot beside what is asked for contradicts it.
        if asked.is_some() && wanted.iter().any(|resource| resource.kind == "slot") {
            return None;
        }
        let slot = slot.filter(|slot| slot.with.iter().all(|part| self.has_child(vertex, part)));
        let content = match (slot, asked) {
            (Some(slot), _) => &slot.with,
            (None, Some(asked)) => &asked.with,
            (None, None) if above.pristine => wanted,
            (None, None) => return None,
        };
        let exclusive = above.exclusive || asked.is_some_and(|asked| asked.exclusive == Some(true));
        let amount = self.free(vertex, asked, exclusive)?;
        let added = if self.policy.contributing_types().iter().any(|name| name == kind) {
            self.policy.contribution(self.graph.id(vertex), self.graph.uniq_id(vertex))?
        } else {
            0
        };
        let below = Above {
            pristine: slot.is_none() && asked.is_none(),
            exclusive: exclusive || slot.is_some(),
            score: above.score + added,
        };
        let mut offers = Vec::new();
        for child in self.children(vertex) {
            if let Some(matched) = self.visit(child, content, below) {
                offers.extend(matched.offers);
                offers.push(matched.own);
            }
        }
        if slot.is_some() {
            offers = self.fill_slots(content, &offers);
        }
        let mut taken = Vec::new();
        let order = self.policy.preferences().children;
        for part in asked.iter().flat_map(|asked| &asked.with) {
            taken.extend(choose(&offers, part, order, &mut BTreeSet::new())?);
        }
        if !taken.is_empty() {
            offers.clear();
        }
        let score = self.policy.score(&Scored {
            id: self.graph.id(vertex),
            uniq_id: self.graph.uniq_id(vertex),
            above: above.score,
            properties: self.graph.properties(vertex),
        });
        let members = vec![Member { vertex, amount, exclusive, below: taken }];
        Some(Matched { own: Candidate { kind, score, amount, members }, offers })
    }

    /// Returns how much of a vertex is free, `None` where it is out of the question.
    fn free(
        &self,
        vertex: VertexId,
        asked: Option<&ResourceRequest>,
        exclusive: bool,
    ) -> Option<u64> {
        let condition = self.request.constraint.as_ref();
        let has = |property: &str| {
            self.graph.properties(vertex).is_some_and(|known| known.contains_key(property))
        };
        if self.kind(vertex) == "node" && condition.is_some_and(|condition| !condition.holds(&has))
        {
            return None;
        }
        let shared = asked.is_some_and(|asked| asked.exclusive == Some(false));
        if exclusive && shared {
            return None;
        }
        let size = self.graph.size(vertex);
        let (Moment::Now(span) | Moment::Later(span)) = self.moment else {
            return Some(size);
        };
        if self.graph.status(vertex) == Status::Down {
            return None;
        }
        let overrun = matches!(self.moment, Moment::Now(_)) && self.planner.is_allocated(vertex);
        if asked.is_some() && exclusive && (overrun || self.planner.is_used(vertex, span)) {
            return None;
        }
        Some(size - self.planner.amount(vertex, span)).filter(|&free| free > 0)
    }

    /// Makes as many slots as there are: each takes whole candidates of each of its parts, the
    /// preferred ones first, and what it does not need of the last one is lost to the next slot.
    fn fill_slots(&self, parts: &[ResourceRequest], offers: &[Candidate]) -> Vec<Candidate> {
        let order = self.policy.preferences().slot_members;
        let mut of_parts: Vec<(u64, std::vec::IntoIter<Candidate>)> = Vec::new();
        for part in parts {
            let (per_slot, found) = sorted(offers, part, order, &mut BTreeSet::new());
            if per_slot == 0 {
                return Vec::new();
            }
            of_parts.push((per_slot, found.into_iter()));
        }
        let mut slots = Vec::new();
        while !of_parts.is_empty() {
            let mut slot = Candidate { kind: "slot", score: 1, amount: 1, members: Vec::new() };
            for (per_slot, found) in &mut of_parts {
                let mut got = 0;
                while got < *per_slot {
                    let Some(candidate) = found.next() else { return slots };
                    got += candidate.amount;
                    slot.score += candidate.score;
                    let members = candidate.members.into_iter();
                    slot.members.extend(members.map(|member| Member { exclusive: true, ..member }));
                }
            }
            slots.push(slot);
        }
        slots
    }

    // ---- from the root down: what is taken ---------------------------------------------------

    /// Returns how the root is taken, and what is below it: how much, and whether exclusively.
    fn choose(&self) -> Option<(Member, Marks)> {
        let top = self.graph.root(Graph::CONTAINMENT)?;
        let wanted = &self.request.resources;
        let above = Above { pristine: true, exclusive: false, score: 0 };
        let Matched { own, mut offers } = self.visit(top, wanted, above)?;
        let mut root = own.members[0].clone();
        // The root can be chosen like all else, with nothing above to lead to it.
        offers.push(Candidate { members: Vec::new(), ..own });
        let order = self.policy.preferences().top;
        let mut scores = BTreeSet::new();
        let mut chosen = std::mem::take(&mut root.below);
        for resource in wanted {
            chosen.extend(choose(&offers, resource, order, &mut scores)?);
            if resource.kind == self.kind(top) {
                root.amount = u64::from(resource.count.at_most(root.amount));
            }
        }
        let asked: BTreeSet<&str> = wanted.iter().map(|resource| resource.kind).collect();
        let passed: BTreeSet<&str> = offers.iter().map(|offer| offer.kind).collect();
        let mut marks = BTreeMap::new();
        for member in chosen {
            let mut above = self.graph.parent(member.vertex, Graph::CONTAINMENT);
            mark(member, &mut marks);
            // Levels that matched without being asked for are passed through, and no others.
            while let Some(vertex) = above.filter(|vertex| !marks.contains_key(vertex)) {
                let kind = self.kind(vertex);
                if passed.contains(kind) && !asked.contains(kind) {
                    marks.insert(vertex, (self.graph.size(vertex), false));
                }
                above = self.graph.parent(vertex, Graph::CONTAINMENT);
            }
        }
        Some((root, marks))
    }

    /// Tells a vertex after what is below it, and returns whether anything is held. All below a
    /// vertex of an exclusive type is held with it, in full.
    fn tell(
        &self,
        vertex: VertexId,
        (amount, exclusive): (u64, bool),
        within: bool,
        marks: &Marks,
        told: &mut Vec<Share>,
    ) -> bool {
        let whole = within || self.is_exclusive_type(self.kind(vertex));
        let mut held = exclusive || whole;
        for child in self.children(vertex) {
            let mark = marks.get(&child).copied();
            let mark = if whole { Some((self.graph.size(child), true)) } else { mark };
            if let Some(mark) = mark {
                held |= self.tell(child, mark, whole, marks, told);
            }
        }
        if held {
            let amount = if within { self.graph.size(vertex) } else { amount };
            told.push((vertex, amount, exclusive || whole));
        }
        held
    }

    fn is_exclusive_type(&self, kind: &str) -> bool {
        fn wants(resources: &[ResourceRequest], kind: &str) -> bool {
            let here = |resource: &ResourceRequest| {
                resource.kind == kind && resource.exclusive == Some(true)
            };
            resources.iter().any(|resource| here(resource) || wants(&resource.with, kind))
        }
        self.policy.exclusive_types().iter().any(|name| name == kind)
            || wants(&self.request.resources, kind)
    }

    // ---- the graph ---------------------------------------------------------------------------

    fn kind(&self, vertex: VertexId) -> &'static str {
        let kind = self.graph.type_name(self.graph.kind(vertex));
        crate::graph::KINDS.into_iter().find(|known| *known == kind).unwrap_or("")
    }

    fn children(&self, vertex: VertexId) -> impl Iterator<Item = VertexId> {
        self.graph.children(vertex, Graph::CONTAINMENT).into_iter()
    }

    fn has_child(&self, vertex: VertexId, part: &ResourceRequest) -> bool {
        self.children(vertex).any(|child| self.kind(child) == part.kind)
    }
}

/// Returns the candidates for a request, the preferred ones first, and the largest count that it
/// accepts of what they have. Equal ones stay in the order in which they were found. `scores` are
/// those of the candidates that were sorted for the same vertex, which runs go through.
fn sorted(
    offers: &[Candidate],
    wanted: &ResourceRequest,
    order: Preference,
    scores: &mut BTreeSet<i64>,
) -> (u64, Vec<Candidate>) {
    let mut found: Vec<Candidate> =
        offers.iter().filter(|offer| offer.kind == wanted.kind).cloned().collect();
    scores.extend(found.iter().map(|candidate| candidate.score));
    let run = |mut score: i64| {
        while scores.contains(&(score - 1)) {
            score -= 1;
        }
        score
    };
    match order {
        Preference::Ascending => found.sort_by_key(|candidate| candidate.score),
        Preference::Descending => found.sort_by_key(|candidate| -candidate.score),
        Preference::DescendingRuns => found.sort_by_key(|candidate| -run(candidate.score)),
    }
    let all = found.iter().map(|candidate| candidate.amount).sum();
    (u64::from(wanted.count.at_most(all)), found)
}

/// Returns the members of the candidates that make up what is wanted, `None` where they do not.
fn choose(
    offers: &[Candidate],
    wanted: &ResourceRequest,
    order: Preference,
    scores: &mut BTreeSet<i64>,
) -> Option<Vec<Member>> {
    let (count, found) = sorted(offers, wanted, order, scores);
    let mut got = 0;
    let enough = |candidate: &Candidate| {
        let more = got < count;
        got += candidate.amount;
        more
    };
    let chosen: Vec<Candidate> = found.into_iter().take_while(enough).collect();
    (count > 0).then(|| chosen.into_iter().flat_map(|candidate| candidate.members).collect())
}

fn mark(member: Member, marks: &mut Marks) {
    marks.insert(member.vertex, (member.amount, member.exclusive));
    for member in member.below {
        mark(member, marks);
    }
}

impl Amount {
    /// Returns the largest acceptable count that is not above `limit`, 0 for none.
    pub fn at_most(&self, limit: u64) -> u32 {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let (max, operator, operand) = self.range.unwrap_or((self.min, '+', 1));
        let (mut count, mut largest) = (self.min, 0);
        while count <= max.min(limit) {
            largest = count;
            count = match operator {
                '*' => count * operand,
                '^' => count.pow(operand),
                _ => count + operand,
            };
        }
        largest
    }
}
