//! A tree of two nodes, built by the real Claude Code on a user's repository. Only the model is scripted: a server on loopback
//! plays it.

use crate::killed::Program;
use crate::small::{AgentScript, approved, merged, plan, project, scaffold};
use interlocking_model_server::{ModelServer, Reaction, Request, Script, programs};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const NO_COMMIT: &str = "0000000000000000000000000000000000000000";
const REMINDER: &str = "REMINDER: Emit a decision to complete this phase";

/// The role that is asked, and the node.
fn asked(request: &Request) -> (String, String) {
    let title =
        |prompt: &String| prompt.starts_with("# You ").then(|| prompt.lines().next().unwrap_or_default().to_owned());
    let title = request.prompts().iter().rev().find_map(title).expect("it is asked by a template");
    let id = title.split('`').nth(1).unwrap().to_owned();
    let who = ["planner", "test author", "implementer", "reviewer", "merger", "judge"];
    (who.into_iter().find(|who| title.contains(who)).expect("a role").to_owned(), id)
}

/// The files that a turn writes, and its report about their commit.
fn turn(who: &str, id: &str) -> (Vec<(String, &'static str)>, Value) {
    let name = crate::small::last(id);
    let criteria: Vec<String> = if id == "top" { vec!["one".to_owned(), "a".to_owned()] } else { vec!["a".to_owned()] };
    let children: &[&str] = if id == "top" { &["a"] } else { &[] };
    let tests = format!("checks/{name}.sh");
    match who {
        "planner" => {
            let plan: Vec<Value> = criteria.iter().map(|criterion| plan(criterion)).collect();
            let files =
                vec![(format!("src/{name}.api"), "says done\n"), (format!("checks/contract_{name}.sh"), "true\n")];
            (files, scaffold(id, children, &plan))
        }
        "test author" => {
            let check = if id == "top" { "grep -q done src/top.txt\n" } else { "grep -q done src/a.txt\n" };
            let ready = json!({ "testsCommit": "$HEAD", "testFiles": [tests], "pendingCriteria": criteria });
            (vec![(tests, check)], json!({ "TestsReady": ready }))
        }
        "implementer" => {
            let passed = json!({ "commitHash": "$HEAD", "iterations": 1, "passedTests": [] });
            (vec![(format!("src/{name}.txt"), "done\n")], json!({ "TestsPassed": passed }))
        }
        "merger" => (Vec::new(), merged(id)),
        _ => (Vec::new(), approved(&criteria)),
    }
}

fn bash(command: &str) -> Reaction {
    Reaction::tool("Bash", json!({ "command": command, "description": "as asked" }))
}

/// Writes, commits, and reports; only the root's test author gives no decision until it is reminded.
fn react(request: &Request) -> Reaction {
    let (who, id) = asked(request);
    let is_reminded = request.prompt() == REMINDER;
    let (files, answer) = turn(&who, &id);
    // The schema demands an object around an answer that is one of several variants.
    let with = |commit: &str| {
        let answer: Value = serde_json::from_str(&answer.to_string().replace("$HEAD", commit)).unwrap();
        Reaction::output(json!({ "value": answer }))
    };
    if files.is_empty() {
        return with(NO_COMMIT);
    }
    // A reminder does not restart the work.
    if is_reminded {
        return match request.results().first() {
            None => bash("git rev-parse HEAD"),
            Some(commit) => with(commit.trim()),
        };
    }
    let results = request.results();
    // It first looks where it is; then it writes, and commits.
    match results.len().checked_sub(1) {
        None => bash("git rev-parse --show-toplevel"),
        Some(done) if done < files.len() => {
            let (path, content) = &files[done];
            let path = Path::new(results[0].trim()).join(path);
            Reaction::tool("Write", json!({ "file_path": path, "content": content }))
        }
        Some(done) if done == files.len() => bash("git add -A"),
        Some(done) if done == files.len() + 1 => bash("git commit -m work"),
        Some(_) if who == "test author" && id == "top" => Reaction::text("I have written them."),
        Some(done) if done == files.len() + 2 => bash("git rev-parse HEAD"),
        Some(_) => with(results[results.len() - 1].trim()),
    }
}

/// The prompts from templates in a conversation, each with the role that is asked.
fn history(request: &Request) -> Vec<String> {
    let titles = request.prompts().into_iter().filter(|prompt| prompt.starts_with("# You "));
    titles.map(|prompt| prompt.lines().next().unwrap().replace("# You ", "")).collect()
}

/// PRG-50, V3-10, V3-135, V3-142, CON-19, CON-137, CON-139, CON-141: a whole tree, with forked and continued sessions and a
/// reminder, on a user's repository.
#[tokio::test]
async fn a_tree_of_real_agents() {
    let Some(claude) = programs::found(programs::claude()) else { return };
    let project = project().await;
    let program = Program::of(&project, &AgentScript::default(), &["a"]);
    let server = ModelServer::start(Script::computed(react)).unwrap();
    let mut command = program.begin();
    command.args(["--agent", "claude:haiku"]);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = claude.parent().unwrap().to_owned();
    command.env("PATH", std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths))).unwrap());
    std::fs::create_dir_all(program.path("home")).unwrap();
    command.env("HOME", program.path("home"));
    command.env("ANTHROPIC_API_KEY", "sk-ant-api03-nobodys").env("ANTHROPIC_BASE_URL", server.url());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let wrong =
        server.requests().into_iter().map(|request| request.prompt()).find(|prompt| prompt.contains("was taken back"));
    assert_eq!((output.status.code(), wrong), (Some(0), None), "{said}");
    let account: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(account["value"]["Merged"].is_object(), "{said}");
    server.assert_all_matched();
    for node in ["top", "a"] {
        assert_eq!(project.git(&["show", &format!("main:src/{node}.txt")]), "done\n");
    }
    let subjects = ["feat(top): implement", "feat(top/a): implement", "feat(top): scaffold", "Begin"];
    assert_eq!(project.subjects("main"), subjects);

    let requests = server.requests();
    let histories: BTreeSet<Vec<String>> = requests.iter().map(|request| history(request)).collect();
    let planner = "are the planner of `top`";
    let knows = |line: &[&str]| histories.contains(&line.iter().map(ToString::to_string).collect::<Vec<_>>());
    // All other sessions begin with the parent's planner; those of the child begin with the child's planner, which begins with
    // the parent's.
    assert!(knows(&[planner, "are the test author of `top`"]), "{histories:#?}");
    assert!(knows(&[planner, "are the implementer of `top`"]));
    let child = "are the planner of `top/a`";
    assert!(knows(&[planner, child, "are the implementer of `top/a`"]));
    // TDD reviews with the knowledge of the tests it has written; the judge knows what the parent's planner knew, and nothing of
    // the child.
    assert!(knows(&[planner, "are the test author of `top`", "are the reviewer of `top`"]));
    assert!(knows(&[planner, child, "are the test author of `top/a`", "are the reviewer of `top/a`"]));
    assert!(knows(&[planner, "judge what `top/a` wants to merge, for its parent"]));
    // V3-135: it was reminded in its current session, with these words.
    let reminded: Vec<_> = requests.iter().filter(|request| request.prompt() == REMINDER).collect();
    assert!(!reminded.is_empty());
    assert!(reminded.iter().all(|request| history(request) == [planner, "are the test author of `top`"]));
}
