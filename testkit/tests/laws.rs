//! The laws, each put to enough cases to find what is wrong in a minute, as far as anything is.
//!
//! `TESTKIT_CASES=1000000` asks for more, `TESTKIT_SEED` for others; `testkit soak` goes on for as
//! long as one likes.

use testkit::{LAWS, Law, hold};

macro_rules! laws {
    ($($name:ident: $cases:literal,)*) => {
        $(#[test]
        fn $name() {
            hold(Law::named(stringify!($name)).expect("there is such a law"), $cases);
        })*

        #[test]
        fn each_law_is_put_to_cases() {
            let put: Vec<&str> = vec![$(stringify!($name)),*];
            assert_eq!(put, LAWS.iter().map(|law| law.name).collect::<Vec<_>>());
        }
    };
}

laws! {
    no_configuration_changes_an_answer: 1500,
    asking_without_allocating_changes_nothing: 3000,
    what_is_asked_twice_is_answered_twice_alike: 3000,
    what_is_refused_changes_nothing: 3000,
    fast_equals_exhaustive: 4000,
    satisfiable_under_one_policy_is_under_all: 6000,
    more_resources_never_make_unsatisfiable: 6000,
    a_reservation_is_the_earliest: 3000,
    no_vertex_is_over_its_size_at_any_tick: 3000,
    a_cancel_of_all_jobs_leaves_the_engine_as_new: 3000,
    cancel_after_allocate_restores_the_digest: 3000,
    refusals_and_questions_leave_the_digest: 3000,
    allocate_then_update_from_its_own_r_gives_the_same_digest: 3000,
    partial_cancels_in_any_order_are_one_cancel: 4000,
}
