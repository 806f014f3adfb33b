//! Scenarios: a graph and what happens on it.

use engine::{Engine, Options};
use quickcheck::{Arbitrary, Gen};

use crate::{FilterSpec, GraphRecipe, History, Operation, one_in};

/// A graph, the filters it is counted by, and a history of requests most of which suit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The graph.
    pub graph: GraphRecipe,
    /// The pruning filters.
    pub filters: FilterSpec,
    /// What happens.
    pub history: History,
}

impl Scenario {
    /// Returns an engine that nothing happened to. Its filters are those of the scenario, whatever
    /// `options` say.
    ///
    /// # Panics
    ///
    /// Panics on a policy that does not exist.
    pub fn engine(&self, policy: &str, options: Options) -> Engine {
        let options = Options { filters: self.filters.as_str().to_owned(), ..options };
        let policy = policies::policy(policy).expect("the policy has a name");
        Engine::new(self.graph.build(), policy, options).expect("the graph has a root")
    }
}

impl Arbitrary for Scenario {
    fn arbitrary(g: &mut Gen) -> Self {
        let graph = GraphRecipe::arbitrary(g);
        let mut history = History::arbitrary(g);
        for operation in &mut history.0 {
            if let Operation::Match { request, .. } = operation
                && !one_in(g, 6)
            {
                request.suit(&graph);
            }
        }
        Self { graph, filters: FilterSpec::arbitrary(g), history }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let Self { graph, filters, history } = self.clone();
        let parts = (graph, filters, history);
        Box::new(parts.shrink().map(|(graph, filters, history)| Self { graph, filters, history }))
    }
}
