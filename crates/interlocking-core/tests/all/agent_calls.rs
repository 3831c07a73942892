//! The calls of a run with those of its child runs.

use interlocking_core::agent_calls::AgentCalls;

#[test]
fn what_children_call_is_added() {
    let calls = |at_most, exact| AgentCalls { at_most: Some(at_most), exact };
    let (three, none) = (calls(3, true), calls(0, true));
    assert_eq!(none.with_children(calls(2, true), three), calls(6, true), "only children call");
    assert_eq!(three.with_children(calls(2, true), none), three, "they call nobody");
    assert_eq!(three.with_children(calls(2, true), three), calls(9, false), "not known to go together");
    assert_eq!(none.with_children(calls(2, false), three), calls(6, false));
    for unknown in [
        AgentCalls::UNKNOWN.with_children(none, none),
        three.with_children(AgentCalls::UNKNOWN, three),
        three.with_children(three, AgentCalls::UNKNOWN),
        three.with_children(calls(u64::MAX, true), calls(2, true)),
    ] {
        assert_eq!(unknown, AgentCalls::UNKNOWN);
    }
}
