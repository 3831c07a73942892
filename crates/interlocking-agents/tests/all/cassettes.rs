//! Recorded agents are played back, and everything observable is the same.

mod recording;
mod damage;
mod interrupted;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, CassetteError, Completion, Conversation, Interrupt, Nudges,
    Recorder, Replayer, Script, ScriptedAgent, SessionOp, Turn,
};

use crate::common::{Recorded, agent, article_schema, fork, fresh, fresh_in, go_on, id, slug};

/// Every file of a directory with its content and permissions; a link with its target.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    fn enter(root: &Path, directory: &Path, tree: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let (metadata, relative) = (path.symlink_metadata().unwrap(), path.strip_prefix(root).unwrap().to_owned());
            let content = if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_dir() {
                enter(root, &path, tree);
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            tree.insert(relative, (mode(&metadata), content));
        }
    }
    let mut found = BTreeMap::new();
    enter(root, root, &mut found);
    found
}

#[cfg(unix)]
fn mode(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> u32 {
    0
}

/// A place for a cassette and for workspaces with the same contents.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn cassette(&self) -> PathBuf {
        self.0.path().join("cassette")
    }

    fn workspace(&self, name: &str) -> PathBuf {
        let workspace = self.0.path().join(name);
        std::fs::create_dir(&workspace).unwrap();
        std::fs::write(workspace.join("notes.md"), "Rust lends.\n").unwrap();
        std::fs::write(workspace.join("old.md"), "old").unwrap();
        workspace
    }

    fn recorder(&self, agent: impl Agent + 'static) -> Recorder {
        Recorder::new(Arc::new(agent), self.cassette()).unwrap()
    }

    fn replayer(&self) -> Replayer {
        Replayer::open(self.cassette()).unwrap()
    }

    fn file(&self, call: usize) -> PathBuf {
        self.cassette().join(format!("{call:04}.json"))
    }

    /// The texts of the whole cassette.
    fn texts(&self) -> String {
        tree(&self.cassette()).into_values().map(|(_, text)| String::from_utf8(text).unwrap()).collect()
    }
}

type Played = (Result<Completion, AgentError>, Vec<AgentEvent>);

async fn play(agent: &dyn Agent, turn: Turn) -> Played {
    let heard = Recorded::default();
    let conversation = Conversation::new(agent).with_nudges(Nudges::DEFAULT.with_idle(None).with_limit(1));
    (conversation.run(turn, &heard.sink()).await, heard.events())
}

const NEWSROOM: &str = r##"
[[turn]]
contains = ["Write"]
agent = "writer"
text = "I wrote a first draft."
output = { title = "Borrowing", words = "many", ratio = 0.1 }
cost = 0.0123
tokens = { input = 1200, output = 340 }
[[turn.write]]
path = "deep/article.md"
content = "\n# Borrowing\r\nno end of line"
[[turn.write]]
path = "check.sh"
content = "#!/bin/sh\ngrep -q \"$1\" notes.md\n"
executable = true
[[turn.run]]
command = ["./check.sh", "lends"]
[[turn.remove]]
path = "old.md"

[[turn]]
contains = ["does not fit the JSON schema", "/words"]
session = "continue"
text = "Nothing to say"
[[turn.append]]
path = "notes.md"
content = "corrected\n"

[[turn]]
contains = ["REMINDER"]
output = { title = "Borrowing", words = 5 }
cost = 0.002

[[turn]]
contains = ["Publish"]
text = "no such press"
fail = "refused"
cost = 0.5
[[turn.write]]
path = "press.log"
content = "tried"

[[turn]]
contains = ["Retry later"]
fail = "rate_limited"
retry_after = "5s"

[[turn]]
contains = ["Run"]
[[turn.run]]
command = ["false"]
"##;

fn turns(workspace: &Path) -> Vec<Turn> {
    let article = Turn {
        schema: Some(article_schema()),
        role: Some("writer".to_owned()),
        system: Some("You write.\nBriefly.".to_owned()),
        model: Some("large".to_owned()),
        ..fresh_in(workspace, &format!("Write in {}.", workspace.display()))
    };
    let publish = Turn { workspace: Some(workspace.to_owned()), ..go_on("write-1", "Publish it.") };
    let late = Turn { read_only: true, ..fork("write-1", "Retry later") };
    vec![article, publish, late, fresh_in(workspace, "Run"), go_on("nowhere-1", "x"), fresh("nobody expects this")]
}

