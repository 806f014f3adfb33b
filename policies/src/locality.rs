//! The policy that prefers neighbours.

use engine::{Candidate, MatchPolicy, Preference, Preferences, Scoring};

/// Prefers resources whose ids follow each other, high runs first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locality;

impl MatchPolicy for Locality {
    fn score(&self, candidate: &Candidate<'_>) -> i64 {
        candidate.id.saturating_add(2)
    }

    fn scoring(&self) -> Scoring {
        Scoring::ById
    }

    fn preferences(&self) -> Preferences {
        Preferences {
            children: Preference::Descending,
            slot_members: Preference::Descending,
            top: Preference::DescendingRuns,
        }
    }
}
