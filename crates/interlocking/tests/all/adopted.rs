//! Children that a later visit of their map adopts belong to that visit from then on, however they end.

use crate::support::{failed, finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Entry, Origin};
use interlocking::runtime::map::{Children, Item};
use interlocking::runtime::{Journal, MemoryJournal};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The work that was done, and whether slow hulls leak.
#[derive(Clone, Default)]
struct Docks {
    diary: Arc<Mutex<Vec<String>>>,
    leaks: Arc<AtomicBool>,
}

impl Docks {
    fn did(&self, what: &str, name: &str) {
        self.diary.lock().unwrap().push(format!("{what} {name}"));
    }

    /// The work done since the last call, sorted.
    fn done(&self) -> Vec<String> {
        let mut done = std::mem::take(&mut *self.diary.lock().unwrap());
        done.sort();
        done
    }
}

/// A ship whose plan is done at once, and whose hull takes a while.
#[derive(Graph)]
#[graph(output = String)]
struct Ship {
    #[node(entry, input = String, goto(hull))]
    plan: LogicNode<Plan>,
    #[node(input = String, goto(exit))]
    hull: LogicNode<Hull>,
}

/// Starts a second visit as soon as one ship is done, and then waits for all.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Yard {
    #[node(entry, input = (), map = Ship, adopt, goto(ships, exit), visits = 2)]
    ships: MapNode<Ships>,
}
held!(Ship, Yard);

logic!(Plan(docks: Docks) for ship::plan, |name: String, cx| {
    docks.did("plan", &name);
    goto!(cx, ship::hull, name)
});
logic!(Hull(docks: Docks) for ship::hull, |name: String, cx| {
    pass(match name.as_str() { "quick" => 5, "slow" => 50, _ => 500 }).await;
    docks.did("build", &name);
    if name == "slow" && docks.leaks.load(Ordering::SeqCst) {
        return Err("it leaks".into());
    }
    goto!(cx, ship::exit, name)
});

/// Whether the yard fails with a ship.
struct Ships(Docks, bool);
impl MapHandler<yard::ships> for Ships {
    fn graph(&self, _: &Cx<'_, yard::ships>) -> Result<Arc<Ship>, NodeError> {
        let docks = || self.0.clone();
        Ok(Arc::new(Ship { plan: LogicNode(Plan(docks())), hull: LogicNode(Hull(docks())) }))
    }
    async fn items(&self, (): &(), _: &mut Cx<'_, yard::ships>) -> Result<Vec<Item<Ship>>, NodeError> {
        Ok(["quick", "slow", "long"].map(|name| Item::new(name.to_owned())).into())
    }
    async fn gather(&self, (): (), mut ships: Children<Ship>, cx: &mut Cx<'_, yard::ships>) -> Route<yard::ships> {
        let mut told = BTreeMap::new();
        while let Some(ship) = ships.any().await {
            if cx.visit() == 1 {
                return goto!(cx, self, ());
            }
            match ship.result {
                Err(failure) if self.1 => return Err(failure.into()),
                result => told.insert(ship.item, result.unwrap_or_else(|failure| failure.to_string())),
            };
        }
        goto!(cx, yard::exit, told.into_values().collect())
    }
}

fn yard(docks: &Docks, fails: bool, journal: &Arc<MemoryJournal>) -> Run<Yard> {
    timed(Yard { ships: MapNode(Ships(docks.clone(), fails)) }).with_journal(journal.clone())
}

/// For each child the visit that started it, and the visit that resumed it last.
async fn visits(journal: &MemoryJournal) -> Vec<(u32, Option<u32>)> {
    let mut visits = Vec::new();
    for summary in journal.runs().await.unwrap() {
        let Some(Origin::Child { visit, .. }) = summary.origin else { continue };
        let last = journal.records(&summary.run).into_iter().rev().find_map(|record| match record.entry {
            Entry::Resumed { taken_by, .. } => taken_by.map(|by| by.visit),
            _ => None,
        });
        visits.push((visit, last));
    }
    visits.sort();
    visits
}

/// Children that failed in the adopting visit, and children that were ended with it.
#[tokio::test(start_paused = true)]
async fn adopted_children_are_retried_with_the_visit_that_has_adopted_them() {
    let (docks, journal) = (Docks::default(), Arc::new(MemoryJournal::new()));
    docks.leaks.store(true, Ordering::SeqCst);
    assert_eq!(failed(yard(&docks, true, &journal).start(()).await.unwrap()).visit, 2);
    assert_eq!(docks.done(), ["build quick", "build slow", "plan long", "plan quick", "plan slow"]);
    // First it fails again, then it succeeds.
    for leaks in [true, false] {
        docks.leaks.store(leaks, Ordering::SeqCst);
        let report = yard(&docks, true, &journal).retry().await.unwrap();
        if leaks {
            assert_eq!(failed(report).visit, 2);
            assert_eq!(docks.done(), ["build slow"], "no plan is made again");
        } else {
            assert_eq!(finished(report), ["quick", "slow", "long"]);
            assert_eq!(docks.done(), ["build long", "build slow"], "no plan is made again");
        }
    }
    assert_eq!(visits(&journal).await, [(1, None), (1, Some(2)), (1, Some(2))]);
}

/// Rule 15: after a crash children are always adopted, including a child that failed in the visit.
#[tokio::test(start_paused = true)]
async fn an_adopted_child_that_failed_before_a_crash_has_failed_after_it() {
    let (docks, journal) = (Docks::default(), Arc::new(MemoryJournal::new()));
    docks.leaks.store(true, Ordering::SeqCst);
    let killed = tokio::time::timeout(Duration::from_millis(200), yard(&docks, false, &journal).start(())).await;
    assert!(killed.is_err());
    assert_eq!(docks.done(), ["build quick", "build slow", "plan long", "plan quick", "plan slow"]);
    docks.leaks.store(false, Ordering::SeqCst);
    let told = finished(yard(&docks, false, &journal).resume().await.unwrap());
    assert_eq!(told, ["quick", "node `hull` failed: it leaks", "long"]);
    assert_eq!(docks.done(), ["build long"]);
    assert_eq!(visits(&journal).await, [(1, None), (1, Some(2)), (1, Some(2))]);
}
