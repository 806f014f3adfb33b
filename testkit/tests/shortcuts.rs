//! Shortcuts never change an answer: the search without them, which looks at everything, is the
//! oracle.

use engine::{Options, Shortcuts, Traverser};
use testkit::{Scenario, check};

const EACH_ALONE: [Shortcuts; 3] = [
    Shortcuts::ALL,
    Shortcuts { best_first: true, ..Shortcuts::NONE },
    Shortcuts { shapes: true, ..Shortcuts::NONE },
];

fn answers_are_equal(
    scenario: &Scenario,
    traverser: Traverser,
    with: &[Shortcuts],
) -> Result<(), String> {
    for policy in policies::names() {
        let answers = |shortcuts| {
            let options = Options { traverser, shortcuts, ..Options::default() };
            scenario.history.run(&mut scenario.engine(policy, options))
        };
        let expected = answers(Shortcuts::NONE);
        for &shortcuts in with {
            let given = answers(shortcuts);
            let differ =
                given.iter().zip(&expected).position(|(given, expected)| given != expected);
            if let Some(at) = differ {
                return Err(format!(
                    "{policy}, {traverser:?}, {shortcuts:?}: the answer to operation {at} is\n\
                     {:?}\nand without shortcuts\n{:?}",
                    given[at], expected[at]
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn shortcuts_never_change_an_answer() {
    check(300, |scenario| answers_are_equal(scenario, Traverser::Simple, &EACH_ALONE[..1]));
}

#[test]
fn shortcuts_never_change_an_answer_of_the_flexible_traverser() {
    check(150, |scenario| answers_are_equal(scenario, Traverser::Flexible, &EACH_ALONE[..1]));
}

#[test]
fn no_shortcut_alone_changes_an_answer() {
    check(50, |scenario| answers_are_equal(scenario, Traverser::Simple, &EACH_ALONE[1..]));
}
