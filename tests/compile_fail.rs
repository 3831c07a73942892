//! What must not compile does not, and the error says why in the graph's own words.

/// TC-18: one file a rule, with the compiler's message beside it. One run, because it builds a project of its own. To bless new messages:
/// `TRYBUILD=overwrite cargo test -p interlocking-tests --test compile_fail`, and then read them.
#[test]
fn the_compiler_checks_the_routes() {
    trybuild::TestCases::new().compile_fail("compile-fail/*.rs");
}
