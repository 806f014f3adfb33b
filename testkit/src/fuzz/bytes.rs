//! Scenarios from bytes.
//!
//! Every string of bytes is a scenario, and a small change of it is a similar one, which is what a
//! fuzzer lives on. Requests are shaped more freely than those of [`quickcheck`]: levels, slots and
//! pools stand above each other in any order.

use engine::{MatchOp, Status, Traverser};

use crate::graph::PROPERTIES;
use crate::{
    Amount, Condition, FilterSpec, GraphRecipe, History, Operation, Part, PolicyName, Request,
    ResourceRequest, Scenario, Setup, VertexRecipe,
};

/// Most vertices below one, and most requests side by side.
const WIDTH_MAX: usize = 4;
/// Most operations.
const OPERATIONS_MAX: usize = 24;

/// Choices, each made by one byte, the first one where there are no bytes any more.
pub(super) struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl<'a> Bytes<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self(data.iter())
    }

    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// Returns a number below `bound`, or 0 where there is none.
    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()).checked_rem(bound).unwrap_or(0)
    }

    fn small(&mut self, bound: u32) -> u32 {
        u32::from(self.byte()).checked_rem(bound).unwrap_or(0)
    }

    /// Returns true in one of `n` cases, and not where there are no bytes any more.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// Returns one of `choices`, of which there is at least one.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn list<T>(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| item(self)).collect()
    }
}

impl Scenario {
    /// Returns the scenario that the bytes stand for.
    pub(super) fn decode(bytes: &mut Bytes<'_>) -> Self {
        let setup = Setup {
            policy: bytes.pick(&PolicyName::all().collect::<Vec<_>>()),
            traverser: bytes.pick(&[Traverser::Simple, Traverser::Simple, Traverser::Flexible]),
            filters: bytes.pick(&FilterSpec::all().collect::<Vec<_>>()),
        };
        let graph = GraphRecipe::decode(bytes);
        let mut operations: Vec<Operation> = Vec::new();
        while operations.len() < OPERATIONS_MAX && bytes.0.len() > 0 {
            let operation = Operation::decode(bytes, &operations);
            operations.push(operation);
        }
        Self { graph, setup, history: History(operations) }
    }
}

impl GraphRecipe {
    fn decode(bytes: &mut Bytes<'_>) -> Self {
        let falling = bytes.one_in(4);
        let levels = bytes.pick(&[
            &["node"][..],
            &["rack", "node"],
            &["node", "socket"],
            &["rack", "node", "socket"],
        ]);
        let root = VertexRecipe::decode(bytes, "cluster", 0, levels);
        Self { root, falling }
    }
}

