//! What is recorded, and what is not.

use super::*;

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

    // A recorder that was killed left this behind.
    std::fs::rename(place.cassette().join("thesis.txt"), place.cassette().join(".new-abc")).unwrap();
    drop(place.recorder(any()));
    assert_eq!(tree(&place.cassette()).into_keys().collect::<Vec<_>>(), [Path::new("cassette.json")]);
    let elsewhere = place.0.path().join("other");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("2024.json"), "the year's accounts").unwrap();
    let not_one = Replayer::open(&elsewhere).unwrap_err();
    assert!(matches!(not_one, CassetteError::NotACassette { .. }), "{not_one}");
    let refused = Recorder::new(Arc::new(any()), &elsewhere).unwrap_err();
    assert!(matches!(refused, CassetteError::NotACassette { .. }), "{refused}");
    assert_eq!(std::fs::read(elsewhere.join("2024.json")).unwrap(), b"the year's accounts");
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

/// Opening the pipe would wait for a writer, and reading the file would take hours.
#[cfg(unix)]
#[tokio::test]
async fn a_pipe_named_like_a_tag_and_a_huge_file_do_not_stop_a_recorder() {
    let place = Place::new();
    let script = "
        [[turn]]
        [[turn.run]]
        command = [\"sh\", \"-c\", \"mkdir piped && mkfifo piped/CACHEDIR.TAG\"]
        [[turn]]
        [[turn.run]]
        command = [\"sh\", \"-c\", \"dd if=/dev/null of=huge bs=1024 seek=1073741824\"]
    ";
    let workspace = place.workspace("then");
    let recorder = place.recorder(agent(script));
    play(&recorder, fresh_in(&workspace, "x")).await.0.unwrap();
    assert!(place.texts().contains("\"piped\""), "{}", place.texts());
    let error = cassette_error(play(&recorder, fresh_in(&workspace, "x")).await.0);
    let limit = Recorder::DEFAULT_LIMIT;
    assert_eq!(error, CassetteError::TooLarge { bytes: 1 << 40, limit, largest: "huge".into() });
}

/// Obstacles in the workspace of a replay: nothing is written through a link, and a file does not replace a directory.
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

/// A fork may run in another workspace, and its sessions have the recorded ids.
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

/// An agent whose calls are forbidden.
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
