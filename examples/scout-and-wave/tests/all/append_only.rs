//! Files to which lines are only added.

use crate::suitability::plan;
use scout_and_wave::protocol::append_only::{lines_of, only_adds, with_lines};
use scout_and_wave::protocol::ownership::waves_of;

/// SAW-112: added lines only, at any position.
#[test]
fn a_line_that_changes_or_goes_is_no_addition() {
    for (before, after) in
        [("a\nb\n", "a\nb\n"), ("a\nb\n", "a\nx\nb\ny\n"), ("", "a\n"), ("a\nb", "a\nb\nc\n"), ("a\na\n", "a\na\na\n")]
    {
        assert!(only_adds(before, after), "{before:?} {after:?}");
    }
    for (before, after) in [
        ("a\nb\n", "a\n"),
        ("a\nb\n", "b\na\n"),
        ("a\nb\n", "a\nB\n"),
        ("a\n", ""),
        ("a\na\n", "a\nb\n"),
        ("a\nb", "a\nbc\n"),
    ] {
        assert!(!only_adds(before, after), "{before:?} {after:?}");
    }
}

/// SAW-29: the lines of a wave's agents, in the plan's order, at the end.
#[test]
fn lines_are_added_wave_by_wave() {
    let plan = plan();
    let waves = waves_of(&plan);
    let shared = &plan.append_only[0];
    let letters = |wave: usize| waves[wave].agents.iter().map(|files| files.agent.clone()).collect::<Vec<_>>();
    let [first, second] = [letters(0), letters(1)];
    let [first, second] = [&first, &second].map(|agents| lines_of(shared, agents).collect::<Vec<_>>());
    assert_eq!(
        (first, second),
        (vec!["pub mod count;", "pub mod frequency;", "pub mod longest;"], vec!["pub mod report;", "pub mod json;"])
    );
    assert_eq!(with_lines("a", ["b", "c"]), "a\nb\nc\n");
    assert_eq!(with_lines("", ["b"]), "b\n");
    assert_eq!(with_lines("a\n", []), "a\n");
}
