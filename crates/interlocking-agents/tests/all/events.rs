use interlocking_agents::{AgentEvent, NudgeReason, SchemaViolation, Usage};
use serde_json::json;

use crate::common::id;

#[test]
fn events_have_a_stable_wire_form() {
    let usage = Usage { calls: 1, input_tokens: 2, output_tokens: 3, ..Usage::default() };
    let violations = vec![SchemaViolation { path: "/a".to_owned(), message: "bad".to_owned() }];
    for (event, wire) in [
        (AgentEvent::Started { session: id("s") }, json!({ "event": "started", "session": "s" })),
        (AgentEvent::Text { text: "hi".to_owned() }, json!({ "event": "text", "text": "hi" })),
        (
            AgentEvent::ToolUse { name: "Read".to_owned(), input: json!({ "path": "a" }) },
            json!({ "event": "tool_use", "name": "Read", "input": { "path": "a" } }),
        ),
        (AgentEvent::FileWritten { path: "a/b".into() }, json!({ "event": "file_written", "path": "a/b" })),
        (AgentEvent::FileRemoved { path: "a".into() }, json!({ "event": "file_removed", "path": "a" })),
        (
            AgentEvent::CommandRun { command: vec!["ls".to_owned()], exit: None },
            json!({ "event": "command_run", "command": ["ls"], "exit": null }),
        ),
        (
            AgentEvent::ProviderRetry { attempt: 1, reason: "429".to_owned() },
            json!({ "event": "provider_retry", "attempt": 1, "reason": "429" }),
        ),
        (
            AgentEvent::DecisionIgnored { tool: "Approved".to_owned() },
            json!({ "event": "decision_ignored", "tool": "Approved" }),
        ),
        (AgentEvent::Retry { reason: "429".to_owned() }, json!({ "event": "retry", "reason": "429" })),
        (
            AgentEvent::Nudge { round: 1, reason: NudgeReason::NoDecision },
            json!({ "event": "nudge", "round": 1, "reason": "no_decision" }),
        ),
        (
            AgentEvent::Correction { round: 1, violations },
            json!({ "event": "correction", "round": 1, "violations": [{ "path": "/a", "message": "bad" }] }),
        ),
        (
            AgentEvent::Finished { session: Some(id("s")), usage },
            json!({
                "event": "finished",
                "session": "s",
                "usage": { "calls": 1, "input_tokens": 2, "output_tokens": 3, "cost": 0, "unpriced_calls": 0 }
            }),
        ),
    ] {
        assert_eq!(serde_json::to_value(&event).unwrap(), wire);
        assert_eq!(serde_json::from_value::<AgentEvent>(wire).unwrap(), event);
    }
}
