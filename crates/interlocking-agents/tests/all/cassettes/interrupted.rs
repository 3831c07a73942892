//! Calls that do not end, or that take their time.

use super::*;

/// A call that was interrupted waits until it is interrupted again; then it gives the recorded error.
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

/// CON-18: idleness is recorded as the interruption that it caused, and the reminder as a separate call.
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

/// The call's future was dropped: the cassette contains what the agent had done by then, and no end.
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
