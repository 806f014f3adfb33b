//! Scenarios: a graph and what happens on it.

use engine::{Engine, Options};
use quickcheck::{Arbitrary, Gen};

use crate::{GraphRecipe, History, Operation, Setup, one_in};

/// A graph, what an engine for it is made with, and a history of requests most of which suit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The graph.
    pub graph: GraphRecipe,
    /// Filters, policy and traverser.
    pub setup: Setup,
    /// What happens.
    pub history: History,
}

impl Scenario {
    /// The second at which the resources end.
    pub const HORIZON: i64 = 600;

    /// Returns options as the scenario has them.
    pub fn options(&self) -> Options {
        Options {
            filters: self.setup.filters.as_str().to_owned(),
            traverser: self.setup.traverser,
            horizon: Self::HORIZON,
            ..Options::default()
        }
    }

    /// Returns whether some type is counted too low at the root: types of leaves that no filter names
    /// are counted there, from the first leaf on, though not all of the type are leaves.
    pub fn miscounts(&self) -> bool {
        let kinds = self.graph.kinds();
        kinds.into_iter().any(|(kind, both)| both && !self.setup.filters.tracks(kind))
    }

    /// Returns an engine as the scenario has it, to which nothing happened.
    pub fn fresh(&self) -> Engine {
        self.engine(self.setup.policy.as_str(), self.options())
    }

    /// Returns an engine to which nothing happened. Its filters are those of the scenario, whatever
    /// `options` say.
    ///
    /// # Panics
    ///
    /// Panics on a policy that does not exist.
    pub fn engine(&self, policy: &str, options: Options) -> Engine {
        let options = Options { filters: self.setup.filters.as_str().to_owned(), ..options };
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
        Self { graph, setup: Setup::arbitrary(g), history }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let Self { graph, setup, history } = self.clone();
        // A shorter history makes all the rest cheaper.
        let parts = (history, setup, graph);
        Box::new(parts.shrink().map(|(history, setup, graph)| Self { graph, setup, history }))
    }
}
