//! Runs that take turns spanning several of their nodes, and receive each other's messages before they go on.

use crate::slow::Slow;
use crate::support::{finished, pass, timed};
use askama::Template;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, LetterBody, ending};
use interlocking::runtime::{Budgets, CancelToken, Journal, MemoryJournal};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Template)]
#[template(source = "Go on.", ext = "txt")]
struct GoOn;

/// Three customers of one till.
#[derive(Graph)]
#[graph(output = usize)]
struct Shop {
    #[node(entry, input = Vec<String>, map = Customer, goto(exit))]
    customers: MapNode<Customers>,
}

/// Waits for its turn, and tells the others when it has paid; or is not ready after all, and queues again. A customer that is
/// early leaves after its turn.
#[derive(Graph)]
#[graph(output = ())]
struct Customer {
    #[node(entry, input = String, goto(pay), goto(queue), attempts = 4)]
    queue: LogicNode<Queue>,
    #[node(input = String, goto(leave, fetch))]
    pay: LogicNode<Pay>,
    #[node(input = String, goto(queue), visits = 1)]
    fetch: LogicNode<Fetch>,
    #[node(input = String, prompt = GoOn, output = bool, goto(exit))]
    leave: LLMNode<Leave>,
    #[node(on(String), resume, visits = 9)]
    hear: EventNode<Hear>,
}

held!(Shop, Customer, Counter, Couple);

type Trace = Arc<Mutex<Vec<String>>>;

struct Customers(Trace);
impl MapHandler<shop::customers> for Customers {
    fn graph(&self, _: &Cx<'_, shop::customers>) -> Result<Arc<Customer>, NodeError> {
        let trace = || self.0.clone();
        Ok(Arc::new(Customer {
            queue: LogicNode(Queue(trace())),
            pay: LogicNode(Pay(trace())),
            fetch: LogicNode(Fetch),
            leave: LLMNode(Leave(trace())),
            hear: EventNode(Hear(trace())),
        }))
    }
    async fn items(
        &self,
        names: &Vec<String>,
        _: &mut Cx<'_, shop::customers>,
    ) -> Result<Vec<Item<Customer>>, NodeError> {
        Ok(names.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        served: Children<Customer>,
        cx: &mut Cx<'_, shop::customers>,
    ) -> Route<shop::customers> {
        goto!(cx, shop::exit, served.all().await.len())
    }
}

logic!(Queue(trace: Trace) for customer::queue, |name: String, cx| {
    cx.take_turn("till").await?;
    // Taking the turn again changes nothing.
    cx.take_turn("till").await?;
    if cx.has_mail().await? {
        trace.lock().unwrap().push(format!("{name} has mail"));
        return goto!(cx, self, name);
    }
    goto!(cx, customer::pay, name)
});
logic!(Pay(trace: Trace) for customer::pay, |name: String, cx| {
    trace.lock().unwrap().push(format!("{name} pays"));
    pass(10).await;
    if name == "forgetful" && cx.visit() == 1 {
        cx.give_turn_back("till");
        return goto!(cx, customer::fetch, name);
    }
    for sibling in cx.siblings().await? {
        cx.send::<customer::hear>(&sibling, &name)?;
    }
    if name == "early" {
        cx.give_turn_back("till");
    }
    goto!(cx, customer::leave, name)
});
logic!(Fetch for customer::fetch, |name: String, cx| {
    pass(1).await;
    goto!(cx, customer::queue, name)
});

struct Leave(Trace);
impl LLMHandler<customer::leave> for Leave {
    async fn before<'a>(&'a self, _: &'a String, cx: &mut Cx<'_, customer::leave>) -> Ask<GoOn> {
        Ok((GoOn, cx.fresh_session()))
    }
    async fn after(&self, name: String, _: Reply<bool>, cx: &mut Cx<'_, customer::leave>) -> Route<customer::leave> {
        self.0.lock().unwrap().push(format!("{name} leaves"));
        goto!(cx, customer::exit, ())
    }
}

struct Hear(Trace);
impl EventHandler<customer::hear> for Hear {
    async fn handle(&self, by: String, cx: &mut Cx<'_, customer::hear>) -> Route<customer::hear> {
        let name = cx.entry()?.clone();
        self.0.lock().unwrap().push(format!("{name} hears that {by} has paid"));
        cx.resume()
    }
}

fn shop(trace: &Trace, journal: &Arc<impl Journal + 'static>) -> Run<Shop> {
    let script = Script::parse("a test's script", "[[turn]]\ntimes = 'any'\ndelay = '5ms'\noutput_json = 'true'\n");
    timed(Shop { customers: MapNode(Customers(trace.clone())) })
        .with_journal(journal.clone())
        .with_agent_for_others(Arc::new(ScriptedAgent::new(script.unwrap())))
}

fn names(names: [&str; 3]) -> Vec<String> {
    names.map(str::to_owned).into()
}