impl VertexRecipe {
    fn decode(bytes: &mut Bytes<'_>, kind: &'static str, id: i64, levels: &[&'static str]) -> Self {
        let mut vertex = Self::new(kind, id);
        let flags = bytes.byte();
        if flags & 0xf == 0xf {
            vertex.status = Status::Down;
        }
        if kind == "node" {
            let chosen = PROPERTIES.iter().zip([0x10, 0x20]);
            vertex.properties =
                chosen.filter(|(_, bit)| flags & bit != 0).map(|(&name, _)| name).collect();
        }
        let Some((&next, lower)) = levels.split_first() else {
            for kind in ["core", "gpu", "memory"] {
                vertex.add_pools(bytes, kind);
            }
            return vertex;
        };
        // The same again, if that is wanted, so that there are shapes to share.
        let alike = flags & 0x40 != 0;
        let n = 1 + bytes.below(WIDTH_MAX);
        let mut id = 0;
        for _ in 0..n {
            let child = match vertex.below.last() {
                Some(last) if alike => Self { id, ..last.clone() },
                _ => Self::decode(bytes, next, id, lower),
            };
            vertex.below.push(child);
            id += if flags & 0x80 != 0 { 3 } else { 1 };
        }
        if flags & 0x80 != 0 {
            vertex.below.reverse();
            // Something that belongs to no vertex of the next level.
            vertex.add_pools(bytes, "memory");
        }
        vertex
    }

    /// Adds vertices of one type, their number, sizes and statuses told by one byte.
    fn add_pools(&mut self, bytes: &mut Bytes<'_>, kind: &'static str) {
        let told = bytes.byte();
        let size = [1, 1, 2, 8][usize::from(told >> 3 & 3)];
        for id in 0..i64::from(told & 7) % 5 {
            let status = if told & 0x20 != 0 && id == 1 { Status::Down } else { Status::Up };
            let size = if told & 0x40 != 0 && id == 2 { size * 4 } else { size };
            let id = if told & 0x80 != 0 { 10 - 2 * id } else { id };
            self.below.push(Self { size, status, ..Self::new(kind, id) });
        }
    }
}

impl Operation {
    fn decode(bytes: &mut Bytes<'_>, before: &[Self]) -> Self {
        match bytes.below(8) {
            0 if bytes.one_in(4) => {
                let job = bytes.byte();
                let part = bytes.pick(&[Part::Rank, Part::Vertex])(bytes.byte());
                Self::Release(job, part)
            }
            0 => Self::Cancel(bytes.byte()),
            1 => {
                let status = bytes.pick(&[Status::Up, Status::Down]);
                Self::SetStatus(bytes.byte(), status)
            }
            n => {
                let op = bytes.pick(&MatchOp::all()).1;
                let op = if n < 6 { MatchOp::AllocateOrelseReserve } else { op };
                let wait = bytes.pick(&[0, 0, 0, 1, 2, 5, 30]);
                let same = before.iter().rev().find_map(|operation| match operation {
                    Self::Match { request, .. } => Some(request),
                    _ => None,
                });
                let request = match same {
                    Some(same) if bytes.one_in(2) => same.clone(),
                    _ => Request::decode(bytes),
                };
                Self::Match { op, wait, request }
            }
        }
    }
}

impl Request {
    fn decode(bytes: &mut Bytes<'_>) -> Self {
        let duration = bytes.pick(&[0, 1, 5, 10, 10, 20, 60, 60]);
        let constraint = bytes.one_in(8).then(|| Condition::decode(bytes, 2));
        let mut resources = vec![ResourceRequest::decode(bytes, 4)];
        if bytes.one_in(6) {
            resources.push(ResourceRequest::decode(bytes, 4));
        }
        Self { resources, duration, constraint }
    }
}

impl ResourceRequest {
    fn decode(bytes: &mut Bytes<'_>, depth: u32) -> Self {
        const KINDS: [&str; 10] = [
            "slot", "core", "node", "slot", "memory", "gpu", "socket", "rack", "xor_slot",
            "cluster",
        ];
        let kind = bytes.pick(&KINDS);
        let count = Amount::decode(bytes);
        let exclusive = bytes.pick(&[None, None, None, Some(true), Some(false)]);
        let is_pool = ["core", "memory", "gpu"].contains(&kind);
        let with = match depth {
            0 => Vec::new(),
            _ if is_pool && !bytes.one_in(16) => Vec::new(),
            _ => bytes.list(WIDTH_MAX - 1, |bytes| Self::decode(bytes, depth - 1)),
        };
        Self { kind, count, exclusive, with }
    }
}

impl Amount {
    fn decode(bytes: &mut Bytes<'_>) -> Self {
        let min = 1 + bytes.small(4);
        if !bytes.one_in(4) {
            return Self { min, range: None };
        }
        let (operator, operand) = bytes.pick(&[('+', 1), ('+', 2), ('*', 2), ('^', 2)]);
        let min = if operator == '^' { min.max(2) } else { min };
        let most = bytes.pick(&[0, 1, 2, 5, 3_000_000_000]);
        Self { min, range: Some((min + most, operator, operand)) }
    }
}

impl Condition {
    fn decode(bytes: &mut Bytes<'_>, depth: u32) -> Self {
        match bytes.below(3) {
            1 if depth > 0 => Self::Or(bytes.list(2, |bytes| Self::decode(bytes, depth - 1))),
            2 if depth > 0 => Self::Not(Box::new(Self::decode(bytes, depth - 1))),
            _ => {
                let property = bytes.pick(&PROPERTIES);
                let sign = bytes.pick(&["", "^"]);
                Self::Properties(vec![format!("{sign}{property}")])
            }
        }
    }
}
