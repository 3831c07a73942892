use interlocking_agents::scripted::{Unfit, UnusedTurn};
use interlocking_agents::{AgentErrorKind, Disposition, Turn};

use crate::common::{agent, fork, fresh, go_on, run};

async fn answer(agent: &interlocking_agents::ScriptedAgent, turn: Turn) -> String {
    run(agent, turn).await.unwrap().text.unwrap()
}

fn role(role: &str, turn: Turn) -> Turn {
    Turn { role: Some(role.to_owned()), ..turn }
}

#[tokio::test]
async fn the_first_unused_turn_that_fits_is_played() {
    let agent = agent(
        r#"
        [[turn]]
        contains = ["red", "blue"]
        text = "both"
        [[turn]]
        contains = ["red"]
        times = 2
        text = "red"
        [[turn]]
        agent = "critic"
        text = "critic"
        times = "any"
        [[turn]]
        session = "continue"
        text = "continued"
        [[turn]]
        session = "fork"
        text = "forked"
        [[turn]]
        session = "fresh"
        text = "rest"
        "#,
    );
    assert_eq!(answer(&agent, fresh("red and blue")).await, "both");
    assert_eq!(answer(&agent, fresh("red and blue")).await, "red", "the first is used up");
    assert_eq!(answer(&agent, role("critic", fresh("red"))).await, "red", "earlier in the script");
    assert_eq!(answer(&agent, role("critic", fresh("red"))).await, "critic");
    assert_eq!(answer(&agent, role("critic", go_on("write-1", "green"))).await, "critic");
    assert_eq!(agent.unused(), [13, 16, 19].map(|line| UnusedTurn { line, used: 0, expected: 1 }));
    assert_eq!(answer(&agent, fork("write-1", "x")).await, "forked");
    assert_eq!(answer(&agent, go_on("write-1", "x")).await, "continued");
    assert_eq!(answer(&agent, role("writer", fresh("x"))).await, "rest");
    assert_eq!(agent.unused(), []);
}

#[tokio::test]
async fn unused_turns_are_named_by_their_lines() {
    let agent = agent("\n[[turn]]\ncontains = [\"a\"]\n\n[[turn]]\ntimes = 3\n\n[[turn]]\ntimes = \"any\"\n");
    run(&agent, fresh("x")).await.unwrap();
    assert_eq!(
        agent.unused(),
        [
            UnusedTurn { line: 2, used: 0, expected: 1 },
            UnusedTurn { line: 5, used: 1, expected: 3 },
            UnusedTurn { line: 8, used: 0, expected: 1 },
        ]
    );
}

#[tokio::test]
async fn a_prompt_that_fits_no_turn_is_shown_with_what_each_turn_lacked() {
    let agent = agent(
        "[[turn]]\ncontains = [\"Write\", \"rust\"]\n\n[[turn]]\nagent = \"critic\"\ncontains = [\"Review\"]\n\n\
         [[turn]]\nsession = \"fork\"\n",
    );
    run(&agent, fresh("Write about rust")).await.unwrap();
    let error = run(&agent, role("writer", fresh("Write about zig.\nBe brief."))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "script.toml: no turn of the script matches this prompt\n\
         agent: writer, session: fresh\n\
         prompt:\n  \
           | Write about zig.\n  \
           | Be brief.\n\
         turns of the script:\n  \
           line 1: already used (times = 1); the prompt does not contain \"rust\"\n  \
           line 4: for agent \"critic\"; the prompt does not contain \"Review\"\n  \
           line 8: for session = \"fork\""
    );
    assert_eq!(error.disposition(), Disposition::GiveUp);
    let AgentErrorKind::NoMatch(no_match) = *error.kind else { panic!("{error}") };
    assert_eq!(no_match.turns[0].reasons[1], Unfit::Lacks { text: "rust".to_owned() });
}

#[tokio::test]
async fn a_long_prompt_is_shown_in_part_and_kept_in_full() {
    let prompt: String = (1..=40).map(|line| format!("line {line} {}\n", "ä".repeat(200))).collect();
    let error = run(&agent(""), fresh(&prompt)).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("prompt (the first 12 of 40 lines):\n  | line 1 ä"), "{text}");
    assert!(text.contains("ä…\n") && text.contains("line 12") && !text.contains("line 13"), "{text}");
    assert!(text.ends_with("the script has no turns") && text.len() < 4000, "{text}");
    let AgentErrorKind::NoMatch(no_match) = *error.kind else { panic!("{error}") };
    assert_eq!(no_match.prompt, prompt);
}

/// Eight concurrent prompts and eight turns: each turn is played once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_prompts_never_get_the_same_turn() {
    let script: String = (0..8).map(|number| format!("[[turn]]\ndelay = \"1ms\"\ntext = \"{number}\"\n")).collect();
    let agent = std::sync::Arc::new(agent(&script));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let agent = std::sync::Arc::clone(&agent);
            tokio::spawn(async move { answer(&agent, fresh("x")).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers.sort();
    assert_eq!(answers, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}
