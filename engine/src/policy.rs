//! What a match policy is: how vertices score and in which order they are preferred.

use std::fmt;

use crate::Properties;

/// What a policy may know of a vertex that it scores.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The id among its like.
    pub id: i64,
    /// The id in the whole graph.
    pub uniq_id: i64,
    /// The sum of what the vertices above it contribute, see [`MatchPolicy::contribution`].
    pub above: i64,
    /// Its properties, if it has any.
    pub properties: Option<&'a Properties>,
}

/// In which order candidates of one type are preferred. Equal ones keep the order in which the
/// traversal finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preference {
    /// Low scores first.
    Ascending,
    /// High scores first.
    Descending,
    /// By runs of consecutive scores, the run with the highest scores first; candidates of one run
    /// are equal.
    DescendingRuns,
}

/// Which order applies where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Preferences {
    /// Among the children of a matched vertex.
    pub children: Preference,
    /// Among the members that slots are made of.
    pub slot_members: Preference,
    /// Among all that the request asks for at its top.
    pub top: Preference,
}

/// What a score depends on, so that the engine can tell scores before it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scoring {
    /// On the id and on [`Candidate::above`] alone: the score is their sum and a constant.
    ById,
    /// On anything.
    Dynamic,
}

/// Scores candidates and says which are preferred.
///
/// Laws: a score depends on the candidate and what stands above it alone, never on what is free;
/// a larger score is not better in itself, [`Preferences`] say what is.
pub trait MatchPolicy: fmt::Debug + Send + Sync {
    /// Returns the score of a vertex that matches.
    fn score(&self, candidate: &Candidate<'_>) -> i64;

    /// Returns what scores depend on.
    fn scoring(&self) -> Scoring {
        Scoring::Dynamic
    }

    /// Returns the types of vertices that add to the scores of everything below them.
    fn contributing_types(&self) -> &[String] {
        &[]
    }

    /// Returns what a vertex of a contributing type adds to [`Candidate::above`] of everything
    /// below it, or `None` when it cannot be scored and so does not match.
    fn contribution(&self, id: i64, uniq_id: i64) -> Option<i64> {
        let _ = (id, uniq_id);
        Some(0)
    }

    /// Returns which order applies where.
    fn preferences(&self) -> Preferences;

    /// Returns the types of vertices that a job always has for itself, with all below them.
    fn exclusive_types(&self) -> &[String] {
        &[]
    }

    /// Returns whether the search ends at the first candidates that suffice, visiting the children
    /// with the most of the last tracked type first.
    fn first_match(&self) -> bool {
        false
    }
}

impl<P: MatchPolicy + ?Sized> MatchPolicy for Box<P> {
    fn score(&self, candidate: &Candidate<'_>) -> i64 {
        (**self).score(candidate)
    }

    fn scoring(&self) -> Scoring {
        (**self).scoring()
    }

    fn contributing_types(&self) -> &[String] {
        (**self).contributing_types()
    }

    fn contribution(&self, id: i64, uniq_id: i64) -> Option<i64> {
        (**self).contribution(id, uniq_id)
    }

    fn preferences(&self) -> Preferences {
        (**self).preferences()
    }

    fn exclusive_types(&self) -> &[String] {
        (**self).exclusive_types()
    }

    fn first_match(&self) -> bool {
        (**self).first_match()
    }
}
