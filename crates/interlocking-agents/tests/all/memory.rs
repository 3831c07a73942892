use interlocking_agents::{Script, ScriptedAgent, Turn, scripted::MemoryError};

use crate::common::{fork, fresh, go_on, id, run};

const SCRIPT: &str = "
    [[turn]]
    contains = [\"one\"]
    text = \"first\"
    [[turn]]
    contains = [\"two\"]
    delay = \"1h\"
    [[turn]]
    session = \"fork\"
";

fn agent(text: &str, file: &std::path::Path) -> Result<ScriptedAgent, MemoryError> {
    ScriptedAgent::new(Script::parse("script.toml", text).unwrap()).with_memory(file)
}

/// What a run needs when it is resumed in another process: the sessions exist, finished turns are not played again, and
/// interrupted turns are.
#[tokio::test(start_paused = true)]
async fn an_agent_with_a_memory_goes_on_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let first = agent(SCRIPT, &file).unwrap();
    run(&first, fresh("one")).await.unwrap();
    let interrupted =
        tokio::time::timeout(std::time::Duration::from_secs(1), run(&first, go_on("write-1", "two"))).await;
    assert!(interrupted.is_err());
    drop(first);

    let second = agent(SCRIPT, &file).unwrap();
    assert_eq!(second.unused().iter().map(|turn| turn.line).collect::<Vec<_>>(), [5, 8]);
    run(&second, go_on("write-1", "two")).await.unwrap();
    run(&second, fork("write-1", "x")).await.unwrap();
    assert_eq!(second.unused(), []);
    let history = second.history(&id("fork-1")).unwrap();
    assert_eq!(history.iter().map(|exchange| exchange.prompt.as_str()).collect::<Vec<_>>(), ["one", "two", "two", "x"]);
    assert_eq!(history[0].text.as_deref(), Some("first"));

    let third = agent(SCRIPT, &file).unwrap();
    assert!(run(&third, fresh("one")).await.is_err(), "it was played in the first process");
}

/// As if a process ended after the agent had answered and before the answer was used.
#[tokio::test(start_paused = true)]
async fn what_another_process_asked_last_can_be_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let script = "[[turn]]\ntext = \"first\"\n[[turn]]\ntext = \"second\"\n";
    let first = agent(script, &file).unwrap();
    run(&first, fresh("one")).await.unwrap();
    let same = run(&first, go_on("write-1", "one")).await.unwrap();
    assert_eq!(same.text.as_deref(), Some("second"), "one process means it when it asks twice");
    drop(first);
    for _ in 0..2 {
        let again = agent(script, &file).unwrap();
        assert!(
            run(&again, go_on("write-1", "two")).await.is_err(),
            "another prompt is another turn, and there is none"
        );
        assert_eq!(run(&again, go_on("write-1", "one")).await.unwrap().text.as_deref(), Some("second"));
        assert_eq!(again.unused(), []);
        assert!(run(&again, go_on("write-1", "one")).await.is_err(), "it is asked for the second time here");
    }
}

/// As if the process ended before the caller had recorded the session.
#[tokio::test(start_paused = true)]
async fn what_another_process_asked_last_can_be_asked_again_in_a_fresh_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let script = "[[turn]]\ntext = \"first\"\n";
    run(&agent(script, &file).unwrap(), fresh("one")).await.unwrap();
    let again = agent(script, &file).unwrap();
    assert!(run(&again, fresh("two")).await.is_err());
    let reply = run(&again, fresh("one")).await.unwrap();
    assert_eq!((reply.text.as_deref(), reply.session), (Some("first"), id("write-2")));
    assert!(run(&again, fresh("one")).await.is_err(), "it is asked for the second time here");
}

/// Two roles are asked the same, and the process ends after one of them has answered.
#[tokio::test(start_paused = true)]
async fn what_one_role_was_asked_last_is_not_answered_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    let script = "[[turn]]\nagent = \"critic\"\ntext = \"no\"\n[[turn]]\nagent = \"writer\"\ntext = \"yes\"\n";
    let asked = |role: &str| Turn { role: Some(role.to_owned()), ..fresh("one") };
    run(&agent(script, &file).unwrap(), asked("critic")).await.unwrap();
    let again = agent(script, &file).unwrap();
    for (role, text) in [("writer", "yes"), ("critic", "no")] {
        assert_eq!(run(&again, asked(role)).await.unwrap().text.as_deref(), Some(text), "{role}");
    }
}

#[test]
fn a_memory_of_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.json");
    drop(agent(SCRIPT, &file).unwrap());
    let shown = file.display();
    assert_eq!(
        agent("[[turn]]", &file).err().unwrap().to_string(),
        format!("{shown} remembers a script of 3 turns, this one has 1; remove the file to start over")
    );
    std::fs::write(&file, "{}").unwrap();
    assert!(matches!(agent(SCRIPT, &file), Err(MemoryError::Malformed { .. })));
    assert!(matches!(agent(SCRIPT, &folder.path().join("no/such/folder")), Err(MemoryError::File { .. })));
}
