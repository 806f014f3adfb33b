//! Policies that prefer vertices by their ids.

use engine::{Candidate, MatchPolicy, Preference, Preferences, Scoring};

/// What a node adds to the scores below it is this times its id and one, so that the node decides
/// first; its unique id breaks ties.
const NODE_FACTOR: i64 = 10_000;

/// Whether low or high ids are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Low ids first.
    Low,
    /// High ids first.
    High,
}

/// Prefers vertices by id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdOrder {
    direction: Direction,
    first_match: bool,
    contributing_types: Vec<String>,
    exclusive_types: Vec<String>,
}

impl IdOrder {
    /// Returns the policy that prefers low or high ids.
    pub fn new(direction: Direction) -> Self {
        Self {
            direction,
            first_match: false,
            contributing_types: Vec::new(),
            exclusive_types: Vec::new(),
        }
    }

    /// Whether the id of the node above comes before the id of the resource itself.
    #[must_use]
    pub fn node_centric(mut self, yes: bool) -> Self {
        self.contributing_types = node_if(yes);
        self
    }

    /// Whether jobs do not share nodes.
    #[must_use]
    pub fn node_exclusive(mut self, yes: bool) -> Self {
        self.exclusive_types = node_if(yes);
        self
    }

    /// Whether the search ends at the first resources that suffice.
    #[must_use]
    pub fn first_match(mut self, yes: bool) -> Self {
        self.first_match = yes;
        self
    }
}

fn node_if(yes: bool) -> Vec<String> {
    if yes { vec!["node".to_owned()] } else { Vec::new() }
}

impl MatchPolicy for IdOrder {
    fn score(&self, candidate: &Candidate<'_>) -> i64 {
        candidate.above.saturating_add(candidate.id).saturating_add(2)
    }

    fn contributing_types(&self) -> &[String] {
        &self.contributing_types
    }

    fn contribution(&self, id: i64, uniq_id: i64) -> Option<i64> {
        if id < -1 || uniq_id < 0 {
            return None;
        }
        let whole = id.checked_add(2)?.checked_mul(NODE_FACTOR)?;
        whole.checked_add((uniq_id % NODE_FACTOR - 1).abs())
    }

    fn scoring(&self) -> Scoring {
        Scoring::ById
    }

    fn preferences(&self) -> Preferences {
        let preference = match self.direction {
            Direction::Low => Preference::Ascending,
            Direction::High => Preference::Descending,
        };
        Preferences { children: preference, slot_members: preference, top: preference }
    }

    fn exclusive_types(&self) -> &[String] {
        &self.exclusive_types
    }

    fn first_match(&self) -> bool {
        self.first_match
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_decides_before_what_is_below_it() {
        let policy = IdOrder::new(Direction::Low).node_centric(true);
        let score = |node: i64, core: i64| {
            let above = policy.contribution(node, node + 2).unwrap();
            policy.score(&Candidate { id: core, uniq_id: 0, above, properties: None })
        };
        assert!(score(0, 47) < score(1, 0));
        assert!(score(3, 0) < score(3, 1));
    }

    #[test]
    fn a_node_without_a_sensible_id_does_not_score() {
        let policy = IdOrder::new(Direction::High).node_centric(true);
        assert_eq!(policy.contribution(-2, 0), None);
        assert_eq!(policy.contribution(i64::MAX, 0), None);
        assert_eq!(policy.contribution(i64::MAX / 100, 0), None);
        assert_eq!(policy.contributing_types(), ["node"]);
    }
}
