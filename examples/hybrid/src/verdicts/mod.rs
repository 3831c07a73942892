//! Judgements on agents' reports and tests' results. Pure functions: the handlers run things, these judge.
//!
//! In the order of a run: the verdict on the types and the [gate](after_adversary); [hints](hardening_hints) and
//! [contexts](tests_context) for the builders; the [answer](rejection_feedback) to tests that are not red and the
//! [coverage](verify_claims) of the tests; the functions that a failure [concerns](affected_functions) and the
//! [decisions](before_fix) of the fix loop; the verdict on the [test suite](test_suite_verdict), [code in fields for
//! prose](code_among_words), and [what is left to do](work_items).

mod contexts;
mod coverage;
mod fix_loop;
mod patterns;
mod language_server;
mod red;
mod mutation;
mod type_system;
mod prose;
mod work_items;

pub use contexts::{echoes, impl_context, mutation_context, tests_context};
pub use coverage::{ClaimMismatch, VerifiedClaims, missing_sketches, verify_claims};
pub use fix_loop::{FixStop, after_fix, after_pass, before_fix};
pub use language_server::{ServerAnswers, verify_claims_by_server};
pub use mutation::{
    critical_survivors, mutation_adversary_result, mutation_detail, mutation_fix_targets, remember_survivors,
    test_suite_verdict, untried_mutants,
};
pub use patterns::affected_functions;
pub use prose::code_among_words;
pub use red::rejection_feedback;
pub use type_system::{Gate, after_adversary, hardening_hints, type_adversary_result, type_system_verdict};
pub use work_items::work_items;
