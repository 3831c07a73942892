//! Agents that are recorded, and played back: everything that anybody could see is the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use interlocking_agents::{
    Agent, AgentError, AgentErrorKind, AgentEvent, CassetteError, Completion, Conversation, Interrupt, Nudges,
    Recorder, Replayer, Script, ScriptedAgent, SessionOp, Turn,
};

use crate::common::{Recorded, agent, article_schema, fork, fresh, fresh_in, go_on, id, slug};

/// Every file of a directory with its content and permissions; of a link where it leads.
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

/// A place for a cassette, and a workspace that is the same each time.
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

/// A cassette is there to be read.
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

/// As the branches of a fork do: each gets its own answer, in whatever order they come.
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

/// What is asked alike, in worktrees of different names, is told apart by them.
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

    // Everything that the agent was asked belongs to it.
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

#[tokio::test]
async fn secrets_are_nowhere_and_what_varies_is_replaced() {
    use interlocking_agents::program::{Redactor, Secret};
    let place = Place::new();
    let (then, now) = (place.workspace("then"), place.workspace("now"));
    let script = "
        [[turn]]
        text = \"the key is canary-1 in run-4711\"
        output = { canary-1 = [\"run-4711\"] }
        [[turn.write]]
        path = \"out.txt\"
        content = \"canary-1 run-4711 ⟦run⟧\"
        [[turn.run]]
        command = [\"sh\", \"-c\", \"printf '\\\\377canary-1' > binary; ln -s $PWD/out.txt link; mkdir -p a/b\"]
        [[turn]]
        text = \"canary-1\"
        fail = \"refused\"
    ";
    let redactor = || Redactor::new(&[Secret::new("canary-1")]);
    let recorder = place.recorder(agent(script)).with_redactor(redactor()).with_placeholder("run", "run-4711");
    let turn =
        |workspace: &Path, prompt: &str| Turn { system: Some("canary-1".to_owned()), ..fresh_in(workspace, prompt) };
    play(&recorder, turn(&then, "branch x-run-4711 with canary-1")).await.0.unwrap();
    play(&recorder, turn(&then, "and now")).await.0.unwrap_err();
    assert!(!place.texts().contains("canary") && !place.texts().contains("4711"), "{}", place.texts());

    let replayer = place.replayer().with_redactor(redactor()).with_placeholder("run", "run-1");
    let (completion, _) = play(&replayer, turn(&now, "branch x-run-1 with canary-1")).await;
    let completion = completion.unwrap();
    assert_eq!(completion.text.as_deref(), Some("the key is [redacted] in run-1"));
    assert_eq!(completion.output, serde_json::json!({ "[redacted]": ["run-1"] }));
    assert_eq!(std::fs::read_to_string(now.join("out.txt")).unwrap(), "[redacted] run-1 ⟦run⟧");
    assert_eq!(std::fs::read(now.join("binary")).unwrap(), b"\xff[redacted]");
    assert_eq!(std::fs::read_link(now.join("link")).unwrap(), now.join("out.txt"));
    assert!(now.join("a/b").is_dir());
    let error = play(&replayer, turn(&now, "and now")).await.0.unwrap_err();
    assert_eq!(*error.kind, AgentErrorKind::Refused { reason: "[redacted]".to_owned() });

    let careless = place.replayer().with_redactor(redactor());
    let drifted = cassette_error(play(&careless, turn(&now, "branch x-run-1 with canary-1")).await.0).to_string();
    assert!(
        drifted.contains("-branch x-⟦run⟧ with [redacted]") && drifted.contains("+branch x-run-1 with"),
        "{drifted}"
    );
}

/// An agent that was interrupted is played until somebody interrupts it again; then it says what it said.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_interrupted_waits_to_be_interrupted() {
    let place = Place::new();
    let recorder = place.recorder(agent("[[turn]]\ndelay = \"1h\"\ncost = 0.25\n"));
    let interrupted = async |agent: &dyn Agent| {
        let (interrupt, start) = (Interrupt::new(), tokio::time::Instant::now());
        let conversation = Conversation::new(agent).with_interrupt(interrupt.clone());
        let (outcome, ()) = tokio::join!(conversation.run(fresh("x"), &|_| {}), async {
            tokio::time::sleep(Duration::from_secs(7)).await;
            interrupt.request();
        });
        (outcome, start.elapsed())
    };
    let recorded = interrupted(&recorder).await;
    assert_eq!(*recorded.0.as_ref().unwrap_err().kind, AgentErrorKind::Cancelled);
    assert_eq!(interrupted(&place.replayer()).await, recorded);
}

/// CON-18: silence is recorded as the interruption that it led to, and the reminder as a call of its own.
#[tokio::test(start_paused = true)]
async fn an_idle_agent_is_idle_again() {
    let place = Place::new();
    let script =
        "[[turn]]\ndelay = \"2h\"\n[[turn]]\ncontains = [\"REMINDER\"]\noutput = { title = \"t\", words = 1 }\n";
    let recorder = place.recorder(agent(script));
    let reminded = async |agent: &dyn Agent| {
        let (heard, start) = (Recorded::default(), tokio::time::Instant::now());
        let conversation = Conversation::new(agent).with_nudges(Nudges::DEFAULT);
        let turn = Turn { schema: Some(article_schema()), ..fresh("x") };
        let completion = conversation.run(turn, &heard.sink()).await.unwrap();
        (completion, heard.events(), start.elapsed())
    };
    let recorded = reminded(&recorder).await;
    assert_eq!(recorded.0.nudges, 1);
    assert_eq!(recorder.calls(), Ok(2));
    assert_eq!(reminded(&place.replayer()).await, recorded);
}

/// Nobody waited for its end: what it did until then is in the cassette, and there is no end to play.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_interrupted_has_no_end() {
    let place = Place::new();
    let (then, now) = (place.workspace("then"), place.workspace("now"));
    let script = "
        [[turn]]
        [[turn.write]]
        path = \"begun\"
        content = \"begun\"
        [[turn.run]]
        command = [\"sleep\", \"60\"]
    ";
    let recorder = place.recorder(agent(script));
    let interrupted = async |agent: &dyn Agent, workspace: &Path| {
        let heard = Recorded::default();
        let conversation = Conversation::new(agent);
        let sink = heard.sink();
        let running = conversation.run(fresh_in(workspace, "x"), &sink);
        let written = async {
            while !workspace.join("begun").exists() {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        tokio::select! {
            biased;
            outcome = running => panic!("{outcome:?}"),
            () = written => {}
        }
        heard.events()
    };
    let recorded = interrupted(&recorder, &then).await;
    assert_eq!(recorder.calls(), Ok(1));
    assert_eq!(interrupted(&place.replayer(), &now).await, recorded);
    assert_eq!(tree(&now), tree(&then));
}

#[tokio::test(start_paused = true)]
async fn a_cassette_can_be_played_at_its_own_pace() {
    let place = Place::new();
    let script = "[[turn]]\ndelay = \"90s\"\ntext = \"done\"\ntimes = 2\n";
    let recorder = place.recorder(agent(script));
    for _ in 0..2 {
        play(&recorder, fresh("x")).await.0.unwrap();
    }
    for (replayer, took) in [(place.replayer(), 0), (place.replayer().at_recorded_pace(), 90)] {
        let start = tokio::time::Instant::now();
        play(&replayer, fresh("x")).await.0.unwrap();
        assert_eq!(start.elapsed().as_secs(), took);
    }
    let (paced, interrupt) = (place.replayer().at_recorded_pace(), Interrupt::new());
    let conversation = Conversation::new(&paced).with_interrupt(interrupt.clone());
    let (outcome, ()) = tokio::join!(conversation.run(fresh("x"), &|_| {}), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        interrupt.request();
    });
    let error = outcome.unwrap_err();
    assert_eq!((*error.kind, error.session), (AgentErrorKind::Cancelled, Some(id("write-1"))));
}

/// Whatever is wrong with a cassette is found when it is opened, and named.
#[tokio::test]
async fn damage_to_a_cassette_is_an_error_that_names_the_file() {
    let place = Place::new();
    let record = async || {
        let workspace = tempfile::tempdir().unwrap();
        let script = "[[turn]]\ntimes = 3\n[[turn.append]]\npath = \"a\"\ncontent = \"a\"\n";
        let recorder = place.recorder(agent(script));
        for _ in 0..3 {
            play(&recorder, fresh_in(workspace.path(), "x")).await.0.unwrap();
        }
    };
    let header = place.cassette().join("cassette.json");
    let (one, two, three) = (place.file(1), place.file(2), place.file(3));
    type Damage<'a> = Box<dyn Fn() + 'a>;
    let replace = |file: &Path, from: &'static str, to: &'static str| -> Damage<'_> {
        let file = file.to_owned();
        Box::new(move || {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(from), "{text}");
            std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        })
    };
    let remove = |file: &Path| -> Damage<'_> {
        let file = file.to_owned();
        Box::new(move || std::fs::remove_file(&file).unwrap())
    };
    let cases: Vec<(Damage<'_>, &Path, &str)> = vec![
        (remove(&two), &two, "it is missing, and the cassette has 3 calls; record it with"),
        (remove(&three), &three, "it is missing, and the cassette has 3 calls"),
        (replace(&header, "\"calls\": 3", "\"calls\": 2"), &three, "the cassette has 2 calls, and this is one more"),
        (replace(&header, "\"calls\"", "\"records\""), &header, "`records`: unknown field `records`"),
        (
            replace(&header, "interlocking cassette", "tape"),
            &header,
            "it does not say that it is an interlocking cassette",
        ),
        (
            replace(&header, "\"version\": 1", "\"version\": 2"),
            &header,
            "is of format 2, and this plays format 1; record it",
        ),
        (
            replace(&one, "\"prompt\": \"x\"", "\"prompt\": 7"),
            &one,
            "`asked.prompt`: a text: a string, or a list of its lines",
        ),
        (replace(&one, "\"took_ms\"", "\"took\""), &one, "`took`: unknown field `took`, expected one of"),
        (
            replace(&one, "\"path\": \"a\",", "\"path\": \"../a\","),
            &one,
            "`files[0].path`: `../a` is no path inside a workspace",
        ),
        (replace(&one, "\"path\": \"a\",", "\"path\": \"/etc/a\","), &one, "`/etc/a` is no path inside a workspace"),
        (replace(&one, "\"path\": \"a\",", "\"path\": \"x/.GIT/config\","), &one, "outside of git's own directory"),
        (replace(&one, "\"text\": \"a\"", "\"bytes\": \"!\""), &one, "`a`: Invalid symbol"),
        (replace(&one, "\"mode\": \"6", "\"mode\": \"9"), &one, "are no permissions: three octal digits"),
        (replace(&one, "}\n", "} rest\n"), &one, "expected `,` or `}`"),
        (Box::new(|| std::fs::write(&one, "{\"asked\"").unwrap()), &one, "EOF while parsing"),
        (Box::new(|| std::fs::write(&one, b"\xff").unwrap()), &one, "valid UTF-8"),
    ];
    for (damage, file, reason) in cases {
        record().await;
        damage();
        let error = Replayer::open(place.cassette()).expect_err(reason).to_string();
        assert!(error.starts_with(&file.display().to_string()) && error.contains(reason), "{reason}: {error}");
    }
    let missing = Replayer::open(place.0.path().join("none")).unwrap_err();
    assert!(missing.to_string().starts_with("there is no cassette "), "{missing}");
}

