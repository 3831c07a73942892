//! What a handler can ask of its run: the entry value, and the inputs of other nodes.

use crate::support::{failed, finished, timed};
use interlocking::context::ContextError;
use interlocking::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Topic {
    title: String,
    words: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Draft {
    topic: Topic,
    /// Payloads may be complex, and are read back unchanged.
    sources: Vec<(String, Option<f64>)>,
    feedback: Option<String>,
}

#[derive(Graph)]
#[graph(output = (Draft, Draft))]
struct Paper {
    #[node(entry, input = Topic, goto(write))]
    plan: LogicNode<Plan>,
    #[node(input = Draft, fork(spell, facts), visits = 2)]
    write: ForkNode<Write>,
    #[node(input = String, goto(desk))]
    spell: LogicNode<Spell>,
    #[node(input = u32, goto(desk))]
    facts: LogicNode<Facts>,
    #[node(join(spell: String, facts: (u32, bool)), goto(judge))]
    desk: JoinNode<Desk>,
    /// Sends the draft back unchanged, with the feedback added.
    #[node(input = bool, goto(write, exit))]
    judge: LogicNode<Judge>,
}

logic!(Plan for paper::plan, |topic: Topic, cx| {
    assert_eq!(cx.entry()?, &topic);
    let sources = vec![("a ü \" \\ \u{1F600}".to_owned(), Some(0.1 + 0.2)), (String::new(), None)];
    goto!(cx, paper::write, Draft { topic, sources, feedback: None })
});
forks!(Write for paper::write, |draft: Draft, cx| {
    assert_eq!(cx.input_of::<paper::write>()?, draft, "its own input is the last one");
    fork!(cx, (draft.topic.title, draft.topic.words))
});
logic!(Spell for paper::spell, |title: String, cx| goto!(cx, paper::desk, title));
logic!(Facts for paper::facts, |words: u32, cx| goto!(cx, paper::desk, (words, true)));
joins!(Desk for paper::desk, |_: (String, (u32, bool)), cx| goto!(cx, paper::judge, cx.visit() == 2));
logic!(Judge for paper::judge, |good: bool, cx| {
    let title = cx.entry()?.title.clone();
    let slots = cx.input_of::<paper::desk>()?;
    assert_eq!(slots, (title, (3, true)), "a join's input is the tuple of its slots");
    let written = cx.input_of::<paper::write>()?;
    match good {
        false => goto!(cx, paper::write, Draft { feedback: Some("shorter".into()), ..written }),
        true => {
            let original = Draft { feedback: None, ..written.clone() };
            goto!(cx, paper::exit, (original, written))
        }
    }
});

fn paper() -> Paper {
    Paper {
        plan: LogicNode(Plan),
        write: ForkNode(Write),
        spell: LogicNode(Spell),
        facts: LogicNode(Facts),
        desk: JoinNode(Desk),
        judge: LogicNode(Judge),
    }
}

/// PRG-36: a back-route starts from the stored input, which is the original to the last bit except for what the route
/// adds. PRG-37: the entry value is there for every handler.
#[tokio::test(start_paused = true)]
async fn back_routes_use_the_stored_input_and_every_node_sees_the_entry_value() {
    let topic = Topic { title: "Lending".into(), words: 3 };
    let (original, last) = finished(timed(paper()).start(topic.clone()).await.unwrap());
    let expected = Draft {
        topic,
        sources: vec![("a ü \" \\ \u{1F600}".to_owned(), Some(0.300_000_000_000_000_04)), (String::new(), None)],
        feedback: None,
    };
    assert_eq!(original, expected);
    assert_eq!(last.feedback.as_deref(), Some("shorter"), "the last input, not the first");
}

#[derive(Graph)]
#[graph(output = String)]
struct Forgetful {
    #[node(entry, input = bool, goto(later, exit))]
    ask: LogicNode<Ask>,
    #[node(input = (), goto(exit), workspace = "main")]
    later: LogicNode<Later>,
}

held!(Paper, Forgetful);

logic!(Ask for forgetful::ask, |through: bool, cx| match cx.input_of::<forgetful::later>() {
    _ if through => goto!(cx, forgetful::later, ()),
    Err(error @ (ContextError::NeverEntered { .. } | ContextError::NoJournal { .. })) => {
        goto!(cx, forgetful::exit, format!("{error:?}: {error}"))
    }
    other => panic!("{other:?}"),
});
logic!(Later for forgetful::later, |_: (), cx| {
    cx.input_of::<forgetful::ask>()?;
    goto!(cx, forgetful::exit, "read".into())
});

fn forgetful() -> Forgetful {
    Forgetful { ask: LogicNode(Ask), later: LogicNode(Later) }
}

/// PRG-39: a missing value is an error that says what is missing and why; no value is made up.
#[tokio::test(start_paused = true)]
async fn an_input_that_is_not_there_is_a_typed_error() {
    assert_eq!(
        finished(timed(forgetful()).start(false).await.unwrap()),
        "NeverEntered { node: \"later\" }: node `later` has not been entered in this run, so it has no input"
    );
    assert_eq!(
        finished(timed(forgetful()).without_journal().start(false).await.unwrap()),
        "NoJournal { node: \"later\" }: the last input of `later` is not kept: give the run a journal, which keeps every \
         input"
    );
    assert_eq!(finished(timed(forgetful()).start(true).await.unwrap()), "read");
}

/// PRG-39: an error that a handler passes on with `?` ends the run as a configuration error.
#[tokio::test(start_paused = true)]
async fn a_missing_input_that_nobody_handles_fails_as_configuration() {
    let failure = failed(timed(forgetful()).without_journal().start(true).await.unwrap());
    assert_eq!((failure.node.as_str(), &failure.kind), ("later", &FailureKind::Configuration));
    assert_eq!(failure.message, "the last input of `ask` is not kept: give the run a journal, which keeps every input");
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_its_run_and_its_node() {
    #[derive(Graph)]
    #[graph(output = String)]
    struct Names {
        #[node(entry, input = (), goto(exit))]
        only: LogicNode<Only>,
    }
    crate::held::is_held::<Names>(module_path!());
    logic!(Only for names::only, |_: (), cx| {
        cx.note("still here");
        goto!(cx, names::exit, format!("{} of {}", cx.node(), cx.run_id()))
    });
    let log = crate::support::Log::new();
    let run = timed(Names { only: LogicNode(Only) }).with_id("night-7".parse().unwrap()).with_events(log.sink());
    assert_eq!(finished(run.start(()).await.unwrap()), "only of night-7");
    assert_eq!(log.line("note only 1.1"), "0 note only 1.1 still here");
}
