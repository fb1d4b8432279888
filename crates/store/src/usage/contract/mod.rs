//! What every usage log does, as tests that run on each of them.

pub(crate) mod labels;
pub(crate) mod quality;
pub(crate) mod searches;

use crate::UsageLog;

/// A log, and what the tests do to it from outside.
pub(crate) trait TestLog {
    /// The log, empty at first.
    fn log(&self) -> &dyn UsageLog;

    /// Opens the log as another process would.
    fn look_from_elsewhere(&self, look: &dyn Fn(&dyn UsageLog));

    /// Runs statements past the log, in the words of what keeps it.
    fn run(&self, sqlite: &str, postgres: &str);

    /// Deletes unjudged searches except the last ones.
    fn purge(&self, retained: i64) -> u64;

    /// Deletes rows of quality up to a number.
    fn purge_quality(&self, last: i64) -> u64;
}

/// Makes a test of each function, which `$run` calls with a log.
macro_rules! contract {
    ($run:path) => {
        $crate::usage::contract::contract! { $run;
            searches:
                a_search_comes_back_as_it_was_recorded_also_to_another_process
                any_text_and_figure_comes_back
                judging_nothing_is_no_judgement
                the_last_word_on_a_passage_counts_and_the_earlier_stay
                what_was_said_of_a_passage_can_be_taken_back_for_its_question
                the_oldest_without_a_judgement_go_and_judged_ones_stay
                recording_keeps_the_log_at_its_size
                what_cannot_be_a_search_is_refused
                damaged_evidence_is_an_error_and_not_a_panic
                threads_share_one_log
                a_scoring_key_of_no_known_form_is_damage_and_names_itself
                judgements_are_those_of_a_simple_model
                the_judged_searches_of_one_query_are_found_by_its_hash_and_namespace;
            labels:
                only_what_was_shown_to_the_same_caller_counts_as_opened
                the_latest_search_that_showed_it_is_credited
                an_answer_that_was_shown_in_part_counts_by_that_part
                openings_go_with_their_search_and_with_the_telemetry
                what_was_shown_twice_is_opened_once_in_the_order_shown
                a_search_looked_for_too_far_back_is_not_credited;
            quality:
                trap_a_query_that_found_nothing_is_recorded_like_any_other
                a_search_and_its_quality_are_recorded_together_or_not_at_all
                a_period_holds_its_beginning_and_not_its_end_and_the_last_ones_come
                searches_of_a_period_are_named_in_their_order
                numbers_that_are_none_are_left_out
                the_oldest_rows_go
                purging_deletes_what_nobody_judged_and_says_how_much
                what_is_recorded_of_a_query_comes_back_also_to_another_process
                any_row_comes_back;
        }
    };
    ($run:path; $($module:ident: $($name:ident)*;)*) => {
        $($(
            #[test]
            fn $name() {
                $run(&$crate::usage::contract::$module::$name);
            }
        )*)*
    };
}
pub(crate) use contract;
