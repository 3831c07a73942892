use interlocking_agents::{
    Agent, AgentErrorKind, Conversation, Disposition, HttpModel, HttpProvider, HttpSettings, NoEvents, Nudges,
    SessionError, SessionId, Turn,
};
use interlocking_model_server::{ModelServer, Reaction, Request, Rule, Script};
use std::time::Duration;

use crate::common::{PROVIDERS, always, article, fork, fresh, go_on, key, model, run, settings};

/// Answers with the number of prompts in the request.
fn counting() -> ModelServer {
    ModelServer::start(Script::computed(|request: &Request| {
        Reaction::text(format!("{} prompts", request.prompts().len()))
    }))
    .unwrap()
}

fn kept_in(server: &ModelServer, directory: &std::path::Path) -> HttpModel {
    let sessions = Some(directory.join("sessions"));
    HttpModel::new(HttpSettings { sessions, ..settings(server, HttpProvider::Anthropic) }).with_key(key())
}

/// PRG-04: fresh, continue and fork; the parent does not notice the fork.
#[tokio::test]
async fn sessions_go_on_and_fork() {
    for provider in PROVIDERS {
        let server = counting();
        let model = model(&server, provider);
        let first = run(&model, fresh("one")).await.unwrap();
        let second = run(&model, go_on(&first.session, "two")).await.unwrap();
        let forked = run(&model, fork(&first.session, "two, otherwise")).await.unwrap();
        let third = run(&model, go_on(&first.session, "three")).await.unwrap();
        let other = run(&model, fresh("one")).await.unwrap();

        let said: Vec<_> =
            [&first, &second, &forked, &third, &other].map(|completion| completion.text.clone().unwrap()).into();
        assert_eq!(said, ["1 prompts", "2 prompts", "3 prompts", "3 prompts", "1 prompts"], "{provider}");
        assert_eq!(second.session, first.session);
        assert!(forked.session != first.session && other.session != first.session);
        assert!(first.session.as_str().starts_with("think-") && forked.session.as_str().starts_with("fork-"));
        let heard: Vec<_> = server.requests()[3].texts().map(str::to_owned).collect();
        assert_eq!(heard, ["one", "1 prompts", "two", "2 prompts", "three"], "{provider}");
    }
}

#[tokio::test]
async fn a_session_that_is_not_there_is_an_error_of_its_own() {
    let server = counting();
    let directory = tempfile::tempdir().unwrap();
    let lost = SessionId::new("think-lost").unwrap();
    for model in [model(&server, HttpProvider::OpenAi), kept_in(&server, directory.path())] {
        for turn in [go_on(&lost, "?"), fork(&lost, "?")] {
            let error = run(&model, turn).await.unwrap_err();
            assert_eq!(*error.kind, AgentErrorKind::Session(SessionError::Unknown { session: lost.clone() }));
            assert_eq!((error.disposition(), error.usage.calls), (Disposition::GiveUp, 0));
        }
    }
    assert!(server.requests().is_empty());
}

/// PRG-05: in another process; here another agent with the same directory.
#[tokio::test]
async fn sessions_in_a_directory_outlive_the_agent() {
    let (server, directory) = (counting(), tempfile::tempdir().unwrap());
    let first = run(&kept_in(&server, directory.path()), fresh("one")).await.unwrap();
    let second = run(&kept_in(&server, directory.path()), go_on(&first.session, "two")).await.unwrap();
    let forked = run(&kept_in(&server, directory.path()), fork(&first.session, "three")).await.unwrap();
    assert_eq!((second.text.as_deref(), forked.text.as_deref()), (Some("2 prompts"), Some("3 prompts")));
    assert_eq!(
        run(&model(&server, HttpProvider::Anthropic), go_on(&first.session, "two")).await.unwrap_err().usage.calls,
        0
    );

    #[cfg(unix)]
    for file in std::fs::read_dir(directory.path().join("sessions")).unwrap().map(Result::unwrap) {
        use std::os::unix::fs::PermissionsExt;
        if file.file_type().unwrap().is_dir() {
            continue; // of locks
        }
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "nobody else reads it");
    }
}

/// PRG-05: one turn at a time, for all agents that use the directory.
#[tokio::test]
async fn a_session_in_a_directory_is_guarded_for_all_who_use_it() {
    let script = Script::new()
        .rule(Rule::asked("slow").reply(Reaction::text("slow").after(Duration::from_millis(300))))
        .rule(Rule::any().reply(Reaction::text("quick")));
    let (server, directory) = (ModelServer::start(script).unwrap(), tempfile::tempdir().unwrap());
    let (one, other) = (kept_in(&server, directory.path()), kept_in(&server, directory.path()));
    let session = run(&one, fresh("quick")).await.unwrap().session;
    let (slow, rival) = tokio::join!(run(&one, go_on(&session, "slow")), async {
        server.received(|request| request.prompt() == "slow").await;
        run(&other, go_on(&session, "quick")).await
    });
    assert_eq!(slow.unwrap().text.as_deref(), Some("slow"));
    let error = rival.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Session(SessionError::Busy { .. })), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_session_is_shown() {
    let (server, directory) = (counting(), tempfile::tempdir().unwrap());
    let model = kept_in(&server, directory.path());
    let session = run(&model, fresh("one")).await.unwrap().session;
    let file = directory.path().join(format!("sessions/{session}.json"));
    for (text, complaint) in
        [("{\"version\": 1", "is no session file"), ("{\"version\": 9, \"exchanges\": []}", "of version 9")]
    {
        std::fs::write(&file, text).unwrap();
        let error = run(&model, go_on(&session, "two")).await.unwrap_err();
        assert!(
            error.to_string().contains(complaint) && error.to_string().contains(&*file.to_string_lossy()),
            "{error}"
        );
    }
}

