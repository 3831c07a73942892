//! Attempts: counted by the runtime, shown to the agent, at most five.

use crate::small::{Act, AgentScript, Who, append, project, sh, spec, test_run};
use serde_json::{Value, json};
use v3::types::outcome::{Stuck, V3Outcome};

fn retry() -> Value {
    json!({ "RequestRetry": {
        "diagnosis": "It says nothing.", "strategyFrom": "waiting", "strategyTo": "asking", "failingTests": ["one_holds"],
    } })
}

/// V3-130, V3-132, V3-133, V3-134, V3-114, V3-74, CON-13, CON-16, PRG-11, PRG-46: five attempts, of which the last is announced
/// as the final one; then the node is stuck.
#[tokio::test]
async fn the_fifth_attempt_is_the_last() {
    let project = project().await;
    let test =
        test_run(&project, &AgentScript::default().always(Who::Implementer, "top", &retry(), &[]).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    let V3Outcome::Stuck(Stuck { diagnosis, attempts, spent_loop, .. }) = outcome else { panic!("{outcome}") };
    let spent_loop = spent_loop.as_deref();
    assert_eq!(
        (diagnosis.as_str(), attempts, spent_loop),
        ("failed: It says nothing.", 5, Some("implement → implement"))
    );
    let prompts = test.prompts("implementer");
    assert_eq!(prompts.len(), 5);
    for (number, prompt) in (1..).zip(&prompts) {
        assert!(prompt.contains(&format!("This is attempt {number} of 5.")), "{prompt}");
        assert_eq!(prompt.contains("It is the final one: succeed, or emit `Stuck`."), number == 5, "{prompt}");
        // V3-84, V3-157: the report of the previous attempt, in a section of its own.
        let told = "\n\n## Your last attempt\n\nIt says nothing. The strategy changes from \"waiting\" to \"asking\". \
                    Failing: one_holds.";
        assert_eq!(prompt.contains(told), number > 1, "{prompt}");
        // V3-71: one record for each attempt.
        assert_eq!(prompt.matches("- waiting: failed: It says nothing.").count(), number - 1, "{prompt}");
    }
    project.is_tidy();
    assert_eq!(project.subjects("main"), ["Begin"]);
}

/// V3-71: the next attempt continues the work of an unfinished attempt, which is reported as progress.
#[tokio::test]
async fn what_is_unfinished_is_kept() {
    let project = project().await;
    let begun = [append("src/top.txt", "half\n")];
    let test =
        test_run(&project, &AgentScript::default().once(Who::Implementer, "top", &retry(), &begun).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert!(test.prompts("implementer")[1].contains("- waiting: partial: It says nothing."));
    assert_eq!(project.git(&["show", "main:src/top.txt"]), "stub\nhalf\ndone\n");
}

/// V3-71: so is the rest of it, if there is a repository inside the workspace: the agent is told what cannot be committed.
#[tokio::test]
async fn what_is_unfinished_is_kept_beside_a_repository() {
    let project = project().await;
    let begun = [append("src/top.txt", "half\n"), sh("git init -q inner && echo all > inner/file")];
    let removes = [sh("rm -r inner"), append("src/top.txt", "done\n"), Act::Commit];
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let script = AgentScript::default()
        .once(Who::Implementer, "top", &retry(), &begun)
        .once(Who::Implementer, "top", &passed, &begun[1..])
        .once(Who::Implementer, "top", &passed, &removes);
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = test.prompts("implementer");
    for told in &told[1..] {
        assert!(told.contains("git repositories inside the worktree: inner"), "{told}");
    }
    assert!(told[1].contains("- waiting: partial: "), "{}", told[1]);
    assert_eq!((told.len(), project.git(&["show", "main:src/top.txt"]).as_str()), (3, "stub\nhalf\ndone\n"));
    project.is_tidy();
}

/// V3-71, V3-80: a merge that is not finished cannot be committed. What the agent has committed stays, and it is told.
#[tokio::test]
async fn an_unfinished_merge_is_aborted() {
    let project = project().await;
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let merges =
        sh("git checkout -q -b other && echo theirs >> src/top.txt && git commit -qam theirs && git checkout -q - \
                     && echo ours >> src/top.txt && git commit -qam ours; git merge -q other; git branch -qD other");
    let script = AgentScript::default().once(Who::Implementer, "top", &retry(), std::slice::from_ref(&merges)).once(
        Who::Implementer,
        "top",
        &passed,
        &[merges],
    );
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = test.prompts("implementer");
    for told in &told[1..] {
        assert!(told.contains("a merge, cherry-pick or revert unfinished: it was aborted"), "{told}");
        assert!(!told.contains("not committed these files"), "{told}");
    }
    assert!(told[1].contains("- waiting: partial: "), "{}", told[1]);
    assert_eq!((told.len(), project.git(&["show", "main:src/top.txt"]).as_str()), (3, "stub\nours\nours\ndone\n"));
    project.is_tidy();
}

/// V3-131: an agent that gives a count of its own is corrected, and the runtime's count stays.
#[tokio::test]
async fn an_agent_cannot_count() {
    let project = project().await;
    let mut lie = retry();
    lie["RequestRetry"]["attemptCount"] = json!(1);
    let stuck = json!({ "Stuck": { "diagnosis": "No way.", "recommendation": "Ask.", "attempts": 99 } });
    let script = AgentScript::default()
        .once(Who::Implementer, "top", &lie, &[])
        .always(Who::Implementer, "top", &stuck, &[])
        .correcting("impl", &retry())
        .honest("top", &[]);
    let test = test_run(&project, &script);
    let outcome = test.outcome(spec(&[])).await;
    let V3Outcome::Stuck(Stuck { attempts, spent_loop, .. }) = outcome else { panic!("{outcome}") };
    assert_eq!(spent_loop, None, "it knows no other way");
    assert_eq!(attempts, 2, "one that was corrected, and the one that is stuck (V3-117)");
}

/// V3-150, PRG-07, CON-38, EVO-08: an agent that answers by tools has the same result; of several decisions the first counts.
#[tokio::test]
async fn an_agent_decides_by_tools() {
    let project = project().await;
    let decides = "[[turn]]\nagent = \"impl\"\n[[turn.append]]\npath = \"src/top.txt\"\ncontent = \"done\\n\"\n\
                   [[turn.commit]]\nmessage = \"work\"\n\
                   [[turn.decide]]\ntool = \"TestsPassed\"\ninput = { commitHash = \"$HEAD\", iterations = 1, passedTests = [] }\n\
                   [[turn.decide]]\ntool = \"Stuck\"\ninput = { diagnosis = \"D.\", recommendation = \"R.\", attempts = 1 }\n";
    let script = interlocking::agents::Script::parse(
        "a test's script",
        &(decides.to_owned() + AgentScript::default().honest("top", &[]).text()),
    );
    let test = crate::test_run::TestRun::new(&project, script.unwrap(), crate::small::shell);
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(test.prompts("implementer").len(), 1);
}