/// An event that this version does not know is found when its call is played: there is no list of them.
#[tokio::test]
async fn an_unknown_event_is_damage_and_nothing_of_its_call_is_played() {
    let place = Place::new();
    let workspace = place.workspace("desk");
    let recorder = place.recorder(agent("[[turn]]\ntext = \"x\"\n[[turn.write]]\npath = \"a\"\ncontent = \"a\"\n"));
    play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
    std::fs::remove_file(workspace.join("a")).unwrap();
    let text = std::fs::read_to_string(place.file(1)).unwrap().replace("\"event\": \"text\"", "\"event\": \"song\"");
    std::fs::write(place.file(1), text).unwrap();
    let (outcome, events) = play(&place.replayer(), fresh_in(&workspace, "x")).await;
    let error = cassette_error(outcome);
    assert!(matches!(&error, CassetteError::Damaged { .. }) && error.to_string().contains("unknown variant `song`"));
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Started { .. })));
    assert!(!workspace.join("a").exists());
}

#[tokio::test]
async fn a_recorder_replaces_a_cassette_and_nothing_else() {
    let place = Place::new();
    let any = || agent("[[turn]]\ntimes = \"any\"\n");
    let recorder = place.recorder(any());
    for _ in 0..3 {
        play(&recorder, fresh("x")).await.0.unwrap();
    }
    let busy = Recorder::new(Arc::new(any()), place.cassette()).unwrap_err();
    assert!(matches!(busy, CassetteError::Busy { .. }), "{busy}");
    drop(recorder);
    let recorder = place.recorder(any());
    play(&recorder, fresh("x")).await.0.unwrap();
    assert_eq!(place.replayer().unplayed(), [place.file(1)]);
    drop(recorder);

    std::fs::write(place.cassette().join("thesis.txt"), "years of work").unwrap();
    let refused = Recorder::new(Arc::new(any()), place.cassette()).unwrap_err();
    assert!(matches!(refused, CassetteError::NotACassette { .. }), "{refused}");
    assert_eq!(tree(&place.cassette()).len(), 3);
    let elsewhere = place.0.path().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("x"), "").unwrap();
    let not_one = Replayer::open(&elsewhere).unwrap_err();
    assert!(matches!(not_one, CassetteError::NotACassette { .. }), "{not_one}");
}

