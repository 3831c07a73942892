//! The instructions that tell agents to follow a protocol.

use interlocking_envoy::instruction::{ApproachReference, for_discovery, for_prompt};
use interlocking_envoy::{Prompt, PromptKind};

/// ENV-90: `debugging` for debug prompts, `implementation` for others, `discovery` for each segment, with `_N` if several
/// agents of a kind work.
#[test]
fn agents_are_told_which_protocol_and_with_what() {
    let prompt = |variant: Option<&str>, kind| Prompt {
        feature_branch: "feature/tides".to_owned(),
        number: 3,
        variant: variant.map(|letter| letter.parse().unwrap()),
        kind,
    };
    assert_eq!(
        for_prompt(&prompt(None, PromptKind::Implementation)),
        r#"Run `envoy protocol implementation` and follow the steps. INPUTS: {"feature_branch":"feature/tides","prompt_num":3}"#
    );
    assert_eq!(
        for_prompt(&prompt(Some("B"), PromptKind::Debug)),
        r#"Run `envoy protocol debugging` and follow the steps. INPUTS: {"feature_branch":"feature/tides","prompt_num":3,"variant":"B"}"#
    );
    assert_eq!(
        for_discovery("frontend", None, "the \"tides\" page", &[]),
        r#"Run `envoy protocol discovery` and follow the steps. INPUTS: {"agent_name":"frontend","segment_context":"the \"tides\" page"}"#
    );
    let references = [ApproachReference { specialist_name: "backend_1".to_owned(), approach_num: 2 }];
    assert_eq!(
        for_discovery("backend", "2".parse().ok(), "storage", &references),
        r#"Run `envoy protocol discovery` and follow the steps. INPUTS: {"agent_name":"backend_2","approach_references":[{"approach_num":2,"specialist_name":"backend_1"}],"segment_context":"storage"}"#
    );
}