/// What happens if the customers come one after the other.
const ONE_BY_ONE: [&str; 9] = [
    "ann pays",
    "ann leaves",
    "bob hears that ann has paid",
    "bob pays",
    "bob leaves",
    "cem hears that ann has paid",
    "cem hears that bob has paid",
    "cem pays",
    "cem leaves",
];

/// The trace without the lines about mail: when several letters come one by one, mail is checked once more for each.
fn without_mail(trace: &Trace) -> Vec<String> {
    trace.lock().unwrap().iter().filter(|line| !line.ends_with("has mail")).cloned().collect()
}

/// The payments, in order.
fn pays(trace: &Trace) -> Vec<String> {
    trace.lock().unwrap().iter().filter(|line| line.ends_with("pays")).cloned().collect()
}

/// A turn lasts over several nodes, until its run ends. The next run first receives and handles all earlier messages, even if
/// they take time to arrive.
#[tokio::test(start_paused = true)]
async fn a_turn_lasts_until_its_run_has_ended() {
    for mail_takes in [0, 3, 20] {
        let (trace, journal) = (Trace::default(), Slow::with_slow_mail(mail_takes));
        assert_eq!(finished(shop(&trace, &journal).start(names(["ann", "bob", "cem"])).await.unwrap()), 3);
        assert_eq!(without_mail(&trace), ONE_BY_ONE, "{mail_takes} ms");
    }
}

/// A turn that is given back goes to the next run in line, and can be taken again.
#[tokio::test(start_paused = true)]
async fn a_turn_is_given_back() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    assert_eq!(finished(shop(&trace, &journal).start(names(["forgetful", "bob", "cem"])).await.unwrap()), 3);
    assert_eq!(pays(&trace), ["forgetful pays", "bob pays", "cem pays", "forgetful pays"]);
}

/// The number of child runs that hold a turn by their records, and have not ended.
async fn holders(journal: &MemoryJournal) -> usize {
    let mut holders = 0;
    for child in journal.children(&RunId::DEFAULT).await.unwrap() {
        let records = journal.load(&child.run).await.unwrap();
        let last = records.iter().rev().find_map(|record| match &record.entry {
            Entry::Outcome(outcome) => Some(!outcome.turns.is_empty()),
            _ => None,
        });
        holders += usize::from(ending(&records).is_none() && last == Some(true));
    }
    holders
}

/// A run that is held back because a budget is used up keeps its turn: the whole tree stops, and in the next process this run
/// goes on before any other begins.
#[tokio::test(start_paused = true)]
async fn who_is_held_back_keeps_its_turn() {
    for calls in 0..3 {
        let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
        let run = shop(&trace, &journal).with_budgets(Budgets::unlimited().with_calls(calls));
        let run = run.start(names(["ann", "bob", "cem"]));
        let report = tokio::time::timeout(Duration::from_secs(60), run).await.expect("nobody waits for ever").unwrap();
        assert!(matches!(report.outcome, Outcome::BudgetExhausted(_)), "{calls}: {:?}", report.outcome);
        assert_eq!(holders(&journal).await, 1, "{calls}");
        assert_eq!(finished(shop(&trace, &journal).resume().await.unwrap()), 3);
        assert_eq!(without_mail(&trace), ONE_BY_ONE, "{calls}");
    }
}

/// A run that waits for a turn while another run is held back gets its turn.
#[tokio::test(start_paused = true)]
async fn a_turn_comes_while_others_are_held_back() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    let run = shop(&trace, &journal).with_budgets(Budgets::unlimited().with_calls(0));
    let run = run.start(names(["early", "forgetful", "cem"]));
    let report = tokio::time::timeout(Duration::from_secs(60), run).await.expect("nobody waits for ever").unwrap();
    assert!(matches!(report.outcome, Outcome::BudgetExhausted(_)), "{:?}", report.outcome);
    assert_eq!(pays(&trace), ["early pays", "forgetful pays", "cem pays"]);
    assert_eq!(holders(&journal).await, 1);
    assert_eq!(finished(shop(&trace, &journal).resume().await.unwrap()), 3);
    assert_eq!(pays(&trace), ["early pays", "forgetful pays", "cem pays", "forgetful pays"]);
    let left = without_mail(&trace);
    let at = |line: &str| left.iter().position(|other| other == line).unwrap();
    assert!(at("cem leaves") < left.iter().rposition(|line| line == "forgetful pays").unwrap(), "{left:?}");
}