#[tokio::test]
async fn a_call_that_changes_too_much_is_refused_and_can_be_told_to_leave_things_out() {
    let place = Place::new();
    let script = "
        [[turn]]
        times = \"any\"
        cost = 0.25
        [[turn.write]]
        path = \"node_modules/big\"
        content = \"0123456789\"
        [[turn.write]]
        path = \"small\"
        content = \"0\"
    ";
    let workspace = place.workspace("then");
    let recorder = place.recorder(agent(script)).with_limit(5);
    let error = play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap_err();
    assert_eq!((error.session.clone(), error.usage.cost.to_string()), (Some(id("write-1")), "$0.25".to_owned()));
    let shown = "one call changed 11 bytes of files, and a cassette takes 5; the largest is node_modules/big: leave it out, \
                 or raise the limit";
    assert_eq!(error.to_string(), shown);
    assert!(recorder.calls().is_err());
    drop(recorder);
    let recorder = place.recorder(agent(script)).with_limit(5).without("node_modules");
    let workspace = place.workspace("now");
    play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
    assert!(!place.texts().contains("0123456789"));
}

/// What is in the way where a cassette is played: a link is not written through, and a directory is not replaced by a file.
#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_through_a_link() {
    let place = Place::new();
    let script =
        "[[turn]]\n[[turn.write]]\npath = \"made/a\"\ncontent = \"a\"\n[[turn.write]]\npath = \"b\"\ncontent = \"b\"\n";
    let recorder = place.recorder(agent(script));
    play(&recorder, fresh_in(&place.workspace("then"), "x")).await.0.unwrap();

    let (elsewhere, now) = (place.workspace("elsewhere"), place.workspace("now"));
    std::os::unix::fs::symlink(elsewhere.join("notes.md"), now.join("b")).unwrap();
    play(&place.replayer(), fresh_in(&now, "x")).await.0.unwrap();
    assert_eq!(std::fs::read_to_string(elsewhere.join("notes.md")).unwrap(), "Rust lends.\n");
    assert_eq!(std::fs::read_to_string(now.join("b")).unwrap(), "b");

    let now = place.workspace("linked");
    std::os::unix::fs::symlink(&elsewhere, now.join("made")).unwrap();
    let error = cassette_error(play(&place.replayer(), fresh_in(&now, "x")).await.0);
    assert!(matches!(&error, CassetteError::Workspace { .. }) && error.to_string().contains("is a link"), "{error}");
    assert!(!elsewhere.join("a").exists());

    let now = place.workspace("occupied");
    std::fs::create_dir(now.join("b")).unwrap();
    std::fs::write(now.join("b/precious"), "").unwrap();
    let error = cassette_error(play(&place.replayer(), fresh_in(&now, "x")).await.0);
    assert!(matches!(&error, CassetteError::Workspace { .. }), "{error}");
    assert!(now.join("b/precious").exists());
}

