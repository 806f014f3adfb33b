//! The laws.

mod answers;
mod matching;
mod state;

use crate::Trial;

/// Something that holds for every scenario.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Its name, which says what holds.
    pub name: &'static str,
    /// Tells what is wrong with a scenario, if anything.
    pub holds: fn(&mut Trial<'_>) -> Result<(), String>,
}

macro_rules! laws {
    ($($module:ident::$name:ident,)*) => {
        /// All laws. What each says precisely, and what it excepts, is written at the function of
        /// its name.
        pub const LAWS: &[Law] = &[$(Law { name: stringify!($name), holds: $module::$name }),*];
    };
}

laws! {
    answers::no_configuration_changes_an_answer,
    answers::asking_without_allocating_changes_nothing,
    answers::what_is_asked_twice_is_answered_twice_alike,
    answers::what_is_refused_changes_nothing,
    matching::fast_equals_exhaustive,
    matching::satisfiable_under_one_policy_is_under_all,
    matching::more_resources_never_make_unsatisfiable,
    matching::a_reservation_is_the_earliest,
    state::no_vertex_is_over_its_size_at_any_tick,
    state::a_cancel_of_all_jobs_leaves_the_engine_as_new,
    state::cancel_after_allocate_restores_the_digest,
    state::refusals_and_questions_leave_the_digest,
    state::allocate_then_update_from_its_own_r_gives_the_same_digest,
    state::partial_cancels_in_any_order_are_one_cancel,
}

impl Law {
    /// Returns the law called `name`.
    pub fn named(name: &str) -> Option<&'static Self> {
        LAWS.iter().find(|law| law.name == name)
    }
}