/// Whenever everything is killed, or suspended: the run that had the turn goes on in the next process before any other begins,
/// whether or not it asks again.
#[tokio::test(start_paused = true)]
async fn who_had_the_turn_comes_first_in_the_next_process() {
    for milliseconds in 1..=55 {
        for suspends in [false, true] {
            let (trace, journal, cancel) = (Trace::default(), Arc::new(MemoryJournal::new()), CancelToken::new());
            let names = names(["ann", "forgetful", "cem"]);
            let run = shop(&trace, &journal).with_cancel(cancel.clone()).start(names.clone());
            if suspends {
                let ((), _) = tokio::join!(
                    async {
                        pass(milliseconds).await;
                        cancel.suspend();
                    },
                    run
                );
            } else {
                drop(tokio::time::timeout(Duration::from_millis(milliseconds), run).await);
                // Values held by the tasks of the dropped run are dropped when the runtime polls these tasks.
                pass(0).await;
            }
            let resumed = tokio::time::timeout(Duration::from_secs(5), shop(&trace, &journal).resume());
            assert_eq!(finished(resumed.await.expect("nobody waits for ever").unwrap()), 3);
            let trace = trace.lock().unwrap();
            let is_step = |line: &&str| line.ends_with("pays") || line.ends_with("leaves");
            let mut steps: Vec<&str> = trace.iter().map(String::as_str).filter(is_step).collect();
            steps.dedup();
            // The forgetful customer pays, leaves, and comes again.
            steps.remove(steps.iter().position(|step| *step == "forgetful pays").unwrap());
            for step in steps.chunks(2) {
                let [pays, leaves] = step else { panic!("{milliseconds} ms: {trace:?}") };
                assert_eq!(pays.strip_suffix("pays"), leaves.strip_suffix("leaves"), "{milliseconds} ms: {trace:?}");
            }
        }
    }
}

/// A letter that is not a message for an event node is not mail.
#[tokio::test(start_paused = true)]
async fn only_what_is_handled_is_mail() {
    let (trace, journal) = (Trace::default(), Arc::new(MemoryJournal::new()));
    let (report, ()) = tokio::join!(shop(&trace, &journal).start(names(["ann", "bob", "cem"])), async {
        pass(5).await;
        for child in journal.children(&RunId::DEFAULT).await.unwrap() {
            let body = LetterBody::Message { node: "nobody".to_owned(), message: "1".into() };
            let letter = interlocking::runtime::journal::Letter { key: None, body };
            journal.post(&child.run, letter).await.unwrap();
        }
    });
    assert_eq!(finished(report.unwrap()), 3);
    assert_eq!(trace.lock().unwrap().iter().filter(|line| line.ends_with("has mail")).count(), 2);
}

/// Couples at one till.
#[derive(Graph)]
#[graph(output = usize)]
struct Counter {
    #[node(entry, input = u32, map = Couple, goto(exit))]
    couples: MapNode<Couples>,
}

/// Both take the couple's turn, and it is given back once for both.
#[derive(Graph)]
#[graph(output = ())]
struct Couple {
    #[node(entry, input = (), fork(pay, pack))]
    arrive: ForkNode<Arrive>,
    #[node(input = (), goto(leave))]
    pay: LogicNode<PayForBoth>,
    #[node(input = (), goto(leave))]
    pack: LogicNode<Pack>,
    #[node(join(pay: (), pack: ()), goto(exit))]
    leave: JoinNode<Together>,
}

struct Couples;
impl MapHandler<counter::couples> for Couples {
    fn graph(&self, _: &Cx<'_, counter::couples>) -> Result<Arc<Couple>, NodeError> {
        Ok(Arc::new(Couple {
            arrive: ForkNode(Arrive),
            pay: LogicNode(PayForBoth),
            pack: LogicNode(Pack),
            leave: JoinNode(Together),
        }))
    }
    async fn items(&self, couples: &u32, _: &mut Cx<'_, counter::couples>) -> Result<Vec<Item<Couple>>, NodeError> {
        Ok((0..*couples).map(|couple| Item::new(()).with_key(couple.to_string())).collect())
    }
    async fn gather(
        &self,
        _: u32,
        served: Children<Couple>,
        cx: &mut Cx<'_, counter::couples>,
    ) -> Route<counter::couples> {
        goto!(cx, counter::exit, served.all().await.iter().filter(|child| child.result.is_ok()).count())
    }
}

forks!(Arrive for couple::arrive, |_: (), cx| fork!(cx, ((), ())));
logic!(PayForBoth for couple::pay, |_: (), cx| {
    cx.take_turn("till").await?;
    pass(10).await;
    goto!(cx, couple::leave, ())
});
logic!(Pack for couple::pack, |_: (), cx| {
    cx.take_turn("till").await?;
    pass(10).await;
    goto!(cx, couple::leave, ())
});
joins!(Together for couple::leave, |((), ()): ((), ()), cx| {
    cx.give_turn_back("till");
    goto!(cx, couple::exit, ())
});

/// Two branches of a run wait for the run's turn: both go on when it comes.
#[tokio::test(start_paused = true)]
async fn a_turn_comes_to_every_branch_that_waits_for_it() {
    let run = timed(Counter { couples: MapNode(Couples) }).start(3);
    let report = tokio::time::timeout(Duration::from_secs(5), run).await.expect("nobody waits for ever").unwrap();
    assert_eq!(report.took.as_millis(), 30, "one couple at a time");
    assert_eq!(finished(report), 3);
}