/// The variable decides, in processes of their own: this test binary again.
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

/// A fork goes where it is told, and its sessions are those that were recorded.
#[tokio::test]
async fn sessions_are_guarded_while_a_cassette_is_played() {
    let place = Place::new();
    let recorder = place.recorder(agent("[[turn]]\ntimes = \"any\"\n"));
    play(&recorder, fresh("one")).await.0.unwrap();
    let forked = Turn::new(SessionOp::ForkFrom { parent: id("write-1"), slug: slug("side") }, "two");
    play(&recorder, forked.clone()).await.0.unwrap();
    let replayer = place.replayer();
    assert_eq!(play(&replayer, fresh("one")).await.0.unwrap().session, id("write-1"));
    let hold = replayer.sessions().hold(&SessionOp::ContinueFrom(id("write-1")), None).unwrap();
    assert!(matches!(*play(&replayer, forked.clone()).await.0.unwrap_err().kind, AgentErrorKind::Session(_)));
    drop(hold);
    assert_eq!(play(&replayer, forked).await.0.unwrap().session, id("side-1"));
}

/// Beside a call of a real agent, which takes seconds, looking twice through a workspace is little.
#[tokio::test]
async fn recording_a_call_in_a_large_workspace_costs_little() {
    let place = Place::new();
    let workspace = place.workspace("large");
    for directory in 0..50 {
        let directory = workspace.join(format!("d{directory}"));
        std::fs::create_dir(&directory).unwrap();
        for file in 0..100 {
            std::fs::write(directory.join(format!("f{file}")), "some content of a file").unwrap();
        }
    }
    // Until the files are not taken to be fresh.
    std::thread::sleep(Duration::from_millis(150));
    let recorder = place.recorder(agent("[[turn]]\ntimes = \"any\"\n"));
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = std::time::Instant::now();
        play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
        best = best.min(start.elapsed());
    }
    println!("recording a call in a workspace of 5000 files takes {best:?}");
    assert!(best < Duration::from_secs(1), "{best:?}");
}

/// An agent that may call nobody.
struct Kept(interlocking_agents::Sessions);

#[async_trait::async_trait]
impl Agent for Kept {
    fn name(&self) -> &str {
        "kept"
    }

    fn sessions(&self) -> &interlocking_agents::Sessions {
        &self.0
    }

    async fn run(
        &self,
        _: &interlocking_agents::TurnContext<'_>,
        _: &Turn,
    ) -> Result<interlocking_agents::Reply, AgentError> {
        let text = || "x".to_owned();
        let forbidden = interlocking_agents::real_calls::Forbidden {
            agent: text(),
            base_url: None,
            switch: text(),
            remedy: text(),
        };
        Err(forbidden.into())
    }
}

#[tokio::test]
async fn a_call_that_was_forbidden_is_none() {
    let place = Place::new();
    let recorder = place.recorder(Kept(interlocking_agents::Sessions::new()));
    let error = play(&recorder, fresh("x")).await.0.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Forbidden(_)));
    assert_eq!((recorder.calls(), place.replayer().unplayed().len()), (Ok(0), 0));
}
