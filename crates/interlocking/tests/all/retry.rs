//! Failed runs are resumed at the failure.

mod children;
mod forks;

use crate::support::{Recording, failed, finished, pass, timed};
use askama::Template;
use interlocking::agents::SessionOp;
use interlocking::prelude::*;
use interlocking::runtime::journal::account::{ExecutionState, RunState, account};
use interlocking::runtime::journal::fork::{ForkError, ForkPoint, fork};
use interlocking::runtime::journal::stop::{Stop, stop};
use interlocking::runtime::journal::{By, Entry, Letter, LetterBody, Record};
use interlocking::runtime::{Budgets, ChildFailure, Journal, MemoryJournal, StartError};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The faults that are present, and the work that was done.
#[derive(Clone, Default)]
struct World {
    ills: Arc<Mutex<BTreeSet<&'static str>>>,
    diary: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn ill(ills: &[&'static str]) -> Self {
        let world = Self::default();
        world.ills.lock().unwrap().extend(ills);
        world
    }

    fn is_ill(&self, what: &str) -> bool {
        self.ills.lock().unwrap().contains(what)
    }

    fn cure(&self, what: &str) {
        self.ills.lock().unwrap().remove(what);
    }

    fn did(&self, what: impl Into<String>) {
        self.diary.lock().unwrap().push(what.into());
    }

    /// The work done since the last call, sorted.
    fn done(&self) -> Vec<String> {
        let mut done = std::mem::take(&mut *self.diary.lock().unwrap());
        done.sort();
        done
    }

    fn check(&self, what: &str) -> Result<(), NodeError> {
        if self.is_ill(what) { Err(format!("{what} is broken").into()) } else { Ok(()) }
    }
}

/// A press that fails, a slow reader beside it, messages, and a last node.
#[derive(Graph)]
#[graph(output = u32)]
struct House {
    #[node(entry, input = u32, fork(press, read))]
    split: ForkNode<Split>,
    #[node(input = u32, goto(gate))]
    press: LogicNode<Press>,
    #[node(input = u32, goto(gate))]
    read: LogicNode<Read>,
    #[node(join(press: u32, read: u32), goto(exit))]
    gate: JoinNode<Gate>,
    #[node(on(u32), resume, goto(press, cancels(press)), visits = 2)]
    mail: EventNode<Mail>,
    #[node(observes(split), report = u32, reports_to(exit))]
    witness: ObserverNode<Witness>,
}
held!(House, Print, Workshop, Part);

forks!(Split(world: World) for house::split, |input: u32, cx| {
    world.did("split");
    fork!(cx, (input, input))
});
logic!(Press(world: World) for house::press, |input: u32, cx| {
    let paid = cx.once("pay", async { world.did("pay"); Ok(input) }).await?;
    world.did(format!("press {}.{} restarted {}", cx.visit(), cx.attempt(), cx.restarts()));
    pass(10).await;
    world.check("press")?;
    goto!(cx, house::gate, paid + 1)
});
logic!(Read(world: World) for house::read, |input: u32, cx| {
    world.did(format!("read {}.{} restarted {}", cx.visit(), cx.attempt(), cx.restarts()));
    pass(30).await;
    goto!(cx, house::gate, input)
});
joins!(Gate(world: World) for house::gate, |(press, read): (u32, u32), cx| {
    world.did("gate");
    goto!(cx, house::exit, press + read)
});
struct Mail(World);
impl EventHandler<house::mail> for Mail {
    async fn handle(&self, message: u32, cx: &mut Cx<'_, house::mail>) -> Route<house::mail> {
        self.0.did(format!("mail {message} {} restarted {}", cx.visit(), cx.restarts()));
        self.0.check("mail")?;
        cx.resume()
    }
}
struct Witness;
impl ObserverHandler<house::witness> for Witness {
    async fn observe(&self, _: &Observation, seen: &mut u32) -> Result<(), NodeError> {
        *seen += 1;
        Ok(())
    }
}
impl Finish for House {
    async fn finish(&self, output: u32, reports: Self::Reports) -> Result<u32, NodeError> {
        self.gate.0.0.check("finish")?;
        let seen = reports.witness.into_iter().next().ok_or("nobody saw it")?.result?;
        Ok(output + 100 * seen)
    }
}

fn id(name: &str) -> RunId {
    name.parse().unwrap()
}

fn house(world: &World, journal: &Arc<MemoryJournal>) -> Run<House> {
    let graph = House {
        split: ForkNode(Split(world.clone())),
        press: LogicNode(Press(world.clone())),
        read: LogicNode(Read(world.clone())),
        gate: JoinNode(Gate(world.clone())),
        mail: EventNode(Mail(world.clone())),
        witness: ObserverNode(Witness),
    };
    timed(graph).with_id(id("house")).with_journal(journal.clone())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_failed_goes_on_where_it_did() {
    let (world, journal) = (World::ill(&["press"]), Arc::new(MemoryJournal::new()));
    let failure = failed(house(&world, &journal).start(3).await.unwrap());
    assert_eq!((failure.node.as_str(), failure.visit), ("press", 1));
    assert_eq!(world.done(), ["pay", "press 1.1 restarted 0", "read 1.1 restarted 0", "split"]);

    // It may fail again, each time it is retried.
    for retried in 1..=2 {
        assert_eq!(failed(house(&world, &journal).retry().await.unwrap()), failure);
        let again = [format!("press 1.1 restarted {retried}"), format!("read 1.1 restarted {retried}")];
        assert_eq!(world.done(), again, "nothing is done again that was done");
        let told = account(&*journal, &id("house")).await.unwrap();
        assert_eq!((told.state, told.retried, told.resumed), (RunState::Failed, retried, retried));
        assert_eq!(failed(house(&world, &journal).resume().await.unwrap()), failure, "a resume does nothing");
        assert!(world.done().is_empty());
    }

    // An interrupted run has not failed: it is resumed, even by another process.
    world.cure("press");
    tokio::time::timeout(Duration::from_millis(15), house(&world, &journal).retry()).await.unwrap_err();
    assert_eq!(world.done(), ["press 1.1 restarted 3", "read 1.1 restarted 3"]);
    let told = account(&*journal, &id("house")).await.unwrap();
    assert_eq!((told.state, told.failure), (RunState::Stopped, None));
    let states = told.executions.iter().map(|known| (known.by.node.as_str(), known.state));
    assert_eq!(
        states.collect::<Vec<_>>(),
        [("split", ExecutionState::Done), ("press", ExecutionState::Done), ("read", ExecutionState::Interrupted)]
    );
    assert_eq!(journal.runs().await.unwrap()[0].ended, None);
    let report = house(&world, &journal).resume().await.unwrap();
    assert_eq!(report.visits, [("split", 1), ("press", 1), ("read", 1), ("gate", 1)]);
    assert_eq!(finished(report), 107);
    assert_eq!(world.done(), ["gate", "read 1.1 restarted 4"]);
    assert_eq!(finished(house(&world, &journal).resume().await.unwrap()), 107);
}

#[tokio::test(start_paused = true)]
async fn only_what_has_failed_is_retried() {
    let (world, journal) = (World::default(), Arc::new(MemoryJournal::new()));
    let refused = || async { house(&world, &journal).retry().await.unwrap_err() };
    assert_eq!(refused().await, StartError::NoRun { run: id("house") });
    tokio::time::timeout(Duration::from_millis(15), house(&world, &journal).start(3)).await.unwrap_err();
    assert_eq!(
        refused().await.to_string(),
        "run `house` has not failed, so there is nothing to retry: it has not ended, resume it"
    );
    let before = journal.records(&id("house"));
    assert_eq!(refused().await, StartError::NotFailed { run: id("house"), ended: None });
    assert_eq!(journal.records(&id("house")), before, "nothing was done");
    finished(house(&world, &journal).resume().await.unwrap());
    assert_eq!(refused().await.to_string(), "run `house` has not failed, so there is nothing to retry: it is finished");
    let unrecorded = house(&world, &journal).without_journal().retry().await.unwrap_err();
    assert_eq!(unrecorded, StartError::NoJournal { run: id("house") });
}

/// Its visit number stays the same, and its message is not lost.
#[tokio::test(start_paused = true)]
async fn an_event_node_that_failed_handles_its_message_again() {
    let (world, journal) = (World::ill(&["mail"]), Arc::new(MemoryJournal::new()));
    let run = house(&world, &journal).start(3);
    let (report, ()) = tokio::join!(run, async {
        pass(20).await;
        let body = LetterBody::Message { node: "mail".to_owned(), message: "7".into() };
        journal.post(&id("house"), Letter { key: None, body }).await.unwrap();
    });
    let report = report.unwrap();
    let visits = report.visits.clone();
    assert_eq!(failed(report).node, "mail");
    world.done();
    for retried in 1..=2 {
        if retried == 2 {
            world.cure("mail");
        }
        let report = house(&world, &journal).retry().await.unwrap();
        assert!(world.done().contains(&format!("mail 7 1 restarted {retried}")));
        if retried == 1 {
            assert_eq!(report.visits, visits);
            let recalled = house(&world, &journal).resume().await.unwrap();
            assert_eq!((recalled.visits, &recalled.outcome), (visits.clone(), &report.outcome));
        } else {
            assert_eq!(finished(report), 107);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_failed_at_its_exit_has_only_its_end_before_it() {
    let (world, journal) = (World::ill(&["finish"]), Arc::new(MemoryJournal::new()));
    assert_eq!(failed(house(&world, &journal).start(3).await.unwrap()).message, "finish is broken");
    world.done();
    world.cure("finish");
    assert_eq!(finished(house(&world, &journal).retry().await.unwrap()), 107);
    assert!(world.done().is_empty());
}

/// A request to end the run applied to the run before the retry; a later request takes effect.
#[tokio::test(start_paused = true)]
async fn a_retry_outlives_an_old_wish_that_the_run_ends() {
    let (world, journal) = (World::ill(&["press"]), Arc::new(MemoryJournal::new()));
    failed(house(&world, &journal).start(3).await.unwrap());
    let claim = journal.claim(&id("house")).await.unwrap();
    let wish = Letter { key: Some("cancel".to_owned()), body: LetterBody::Cancel };
    journal.post(&id("house"), wish).await.unwrap();
    drop(claim);
    assert_eq!(failed(house(&world, &journal).retry().await.unwrap()).node, "press");
    world.cure("press");
    let retry = house(&world, &journal).retry();
    let (report, asked) = tokio::join!(retry, async {
        pass(20).await;
        stop(&*journal, &id("house")).await.unwrap()
    });
    assert_eq!(asked, Stop::Asked { holder: "this process".to_owned() });
    assert_eq!(report.unwrap().outcome, Outcome::Cancelled);
    let refused = house(&world, &journal).retry().await.unwrap_err();
    assert_eq!(refused, StartError::NotFailed { run: id("house"), ended: Some("cancelled") });
}

#[derive(Template)]
#[template(source = "Print {{ what }}.", ext = "txt")]
struct PrintPrompt<'a> {
    what: &'a str,
}

#[derive(Graph)]
#[graph(output = u32)]
struct Print {
    #[node(entry, input = String, prompt = PrintPrompt<'_>, output = u32, goto(exit))]
    press: LLMNode<Prints>,
}
struct Prints(World);
impl LLMHandler<print::press> for Prints {
    async fn before<'a>(&'a self, what: &'a String, _: &mut Cx<'_, print::press>) -> Ask<PrintPrompt<'a>> {
        Ok((PrintPrompt { what }, SessionOp::StartFresh(Slug::new("press")?)))
    }
    async fn after(&self, _: String, reply: Reply<u32>, cx: &mut Cx<'_, print::press>) -> Route<print::press> {
        self.0.check("press")?;
        goto!(cx, print::exit, reply.output)
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_goes_on_in_its_session_and_what_it_has_used_up_counts() {
    let (world, journal) = (World::ill(&["press"]), Arc::new(MemoryJournal::new()));
    let agent = Recording::new("[[turn]]\noutput_json = '7'\ncost = 0.02\n[[turn]]\noutput_json = '7'\ncost = 0.02");
    let run = |calls| {
        let mut budgets = Budgets::unlimited();
        budgets.calls = Some(calls);
        let run = timed(Print { press: LLMNode(Prints(world.clone())) }).with_journal(journal.clone());
        run.with_agent("press", agent.clone()).with_budgets(budgets)
    };
    assert_eq!(failed(run(1).start("it".to_owned()).await.unwrap()).node, "press");
    let stopped = run(1).retry().await.unwrap();
    assert!(matches!(stopped.outcome, Outcome::BudgetExhausted(_)), "{:?}", stopped.outcome);
    world.cure("press");
    let report = run(2).resume().await.unwrap();
    assert_eq!((report.usage().calls, report.usage().cost.to_string()), (2, "$0.04".to_owned()));
    assert_eq!(finished(report), 7);
    let turns = agent.turns();
    assert_eq!(turns.len(), 2);
    assert!(matches!(turns[1].session, SessionOp::ContinueFrom(_)), "{:?}", turns[1].session);
}

/// A workshop whose parts have parts.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Workshop {
    #[node(entry, input = Vec<String>, map = Part, goto(exit))]
    parts: MapNode<Parts>,
}
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Part {
    #[node(entry, input = String, goto(make))]
    plan: LogicNode<Plan>,
    #[node(input = String, goto(exit, below))]
    make: LogicNode<Make>,
    #[node(input = Vec<String>, map = Part, depth = 3, goto(exit))]
    below: MapNode<Below>,
}
logic!(Plan(world: World) for part::plan, |name: String, cx| {
    world.did(format!("plan {name}"));
    goto!(cx, part::make, name)
});
logic!(Make(world: World) for part::make, |name: String, cx| {
    pass(if name == "slow" { 50 } else { 10 }).await;
    world.check(&name)?;
    world.did(format!("make {name}"));
    match name.as_str() {
        "deep" => goto!(cx, part::below, vec!["screw".to_owned()]),
        _ => goto!(cx, part::exit, vec![name]),
    }
});
fn parts(world: &World) -> Part {
    Part { plan: LogicNode(Plan(world.clone())), make: LogicNode(Make(world.clone())), below: MapNode(Below) }
}
struct Below;
impl MapHandler<part::below> for Below {
    fn graph(&self, cx: &Cx<'_, part::below>) -> Result<Arc<Part>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(&self, names: &Vec<String>, _: &mut Cx<'_, part::below>) -> Result<Vec<Item<Part>>, NodeError> {
        Ok(names.iter().cloned().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Part>,
        cx: &mut Cx<'_, part::below>,
    ) -> Route<part::below> {
        let mut all = vec!["deep".to_owned()];
        for child in children.all().await {
            all.extend(child.result?);
        }
        goto!(cx, part::exit, all)
    }
}
struct Parts(World);
impl MapHandler<workshop::parts> for Parts {
    fn graph(&self, _: &Cx<'_, workshop::parts>) -> Result<Arc<Part>, NodeError> {
        Ok(Arc::new(parts(&self.0)))
    }
    async fn items(&self, names: &Vec<String>, _: &mut Cx<'_, workshop::parts>) -> Result<Vec<Item<Part>>, NodeError> {
        Ok(names.iter().map(|name| Item::new(name.clone()).with_key(name.clone())).collect())
    }
    async fn gather(
        &self,
        _: Vec<String>,
        mut children: Children<Part>,
        cx: &mut Cx<'_, workshop::parts>,
    ) -> Route<workshop::parts> {
        let mut all = Vec::new();
        while let Some(child) = children.any().await {
            match child.result {
                Err(ChildFailure::Cancelled) => all.push(format!("no {}", child.key)),
                result => all.extend(result?),
            }
        }
        all.sort();
        goto!(cx, workshop::exit, all)
    }
}
