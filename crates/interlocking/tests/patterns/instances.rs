//! Several instances of one task: patterns 12 to 15, 26, 41 and 42.

use crate::support::{finished, timed};
use crate::trace::{Does, Trace, played, played_with};
use interlocking::graph::Node;
use interlocking::prelude::*;
use std::sync::Arc;

/// Letters are sent beside the graph, which goes on at once.
#[derive(Graph)]
#[graph(output = usize)]
struct Unsynchronized {
    #[node(entry, input = Vec<u64>, goto(archive), spawn(send))]
    write: LogicNode<Write>,
    #[node(input = usize, goto(exit))]
    archive: LogicNode<Does>,
    #[node(input = u64, report = u64, reports_to(exit))]
    send: AdvisoryNode<Does>,
}
does!(unsynchronized::archive => unsynchronized::exit);
logic!(Write for unsynchronized::write, |letters: Vec<u64>, cx| {
    for letter in &letters {
        cx.spawn::<unsynchronized::send>(*letter);
    }
    goto!(cx, unsynchronized::archive, letters.len())
});
impl AdvisoryHandler<unsynchronized::send> for Does {
    async fn advise(&self, takes: u64, _: &mut Cx<'_, unsynchronized::send>) -> Result<u64, NodeError> {
        self.0.works("send", takes).await;
        if takes == 13 { Err("it has no address".into()) } else { Ok(takes) }
    }
}
impl Finish for Unsynchronized {
    async fn finish(&self, archived: usize, _: interlocking::graph::ReportsOf<Self>) -> Result<usize, NodeError> {
        Ok(archived)
    }
}

/// Pattern 12: any number of instances, at once; no node waits for them or depends on how they end.
#[tokio::test(start_paused = true)]
async fn instances_without_synchronization() {
    let trace = Trace::new();
    let graph =
        Unsynchronized { write: LogicNode(Write), archive: trace.does(5), send: AdvisoryNode(Does(trace.clone(), 0)) };
    let (archived, told) = played(&trace, graph, vec![10, 13, 2]).await;
    assert_eq!(archived, 3);
    let mut told: Vec<_> = told.split(", ").collect();
    told.sort_unstable();
    assert_eq!(told, ["archive 0–5", "send 0–10", "send 0–13", "send 0–2"]);
}

/// The work of each instance.
#[derive(Graph)]
#[graph(output = u64)]
pub(crate) struct Instance {
    #[node(entry, input = u64, goto(exit))]
    judge: LogicNode<Judge>,
}
logic!(Judge(trace: Trace) for instance::judge, |takes: u64, cx| {
    trace.works("judge", takes).await;
    if takes == 13 { Err("no opinion".into()) } else { goto!(cx, instance::exit, takes) }
});

/// An instance that is traced.
pub(crate) fn instance(trace: &Trace) -> Arc<Instance> {
    Arc::new(Instance { judge: LogicNode(Judge(trace.clone())) })
}

/// Each item is an instance. The next node gets all results.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct Instances {
    #[node(entry, input = Vec<u64>, map = Instance, goto(sum))]
    judges: MapNode<Judges>,
    #[node(input = Vec<u64>, goto(exit))]
    sum: LogicNode<Does>,
}
does!(instances::sum => instances::exit);