/// PRG-05, CON-41: files, events, output, corrections, reminders, errors, sessions and costs.
#[tokio::test]
async fn what_was_recorded_is_played_back_exactly() {
    let place = Place::new();
    let (then, now) = (place.workspace("then"), place.workspace("now"));
    let recorder = place.recorder(agent(NEWSROOM));
    let mut recorded = Vec::new();
    for turn in turns(&then) {
        recorded.push(play(&recorder, turn).await);
    }
    assert_eq!(recorder.calls(), Ok(8), "with a correction and a reminder");
    assert_eq!((recorded[0].0.as_ref().unwrap().corrections, recorded[0].0.as_ref().unwrap().nudges), (1, 1));
    assert_eq!(recorded.iter().filter(|(outcome, _)| outcome.is_err()).count(), 5);

    let replayer = place.replayer();
    assert_eq!((replayer.name(), replayer.unplayed().len()), ("scripted", 8));
    for (turn, recorded) in turns(&now).into_iter().zip(&recorded) {
        assert_eq!(&play(&replayer, turn).await, recorded);
    }
    assert_eq!(replayer.unplayed(), Vec::<PathBuf>::new());
    assert_eq!(tree(&now), tree(&then));
    assert_eq!(tree(&now).len(), 5, "{:?}", tree(&now));
    let texts = place.texts();
    assert!(!texts.contains(then.to_str().unwrap()), "the workspace's path is in the cassette");
    assert!(texts.contains("Write in ⟦workspace⟧."));
}

/// Cassettes are meant to be read.
#[tokio::test]
async fn a_call_is_readable() {
    let place = Place::new();
    let workspace = place.workspace("desk");
    let recorder = place.recorder(agent(
        "[[turn]]\noutput = { ok = true }\ntext = \"Done.\"\n[[turn.write]]\npath = \"a.txt\"\ncontent = \"one\\ntwo\\n\"\n\
         [[turn.remove]]\npath = \"old.md\"\n",
    ));
    play(&recorder, Turn { role: Some("writer".to_owned()), ..fresh_in(&workspace, "Write.\nNow.") }).await.0.unwrap();
    let text = std::fs::read_to_string(place.file(1)).unwrap();
    let mut call: serde_json::Value = serde_json::from_str(&text).unwrap();
    call["took_ms"] = 0.into();
    for event in call["events"].as_array_mut().unwrap() {
        event["after_ms"] = 0.into();
    }
    let mode = call["files"][1]["mode"].take();
    assert!(mode == "644" || mode == "664" || mode == "600", "{mode}");
    let expected = serde_json::json!({
        "asked": { "role": "writer", "session": { "start_fresh": "write" }, "prompt": ["Write.", "Now."] },
        "workspace": "desk",
        "events": [
            { "after_ms": 0, "event": { "event": "started", "session": "write-1" } },
            { "after_ms": 0, "event": { "event": "file_written", "path": "a.txt" } },
            { "after_ms": 0, "event": { "event": "file_removed", "path": "old.md" } },
            { "after_ms": 0, "event": { "event": "text", "text": "Done." } }
        ],
        "files": [
            { "path": "old.md", "now": "nothing" },
            { "path": "a.txt", "mode": null, "now": { "text": ["one", "two", ""] } }
        ],
        "took_ms": 0,
        "ended": { "replied": {
            "session": "write-1",
            "output": { "ok": true },
            "text": "Done.",
            "usage": { "calls": 1, "input_tokens": 0, "output_tokens": 0, "cost": 0, "unpriced_calls": 0 }
        } }
    });
    assert_eq!(call, expected);
    let header = std::fs::read_to_string(place.cassette().join("cassette.json")).unwrap();
    let expected = "{\n  \"format\": \"interlocking cassette\",\n  \"version\": 1,\n  \"agent\": \"scripted\",\n  \"calls\": 1\n}\n";
    assert_eq!(header, expected);
}

/// Like the branches of a fork: each turn gets its own answer, in any order.
#[tokio::test]
async fn turns_that_run_at_once_are_played_alike_in_any_order() {
    let place = Place::new();
    let script: String = (0..8)
        .map(|number| format!("[[turn]]\ncontains = [\"Branch {number}.\"]\ntext = \"answer {number}\"\n"))
        .collect();
    let first = "[[turn]]\ncontains = [\"Begin\"]\n";
    let recorder = place.recorder(agent(&format!("{first}{script}")));
    let branch = |number: usize| fork("write-1", &format!("Branch {number}."));
    play(&recorder, fresh("Begin")).await.0.unwrap();
    let mut recorded = Vec::new();
    for number in 0..8 {
        recorded.push(play(&recorder, branch(number)).await);
    }
    for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [3, 1, 4, 0, 5, 2, 6, 7]] {
        let replayer = Arc::new(place.replayer());
        play(&*replayer, fresh("Begin")).await.0.unwrap();
        let tasks = order.map(|number| {
            let replayer = Arc::clone(&replayer);
            (number, tokio::spawn(async move { play(&*replayer, branch(number)).await }))
        });
        for (number, task) in tasks {
            assert_eq!(task.await.unwrap(), recorded[number]);
        }
        assert!(replayer.unplayed().is_empty());
    }
}

/// Equal turns in worktrees with different names are distinguished by the names.
#[tokio::test]
async fn calls_that_are_alike_are_told_apart_by_their_workspaces_and_else_played_in_order() {
    let place = Place::new();
    let recorder = place.recorder(agent("[[turn]]\ntext = \"a\"\n[[turn]]\ntext = \"b\"\n[[turn]]\ntext = \"c\"\n"));
    for name in ["left", "right", "left"] {
        let workspace = place.0.path().join(name);
        std::fs::create_dir_all(&workspace).unwrap();
        play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
    }
    let replayer = place.replayer();
    for (name, expected) in [("right", "b"), ("left", "a"), ("right", "c")] {
        let (completion, _) = play(&replayer, fresh_in(&place.0.path().join(name), "x")).await;
        assert_eq!(completion.unwrap().text.as_deref(), Some(expected));
    }
}

