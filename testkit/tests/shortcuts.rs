//! Shortcuts never change an answer: the search without them, which looks at everything, is the
//! oracle.

use engine::{Options, Shortcuts, Traverser};
use quickcheck::TestResult;
use testkit::{FilterSpec, GraphRecipe, History, check, engine};

const EACH_ALONE: [Shortcuts; 3] = [
    Shortcuts::ALL,
    Shortcuts { best_first: true, ..Shortcuts::NONE },
    Shortcuts { shapes: true, ..Shortcuts::NONE },
];

fn answers_are_equal(
    graph: &GraphRecipe,
    history: &History,
    filters: FilterSpec,
    traverser: Traverser,
    with: &[Shortcuts],
) -> TestResult {
    for policy in policies::names() {
        let answers = |shortcuts| {
            let filters = filters.as_str().to_owned();
            let options = Options { filters, traverser, shortcuts, ..Options::default() };
            history.run(&mut engine(graph, policy, options))
        };
        let expected = answers(Shortcuts::NONE);
        for &shortcuts in with {
            let given = answers(shortcuts);
            let differ =
                given.iter().zip(&expected).position(|(given, expected)| given != expected);
            if let Some(at) = differ {
                return TestResult::error(format!(
                    "{policy}, {traverser:?}, {shortcuts:?}: the answer to operation {at} is\n\
                     {:?}\nand without shortcuts\n{:?}",
                    given[at], expected[at]
                ));
            }
        }
    }
    TestResult::passed()
}

#[test]
fn shortcuts_never_change_an_answer() {
    fn law(graph: GraphRecipe, history: History, filters: FilterSpec) -> TestResult {
        answers_are_equal(&graph, &history, filters, Traverser::Simple, &EACH_ALONE[..1])
    }
    check(60, law as fn(GraphRecipe, History, FilterSpec) -> TestResult);
}

#[test]
fn shortcuts_never_change_an_answer_of_the_flexible_traverser() {
    fn law(graph: GraphRecipe, history: History, filters: FilterSpec) -> TestResult {
        answers_are_equal(&graph, &history, filters, Traverser::Flexible, &EACH_ALONE[..1])
    }
    check(60, law as fn(GraphRecipe, History, FilterSpec) -> TestResult);
}

#[test]
fn no_shortcut_alone_changes_an_answer() {
    fn law(graph: GraphRecipe, history: History, filters: FilterSpec) -> TestResult {
        answers_are_equal(&graph, &history, filters, Traverser::Simple, &EACH_ALONE[1..])
    }
    check(30, law as fn(GraphRecipe, History, FilterSpec) -> TestResult);
}