/// A fixed number of judges, or one judge for each item of the input.
struct Judges(Trace, Option<[u64; 3]>);
impl MapHandler<instances::judges> for Judges {
    fn graph(&self, _: &Cx<'_, instances::judges>) -> Result<Arc<Instance>, NodeError> {
        Ok(instance(&self.0))
    }
    async fn items(
        &self,
        given: &Vec<u64>,
        _: &mut Cx<'_, instances::judges>,
    ) -> Result<Vec<Item<Instance>>, NodeError> {
        let takes = self.1.map_or_else(|| given.clone(), Vec::from);
        Ok(takes.into_iter().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        children: Children<Instance>,
        cx: &mut Cx<'_, instances::judges>,
    ) -> Route<instances::judges> {
        let results = children.all().await.into_iter().filter_map(|child| child.result.ok());
        goto!(cx, instances::sum, results.collect())
    }
}

fn instances(trace: &Trace, fixed: Option<[u64; 3]>) -> Instances {
    Instances { judges: MapNode(Judges(trace.clone(), fixed)), sum: trace.does(1) }
}

/// Pattern 13: the design fixes the number of instances; the next node waits for all.
#[tokio::test(start_paused = true)]
async fn instances_known_in_the_design() {
    let trace = Trace::new();
    let (output, told) = played(&trace, instances(&trace, Some([10, 30, 20])), Vec::new()).await;
    assert_eq!((output, told.as_str()), (vec![10, 30, 20], "judge 0–10, judge 0–30, judge 0–20, sum 30–31"));
}

/// Pattern 14: the number of instances is known when they start.
#[tokio::test(start_paused = true)]
async fn instances_known_when_they_start() {
    for takes in [vec![], vec![7], vec![40, 10, 13, 20, 30]] {
        let trace = Trace::new();
        let (output, told) = played(&trace, instances(&trace, None), takes.clone()).await;
        let last = takes.iter().max().copied().unwrap_or(0);
        let judges = takes.iter().map(|takes| format!("judge 0–{takes}, ")).collect::<String>();
        assert_eq!(told, format!("{judges}sum {last}–{}", last + 1));
        assert_eq!(output, takes.into_iter().filter(|&takes| takes != 13).collect::<Vec<_>>(), "in their order");
    }
}

/// Patterns 41 and 42, as far as a map can: one thread becomes as many as there are items, and these become one.
#[tokio::test(start_paused = true)]
async fn thread_split_and_merge() {
    let trace = Trace::new();
    let (_, told) = played(&trace, instances(&trace, None), vec![5; 100]).await;
    assert_eq!(told.matches("judge 0–5").count(), 100, "a hundred threads");
    assert_eq!(told.matches("sum").count(), 1, "and one after them");
}

/// Items that come late are judged too.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct MoreInstances {
    #[node(entry, input = Vec<u64>, map = Instance, goto(exit))]
    judges: MapNode<Bench>,
    #[node(on(u64), adds_to(judges))]
    more: EventNode<More>,
}
struct Bench(Trace);
impl MapHandler<more_instances::judges> for Bench {
    fn graph(&self, _: &Cx<'_, more_instances::judges>) -> Result<Arc<Instance>, NodeError> {
        Ok(instance(&self.0))
    }
    async fn items(
        &self,
        takes: &Vec<u64>,
        _: &mut Cx<'_, more_instances::judges>,
    ) -> Result<Vec<Item<Instance>>, NodeError> {
        Ok(takes.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        children: Children<Instance>,
        cx: &mut Cx<'_, more_instances::judges>,
    ) -> Route<more_instances::judges> {
        let results = children.all().await.into_iter().filter_map(|child| child.result.ok());
        goto!(cx, more_instances::exit, results.collect())
    }
}
struct More;
impl EventHandler<more_instances::more> for More {
    async fn handle(&self, takes: u64, cx: &mut Cx<'_, more_instances::more>) -> Route<more_instances::more> {
        cx.add::<more_instances::judges>([Item::new(takes)])
    }
}

/// Pattern 15: instances are added while others run and go on; the next node waits for all of them.
#[tokio::test(start_paused = true)]
async fn instances_added_while_they_run() {
    let trace = Trace::new();
    let graph = MoreInstances { judges: MapNode(Bench(trace.clone())), more: EventNode(More) };
    let (output, told) = played_with(&trace, graph, vec![10, 40], &[(20, "more", 30_u64), (25, "more", 6)]).await;
    assert_eq!(output, [10, 40, 30, 6]);
    assert_eq!(told, "judge 0–10, judge 0–40, judge 20–50, judge 25–31");
}

/// All judges are cancelled as soon as the case is settled.
#[derive(Graph)]
#[graph(output = String)]
struct CancelInstances {
    #[node(entry, input = (), fork(judges, settle))]
    open: ForkNode<Open>,
    #[node(input = Vec<u64>, map = Instance, goto(close, cancels(settle)))]
    judges: MapNode<Panel>,
    #[node(input = String, goto(close, cancels(judges)))]
    settle: LogicNode<Does>,
    #[node(input = String, goto(exit))]
    close: LogicNode<Does>,
}
does!(cancel_instances::settle => cancel_instances::close, cancel_instances::close => cancel_instances::exit);
forks!(Open for cancel_instances::open, |(): (), cx| fork!(cx, (vec![10, 30, 20], "settled".to_owned())));
struct Panel(Trace);
impl MapHandler<cancel_instances::judges> for Panel {
    fn graph(&self, _: &Cx<'_, cancel_instances::judges>) -> Result<Arc<Instance>, NodeError> {
        Ok(instance(&self.0))
    }
    async fn items(
        &self,
        takes: &Vec<u64>,
        _: &mut Cx<'_, cancel_instances::judges>,
    ) -> Result<Vec<Item<Instance>>, NodeError> {
        Ok(takes.iter().copied().map(Item::new).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        children: Children<Instance>,
        cx: &mut Cx<'_, cancel_instances::judges>,
    ) -> Route<cancel_instances::judges> {
        let judged = children.all().await.len();
        goto!(cx, cancel_instances::close, format!("judged by {judged}"))
    }
}

/// Pattern 26: all instances are ended, whether done or not, and the next node goes on.
#[tokio::test(start_paused = true)]
async fn cancel_instances() {
    for (settles, output, expected) in [
        (15, "settled", "judge 0–10, judge 0–15 cancelled, judge 0–15 cancelled, settle 0–15, close 15–16"),
        (40, "judged by 3", "judge 0–10, judge 0–30, judge 0–20, settle 0–30 cancelled, close 30–31"),
    ] {
        let trace = Trace::new();
        let graph = CancelInstances {
            open: ForkNode(Open),
            judges: MapNode(Panel(trace.clone())),
            settle: trace.does(settles),
            close: trace.does(1),
        };
        let report = timed(graph).start(()).await.unwrap();
        assert_eq!(finished(report), output);
        let told = trace.told();
        let mut told: Vec<_> = told.split(", ").collect();
        let mut expected: Vec<_> = expected.split(", ").collect();
        told.sort_unstable();
        expected.sort_unstable();
        assert_eq!(told, expected);
    }
}

held!(Unsynchronized, Instance, Instances, MoreInstances, CancelInstances);