fn cassette_error(outcome: Result<Completion, AgentError>) -> CassetteError {
    match *outcome.unwrap_err().kind {
        AgentErrorKind::Cassette(error) => error,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_drifted_prompt_is_shown_as_a_diff() {
    let place = Place::new();
    let recorder = place.recorder(agent("[[turn]]\ntimes = \"any\"\n"));
    let writer = |turn: Turn| Turn { role: Some("writer".to_owned()), ..turn };
    let long = |verb: &str| format!("You are a writer.\n\n1\n2\n3\n{verb} about rust.\n4\n5\n6\n7\n");
    play(&recorder, fresh("Nothing like it.")).await.0.unwrap();
    play(&recorder, writer(fresh(&long("Write")))).await.0.unwrap();
    play(&recorder, writer(go_on("write-2", &long("Talk")))).await.0.unwrap();

    let replayer = place.replayer();
    let error = cassette_error(play(&replayer, writer(fresh(&long("Talk")))).await.0);
    let how = "record it with INTERLOCKING_CASSETTES=record, where `record_or_replay` is used, or with a `Recorder`";
    let cassette = place.cassette();
    assert_eq!(
        error.to_string(),
        format!(
            "{} has no call for this turn (role `writer`, fresh session `write`); call 2 comes nearest; {how}\n\
             --- prompt, recorded\n\
             +++ prompt, now\n\
             @@ -3,7 +3,7 @@\n \
              1\n \
              2\n \
              3\n\
             -Write about rust.\n\
             +Talk about rust.\n \
              4\n \
              5\n \
              6\n",
            cassette.display()
        )
    );
    let CassetteError::Drifted(drift) = &error else { panic!("{error}") };
    assert_eq!((&drift.cassette, drift.call), (&cassette, Some(2)));
    let stored = serde_json::to_string(&error).unwrap();
    assert_eq!(serde_json::from_str::<CassetteError>(&stored).unwrap(), error);
    assert_eq!(replayer.unplayed().len(), 3, "none was used up");

    // Everything that the agent was asked is compared.
    let other = Turn {
        system: Some("Be brief.".to_owned()),
        schema: Some(article_schema()),
        read_only: true,
        role: Some("critic".to_owned()),
        ..fresh(&long("Write"))
    };
    let shown = cassette_error(play(&replayer, other).await.0).to_string();
    for part in [
        "-role `writer`, fresh session `write`\n+role `critic`, fresh session `write`\n",
        "-read and write\n+read only\n",
        "--- system prompt, recorded\n+++ system prompt, now\n",
        "+Be brief.",
        "--- schema, recorded\n+++ schema, now\n",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    assert!(!shown.contains("--- prompt"), "{shown}");

    for turn in [fresh("Nothing like it."), writer(fresh(&long("Write"))), writer(go_on("write-2", &long("Talk")))] {
        play(&replayer, turn).await.0.unwrap();
    }
    let ended = cassette_error(play(&replayer, fresh("One more.")).await.0).to_string();
    assert!(ended.starts_with(&format!(
        "{} has no call for this turn (fresh session `write`): all were played; ",
        cassette.display()
    )));
    assert!(ended.ends_with("+One more.\n"), "{ended}");
}

/// The variable decides. Each mode runs in its own process: this test binary again.
#[test]
fn a_test_records_or_replays_as_it_is_told() {
    let place = Place::new();
    let said = |mode: Option<&str>| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "cassettes::a_test_of_its_own", "--nocapture"])
            .env("INTERLOCKING_TEST_CASSETTE", place.cassette());
        command.env_remove("INTERLOCKING_CASSETTES").envs(mode.map(|mode| ("INTERLOCKING_CASSETTES", mode)));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find_map(|line| line.split_once("said: ")).expect(&text);
        line.1.to_owned()
    };
    assert!(said(None).starts_with("there is no cassette "));
    assert_eq!(said(Some("record")), "fine, of the real one: true");
    assert_eq!(said(None), "fine, of the real one: false");
    assert_eq!(said(Some("replay")), "fine, of the real one: false");
    assert_eq!(said(Some("rec")), "INTERLOCKING_CASSETTES is `rec`; say `record` or `replay`, or leave it out");
}

#[tokio::test]
async fn a_test_of_its_own() {
    let Some(cassette) = std::env::var_os("INTERLOCKING_TEST_CASSETTE") else { return };
    let mut is_real = false;
    let agent = interlocking_agents::cassette::record_or_replay(cassette, || {
        is_real = true;
        Arc::new(ScriptedAgent::new(Script::parse("script", "[[turn]]\ntext = \"fine\"\n").unwrap()))
    });
    match agent {
        Ok(agent) => {
            let text = play(&*agent, fresh("x")).await.0.unwrap().text.unwrap();
            println!("\nsaid: {text}, of the real one: {is_real}");
        }
        Err(error) => println!("\nsaid: {error}"),
    }
}
