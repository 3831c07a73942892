//! Events: everything that happens, in order, with its time.

use crate::support::{Log, Recording, pass, timed};
use askama::Template;
use expect_test::expect;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::runtime::event::channel;

#[derive(Template)]
#[template(source = "Check {{ text }}.", ext = "txt")]
struct CheckPrompt<'a> {
    text: &'a str,
}

#[derive(Graph)]
#[graph(output = String)]
struct Press {
    #[node(entry, input = String, fork(print, check))]
    split: ForkNode<Split>,
    #[node(input = String, goto(print, desk), visits = 2)]
    print: LogicNode<Print>,
    #[node(input = String, prompt = CheckPrompt<'_>, output = bool, goto(desk))]
    check: LLMNode<Check>,
    #[node(join(print: String, check: bool), goto(race))]
    desk: JoinNode<Desk>,
    #[node(input = String, fork(fast, slow))]
    race: ForkNode<Race>,
    #[node(input = String, goto(exit, cancels(slow)))]
    fast: LogicNode<Fast>,
    #[node(input = (), goto(exit, cancels(fast)))]
    slow: LogicNode<Slow>,
}

held!(Press);

forks!(Split for press::split, |text: String, cx| fork!(cx, (text.clone(), text)));
logic!(Print for press::print, |text: String, cx| {
    pass(5).await;
    cx.note(format!("proof {}", cx.visit()));
    if cx.visit() == 1 { goto!(cx, self, text) } else { goto!(cx, press::desk, text) }
});
struct Check;
impl LLMHandler<press::check> for Check {
    async fn before<'a>(&'a self, text: &'a String, _: &mut Cx<'_, press::check>) -> Ask<CheckPrompt<'a>> {
        Ok((CheckPrompt { text }, SessionOp::StartFresh(Slug::new("check")?)))
    }
    async fn after(&self, _: String, reply: Reply<bool>, cx: &mut Cx<'_, press::check>) -> Route<press::check> {
        goto!(cx, press::desk, reply.output)
    }
}
joins!(Desk for press::desk, |(text, _): (String, bool), cx| goto!(cx, press::race, text));
forks!(Race for press::race, |text: String, cx| fork!(cx, (text, ())));
logic!(Fast for press::fast, |text: String, cx| {
    pass(1).await;
    goto!(cx, press::exit, text)
});
logic!(Slow for press::slow, |_: (), cx| {
    pass(60_000).await;
    goto!(cx, press::exit, String::new())
});

fn press() -> Run<Press> {
    let graph = Press {
        split: ForkNode(Split),
        print: LogicNode(Print),
        check: LLMNode(Check),
        desk: JoinNode(Desk),
        race: ForkNode(Race),
        fast: LogicNode(Fast),
        slow: LogicNode(Slow),
    };
    let script = "[[turn]]\ndelay = '30ms'\noutput_json = 'true'\ntext = 'Fine.'\ncost = 0.01\n";
    timed(graph).with_agent("check", Recording::new(script))
}

#[tokio::test(start_paused = true)]
async fn the_trace_of_a_run() {
    let expected = expect![[r#"
        0 run of Press started
        0 started split 1.1
        0 finished split 1.1 to print+check after 0
        0 started print 1.1
        0 started check 1.1
        0 agent check 1.1 "started"
        5 note print 1.1 proof 1
        5 finished print 1.1 to print after 5
        5 started print 2.1
        10 note print 2.1 proof 2
        10 finished print 2.1 to desk.print after 5
        30 agent check 1.1 "text"
        30 agent check 1.1 "finished"
        30 finished check 1.1 to desk.check after 30
        30 started desk 1.1
        30 finished desk 1.1 to race after 0
        30 started race 1.1
        30 finished race 1.1 to fast+slow after 0
        30 started fast 1.1
        30 started slow 1.1
        31 finished fast 1.1 to exit after 1
        31 cancelled slow 1.1
        31 ended finished: $0.01 in 1 call, 0 tokens in, 0 tokens out
    "#]];
    let log = Log::new();
    press().with_events(log.sink()).start("the text".to_owned()).await.unwrap();
    expected.assert_eq(&log.lines());
    // The same without a journal, where a lone token takes the shortcut from node to node.
    let short = Log::new();
    press().without_journal().with_events(short.sink()).start("the text".to_owned()).await.unwrap();
    assert_eq!(short.lines(), log.lines());
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_events_follows_the_run_and_ends_with_it() {
    let (sink, mut events) = channel();
    let run = tokio::spawn(press().with_events(sink).start("the text".to_owned()));
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::NodeStarted(node) = &event.kind
            && node.node == "slow"
        {
            assert!(!run.is_finished(), "events come while the run goes on");
        }
        seen.push(event);
    }
    run.await.unwrap().unwrap();
    assert!(matches!(seen.first().unwrap().kind, EventKind::RunStarted { .. }));
    assert!(matches!(seen.last().unwrap().kind, EventKind::RunEnded { ref outcome, .. } if outcome == "finished"));
    assert!(seen.is_sorted_by_key(|event| event.at_ms));
    assert!(events.try_next().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_listener_has_gone_goes_on() {
    let (sink, events) = channel();
    drop(events);
    let report = press().with_events(sink).start("the text".to_owned()).await.unwrap();
    assert_eq!(report.outcome.name(), "finished");
}
