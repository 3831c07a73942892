//! Agents that give no decision.

use crate::rebases::{clash, later};
use crate::small::{AgentScript, project, shell, spec};
use crate::test_run::TestRun;
use interlocking::agents::{Nudges, Script};
use interlocking::prelude::*;
use serde_json::json;
use std::time::Duration;
use v3::types::outcome::{Stuck, V3Outcome};

/// V3-135, V3-136, V3-137: the agent is reminded three times, in these words; that is no attempt, and then the node is stuck.
#[tokio::test]
async fn an_agent_that_decides_nothing_is_reminded() {
    for (agent, title) in
        [("scaffold", "planner"), ("tdd", "test author"), ("impl", "implementer"), ("merger", "merger")]
    {
        let project = project().await;
        let silent = format!("[[turn]]\nagent = \"{agent}\"\ntimes = \"any\"\ntext = \"Hm.\"\n");
        let script =
            Script::parse("a test's script", &(silent + AgentScript::default().honest("top", &[]).text())).unwrap();
        let test = TestRun::new(&project, script, shell);
        let outcome = test.outcome(spec(&[])).await;
        let V3Outcome::Stuck(Stuck { diagnosis, attempts, .. }) = outcome else { panic!("{title}: {outcome}") };
        assert_eq!(attempts, 1, "{title}");
        assert!(diagnosis.starts_with("the agent gave no decision"), "{diagnosis}");
        let calls: Vec<_> = test.agent.calls().into_iter().filter(|call| call.role == agent).collect();
        let reminders = calls.iter().filter(|call| call.prompt == "REMINDER: Emit a decision to complete this phase");
        assert_eq!((reminders.count(), calls.len()), (3, 4), "{title}");
        assert_eq!(project.subjects("main"), ["Begin"]);
        project.is_tidy();
    }
}

/// V3-136, CON-143, EVO-04, EVO-05: the same for a reviewer; a child whose judge or rebaser gives no decision is stuck, and its
/// parent is told, and goes on.
#[tokio::test]
async fn a_reviewer_a_judge_and_a_rebaser_that_decide_nothing() {
    let no_decision = "the agent gave no decision";
    for (agent, title, children) in [
        ("tdd", "# You are the reviewer of `top`", &[][..]),
        ("tdd", "# You judge what `top/a`", &["a", "b"]),
        ("rebaser", "# You are the rebaser of `top/a`", &["a", "b"]),
    ] {
        let project = project().await;
        let silent = format!(
            "[[turn]]\nagent = \"{agent}\"\ncontains = [\"{title}\"]\ntimes = \"any\"\ntext = \"Hm.\"\n\
             [[turn]]\nagent = \"{agent}\"\ncontains = [\"REMINDER\"]\ntimes = \"any\"\ntext = \"Hm.\"\n"
        );
        let others = match children {
            [] => AgentScript::default().honest("top", &[]),
            _ => clash(
                "shared.txt",
                |child| format!("by {child}\n"),
                &json!({ "RebaseClean": { "newBase": "$HEAD" } }),
                &[],
            ),
        };
        let script = Script::parse("a test's script", &(silent + others.text())).unwrap();
        let test = TestRun::new(&project, script, shell);
        let outcome = match children {
            [] => test.outcome(spec(children)).await,
            _ => later(&test, async {}).await,
        };
        let reminders = test.agent.calls().into_iter().filter(|call| call.prompt.starts_with("REMINDER: ")).count();
        assert_eq!(reminders, 3, "{title}");
        let silent = match children {
            [] => outcome,
            _ => {
                assert!(matches!(outcome, V3Outcome::Merged(_)), "{title}: {outcome}");
                let silent = test.result_of(&test.run_of("top/a").await).await.expect(title);
                let told = &test.prompts("implementer of `top`")[0];
                let failed = format!("\n\n## The children that have failed\n\n- top/a: {silent}\n");
                assert!(told.contains(&failed), "V3-157: {told}");
                silent
            }
        };
        let V3Outcome::Stuck(stuck) = &silent else { panic!("{title}: {silent}") };
        assert!(stuck.attempts == 1 && stuck.diagnosis.starts_with(no_decision), "{title}: {stuck:?}");
        project.is_tidy();
    }
}

/// CON-18, V3-135: an agent that shows no activity is interrupted and reminded, three times, each after the run's idle time;
/// then the node is stuck. The default idle time is a minute.
#[tokio::test]
async fn an_agent_that_gives_no_sign_of_life_is_reminded() {
    assert_eq!((Nudges::DEFAULT.idle, Nudges::DEFAULT.limit), (Some(Duration::from_secs(60)), 3));
    let project = project().await;
    let silent = "[[turn]]\nagent = \"impl\"\ntimes = \"any\"\ndelay = \"1h\"\n".to_owned();
    let script =
        Script::parse("a test's script", &(silent + AgentScript::default().honest("top", &[]).text())).unwrap();
    let test = TestRun::new(&project, script, shell);
    let run = test.run().with_nudges(Nudges::DEFAULT.with_idle(Some(Duration::from_secs(1))));
    let stuck = match run.start(spec(&[]).into()).await.unwrap().outcome {
        Outcome::Finished(V3Outcome::Stuck(stuck)) => stuck,
        other => panic!("{other:?}"),
    };
    assert_eq!(stuck.diagnosis, "the agent showed no activity for 1s after 3 reminders");
    let calls = test.agent.calls().into_iter().filter(|call| call.role == "impl");
    let prompts: Vec<_> = calls.skip(1).map(|call| call.prompt).collect();
    assert_eq!(prompts, ["REMINDER: Emit a decision to complete this phase"; 3]);
    project.is_tidy();
}
