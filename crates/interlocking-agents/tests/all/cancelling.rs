use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use interlocking_agents::{Agent, AgentErrorKind, Conversation, Disposition, Interrupt, NoEvents, SessionOp, Turn};

use crate::common::{agent, fresh, fresh_in, go_on, id, run};

/// A command with a child; both write their process ids to files.
const FAMILY: &str = r#"
    [[turn]]
    contains = ["hang"]
    cost = 0.03
    [[turn.run]]
    command = ["sh", "-c", "sh -c 'echo $$ > child; exec sleep 600' & echo $$ > parent; wait"]
    [[turn.write]]
    path = "too-late"
    content = ""

    [[turn]]
    contains = ["again"]
"#;

async fn pid(file: &Path) -> u32 {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(pid) = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return pid;
        }
        assert!(Instant::now() < patience, "{} was never written", file.display());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether the process still runs; a zombie does not.
fn runs(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

async fn ends(pid: u32) -> bool {
    for _ in 0..2000 {
        if !runs(pid) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    false
}

#[tokio::test]
async fn dropping_a_turn_kills_its_processes_and_frees_its_session() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = agent(FAMILY);
    let conversation = Conversation::new(&agent);
    let (parent, child) = (workspace.path().join("parent"), workspace.path().join("child"));
    let pids = tokio::select! {
        outcome = conversation.run(fresh_in(workspace.path(), "hang"), &NoEvents) => panic!("{outcome:?}"),
        pids = async { [pid(&parent).await, pid(&child).await] } => pids,
    };
    assert!(ends(pids[0]).await, "the command outlived its turn");
    assert!(ends(pids[1]).await, "the command's child outlived its turn");
    let again = Turn { workspace: Some(workspace.path().to_owned()), ..go_on("write-1", "again") };
    assert_eq!(run(&agent, again).await.unwrap().session, id("write-1"));
    assert!(!workspace.path().join("too-late").exists());
}

#[tokio::test]
async fn an_interrupted_turn_ends_by_itself_and_says_what_it_had_cost() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = agent(FAMILY);
    let interrupt = Interrupt::new();
    let conversation = Conversation::new(&agent).with_interrupt(interrupt.clone());
    let (parent, child) = (workspace.path().join("parent"), workspace.path().join("child"));
    let interrupting = async {
        let pids = [pid(&parent).await, pid(&child).await];
        interrupt.request();
        pids
    };
    let (outcome, pids) = tokio::join!(conversation.run(fresh_in(workspace.path(), "hang"), &NoEvents), interrupting);
    let error = outcome.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Cancelled);
    assert_eq!(error.usage.cost.to_string(), "$0.03");
    assert_eq!((error.session.clone(), error.disposition()), (Some(id("write-1")), Disposition::GiveUp));
    assert!(ends(pids[0]).await && ends(pids[1]).await);
    agent.sessions().hold(&SessionOp::ContinueFrom(id("write-1")), Some(workspace.path())).unwrap();
}

/// A process in the background does not make the turn wait, and is killed.
#[tokio::test]
async fn what_a_command_leaves_behind_is_killed_when_it_ends() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "[[turn]]\n[[turn.run]]\ncommand = [\"sh\", \"-c\", \"sleep 600 & echo $! > child\"]";
    run(&agent(script), fresh_in(workspace.path(), "x")).await.unwrap();
    assert!(ends(pid(&workspace.path().join("child")).await).await);
}

/// The same for a process in its own session.
#[tokio::test]
async fn what_a_command_detaches_neither_holds_up_the_turn_nor_outlives_it() {
    let workspace = tempfile::tempdir().unwrap();
    let script = "[[turn]]\n[[turn.run]]\ncommand = [\"sh\", \"-c\", \"setsid sleep 600 & echo $! > child\"]";
    let agent = agent(script);
    let turn = run(&agent, fresh_in(workspace.path(), "x"));
    tokio::time::timeout(Duration::from_secs(20), turn).await.expect("it waits for the child").unwrap();
    assert!(ends(pid(&workspace.path().join("child")).await).await);
}

#[tokio::test(start_paused = true)]
async fn a_delay_is_waited_for_and_can_be_cancelled() {
    let agent = agent("[[turn]]\ndelay = \"2m\"\ntimes = 2");
    let start = tokio::time::Instant::now();
    run(&agent, fresh("x")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(120));
    let cut_short = tokio::time::timeout(Duration::from_secs(1), run(&agent, fresh("x"))).await;
    assert!(cut_short.is_err());
    agent.sessions().hold(&SessionOp::ContinueFrom(id("write-2")), None).unwrap();
    assert_eq!(agent.unused(), [], "a cancelled turn is used up");
}

#[tokio::test]
async fn an_interrupt_from_before_stops_the_turn_at_once() {
    let workspace = tempfile::tempdir().unwrap();
    let agent = agent("[[turn]]\nwrite = [{ path = \"a\", content = \"\" }]");
    let interrupt = Interrupt::new();
    interrupt.request();
    assert!(interrupt.is_requested());
    let conversation = Conversation::new(&agent).with_interrupt(interrupt);
    let error = conversation.run(fresh_in(workspace.path(), "x"), &NoEvents).await.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Cancelled);
    assert!(!workspace.path().join("a").exists());
}
