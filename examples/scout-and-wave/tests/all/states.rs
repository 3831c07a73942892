//! The permitted transitions between states.

use scout_and_wave::protocol::state::{BlockReason, State, UndefinedTransition};

fn all() -> Vec<State> {
    use State::*;
    let states = [Idle, Checking, Scouting, Reviewed, WavePending, WaveExecuting, WaveMerging, WaveVerified];
    let blocked = BlockReason::ALL.map(Blocked);
    states.into_iter().chain(blocked).chain([Complete, NotSuitable]).collect()
}

/// SAW-18, SAW-34, SAW-106, SAW-107: the whole matrix. Any other transition is a typed error, and changes
/// nothing.
#[test]
fn the_matrix_is_the_protocols() {
    use BlockReason::{AgentFailure, Contract, Ownership, Verification};
    use State::*;
    let ways = [
        // SAW-20, SAW-23
        (Idle, vec![Checking, Scouting, WavePending]),
        (Checking, vec![Idle]),
        // SAW-21, CON-98
        (Scouting, vec![Reviewed, NotSuitable]),
        // SAW-22
        (Reviewed, vec![WavePending, Scouting]),
        (WavePending, vec![WaveExecuting, Blocked(Contract), Blocked(Ownership)]),
        (
            WaveExecuting,
            vec![WaveMerging, WaveVerified, Blocked(Verification), Blocked(AgentFailure), Blocked(Contract)],
        ),
        (
            WaveMerging,
            vec![WaveVerified, Blocked(Verification), Blocked(AgentFailure), Blocked(Contract), Blocked(Ownership)],
        ),
        (WaveVerified, vec![WavePending, Complete]),
        // CON-97
        (Blocked(Verification), vec![WaveVerified]),
        (Blocked(AgentFailure), vec![WaveExecuting, WaveMerging]),
        (Blocked(Contract), vec![WavePending]),
        (Blocked(Ownership), vec![WavePending]),
        (Complete, vec![]),
        (NotSuitable, vec![]),
    ];
    for from in all() {
        let (_, allowed) = ways.iter().find(|(state, _)| *state == from).unwrap();
        for to in all() {
            let mut now = from;
            match allowed.contains(&to) {
                true => assert_eq!((now.go_to(to), now), (Ok(()), to)),
                false => assert_eq!((now.go_to(to), now), (Err(UndefinedTransition { from, to }), from)),
            }
        }
    }
}

#[test]
fn states_are_called_as_the_protocol_calls_them() {
    let names: Vec<_> = all().iter().map(ToString::to_string).collect();
    assert_eq!(
        names.join(" "),
        "IDLE CHECKING SCOUTING REVIEWED WAVE_PENDING WAVE_EXECUTING WAVE_MERGING WAVE_VERIFIED BLOCKED (Verification) \
         BLOCKED (AgentFailure) BLOCKED (Contract) BLOCKED (Ownership) COMPLETE NOT_SUITABLE"
    );
    for state in all() {
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
    }
    let undefined = State::Complete.clone().go_to(State::Idle).unwrap_err();
    assert_eq!(undefined.to_string(), "the protocol has no transition from COMPLETE to IDLE");
}