/// Four forks at once, each with what the parent knew.
#[tokio::test(flavor = "multi_thread")]
async fn forks_run_at_the_same_time() {
    let script = Script::computed(|request: &Request| {
        Reaction::text(format!("{} of {}", request.prompt(), request.prompts()[0])).after(Duration::from_millis(100))
    });
    let server = ModelServer::start(script).unwrap();
    let model = std::sync::Arc::new(model(&server, HttpProvider::OpenAi));
    let parent = run(&model, fresh("root")).await.unwrap().session;
    let forks: Vec<_> = (0..4)
        .map(|number| {
            let (model, turn) = (model.clone(), fork(&parent, &format!("branch {number}")));
            tokio::spawn(async move { run(&model, turn).await.unwrap() })
        })
        .collect();
    let mut sessions = std::collections::BTreeSet::new();
    for (number, fork) in forks.into_iter().enumerate() {
        let completion = fork.await.unwrap();
        assert_eq!(completion.text, Some(format!("branch {number} of root")));
        sessions.insert(completion.session);
    }
    assert_eq!(sessions.len(), 4);
}

/// A failed call leaves the session usable, and its prompt is not added twice.
#[tokio::test]
async fn a_failed_turn_is_tried_again_in_its_session() {
    for provider in PROVIDERS {
        let script = Script::new()
            .rule(Rule::any().times(1).reply(Reaction::status(529, "overloaded")))
            .rule(Rule::any().reply(Reaction::text("yes")));
        let server = ModelServer::start(script).unwrap();
        let model = model(&server, provider);
        let error = run(&model, fresh("one")).await.unwrap_err();
        let Disposition::ResumeSession { session, .. } = error.disposition() else { panic!("{error:?}") };
        assert_eq!((error.usage.calls, error.usage.unpriced_calls), (1, 0), "nothing was begun");
        run(&model, go_on(&session, "one")).await.unwrap();
        assert_eq!(server.requests()[1].prompts(), ["one"], "{provider}");
    }
}

/// Otherwise every later prompt would be refused, too.
#[tokio::test]
async fn a_prompt_that_was_refused_is_not_sent_again() {
    for provider in PROVIDERS {
        for (status, is_withdrawn) in [(413, true), (400, true), (422, true), (401, false), (404, false)] {
            let script = Script::new()
                .rule(Rule::any().prompt("much too long").times(1).reply(Reaction::status(status, "no")))
                .rule(Rule::any().reply(Reaction::text("yes")));
            let server = ModelServer::start(script).unwrap();
            let model = model(&server, provider);
            let session = run(&model, fresh("one")).await.unwrap().session;
            run(&model, go_on(&session, "much too long")).await.unwrap_err();
            run(&model, go_on(&session, "two")).await.unwrap();
            let kept: &[_] = if is_withdrawn { &["one", "two"] } else { &["one", "much too long\n\ntwo"] };
            assert_eq!(server.requests()[2].prompts(), kept, "{provider} {status}");
        }
    }
}

/// A reminder is sent together with the original prompt.
#[tokio::test]
async fn a_silent_model_is_reminded_of_what_it_was_asked() {
    let script = Script::new()
        .rule(Rule::any().prompt(Nudges::PROMPT).reply(Reaction::output(serde_json::json!({ "title": "Late" }))))
        .rule(Rule::any().reply(Reaction::text("...").stalled_after(1)));
    let server = ModelServer::start(script).unwrap();
    let model = model(&server, HttpProvider::Anthropic);
    let nudges = Nudges::DEFAULT.with_idle(Some(Duration::from_millis(200)));
    let turn = Turn { schema: article(), ..fresh("Write.") };
    let completion = Conversation::new(&model).with_nudges(nudges).run(turn, &NoEvents).await.unwrap();
    assert_eq!((&completion.output["title"], completion.nudges), (&serde_json::json!("Late"), 1));
    assert_eq!(server.requests()[1].prompts(), [format!("Write.\n\n{}", Nudges::PROMPT)]);
    assert_eq!(completion.usage.unpriced_calls, 2);
}

/// The model does not touch a turn's workspace; it only ties the session to a place.
#[tokio::test]
async fn a_workspace_is_left_alone() {
    let (server, workspace) = (counting(), tempfile::tempdir().unwrap());
    let model = model(&server, HttpProvider::OpenAi);
    let turn = Turn { workspace: Some(workspace.path().to_owned()), ..fresh("one") };
    let completion = run(&model, turn).await.unwrap();
    assert_eq!(std::fs::read_dir(workspace.path()).unwrap().count(), 0);
    assert!(!model.capabilities().works && model.confines());
    assert!(!server.requests()[0].body.to_string().contains(&*workspace.path().to_string_lossy()));
    let error = run(&model, go_on(&completion.session, "two")).await.unwrap_err();
    assert!(matches!(*error.kind, AgentErrorKind::Session(SessionError::WrongWorkspace { .. })), "{error}");
}

#[tokio::test]
async fn an_empty_answer_does_not_spoil_the_session() {
    let server = always(Reaction::text(""));
    for provider in PROVIDERS {
        let model = model(&server, provider);
        let first = run(&model, fresh("one")).await.unwrap();
        assert_eq!(first.text, None);
        run(&model, go_on(&first.session, "two")).await.unwrap();
        let heard: Vec<_> = server.requests().pop().unwrap().texts().map(str::to_owned).collect();
        assert_eq!(heard, ["one", "(no answer)", "two"], "{provider}");
    }
}
