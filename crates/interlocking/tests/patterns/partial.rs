//! Maps that go on before all instances are done: patterns 27 and 34 to 36.

use crate::instances::{Instance, instance};
use crate::support::{finished, pass, timed};
use crate::trace::{Does, Trace, played, played_with};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::runtime::journal::{By, Letter, LetterBody, Origin, RunSummary};
use interlocking::runtime::map::Ended;
use interlocking::runtime::{Journal, MemoryJournal};
use std::sync::Arc;

/// A quorum of two judges.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct PartialJoin {
    #[node(entry, input = Vec<u64>, map = Instance, quorum = 2, goto(sum))]
    judges: MapNode<Judges>,
    #[node(input = Vec<u64>, goto(exit))]
    sum: LogicNode<Does>,
}
/// The judges' own results decide when enough of them are done.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct DynamicPartialJoin {
    #[node(entry, input = Vec<u64>, map = Instance, quorum = enough, goto(sum))]
    judges: MapNode<Judges>,
    #[node(input = Vec<u64>, goto(exit))]
    sum: LogicNode<Does>,
    #[node(on(u64), adds_to(judges))]
    more: EventNode<More>,
}
does!(partial_join::sum => partial_join::exit, dynamic_partial_join::sum => dynamic_partial_join::exit);
struct Judges(Trace);
macro_rules! judges {
    ($($module:ident),+) => { $(
        impl MapHandler<$module::judges> for Judges {
            fn graph(&self, _: &Cx<'_, $module::judges>) -> Result<Arc<Instance>, NodeError> {
                Ok(instance(&self.0))
            }
            async fn items(
                &self,
                takes: &Vec<u64>,
                _: &mut Cx<'_, $module::judges>,
            ) -> Result<Vec<Item<Instance>>, NodeError> {
                Ok(takes.iter().copied().map(Item::new).collect())
            }
            async fn gather(
                &self,
                _: Vec<u64>,
                children: Children<Instance>,
                cx: &mut Cx<'_, $module::judges>,
            ) -> Route<$module::judges> {
                let results = children.all().await.into_iter().filter_map(|child| child.result.ok());
                goto!(cx, $module::sum, results.collect())
            }
        }
    )+ };
}
judges!(partial_join, dynamic_partial_join);

/// Pattern 35, and pattern 34 except that the remaining instances are ended: the next node begins once two have succeeded.
#[tokio::test(start_paused = true)]
async fn cancelling_partial_join_of_instances() {
    let trace = Trace::new();
    let graph = PartialJoin { judges: MapNode(Judges(trace.clone())), sum: trace.does(1) };
    let (output, told) = played(&trace, graph, vec![30, 10, 20, 13]).await;
    assert_eq!(output, [10, 20], "who fails does not count");
    assert_eq!(told, "judge 0–20 cancelled, judge 0–10, judge 0–20, judge 0–13, sum 20–21");
}

/// Half an hour of judging in total is enough, however many judges it takes.
impl EnoughHandler<dynamic_partial_join::judges> for Judges {
    async fn enough(&self, ended: &[Ended<u64>], _: &Cx<'_, dynamic_partial_join::judges>) -> bool {
        ended.iter().flatten().flatten().sum::<u64>() >= 30
    }
}

/// Adds one more item for the judges.
struct More;
impl EventHandler<dynamic_partial_join::more> for More {
    async fn handle(
        &self,
        takes: u64,
        cx: &mut Cx<'_, dynamic_partial_join::more>,
    ) -> Route<dynamic_partial_join::more> {
        cx.add::<dynamic_partial_join::judges>([Item::new(takes)])
    }
}

/// Pattern 36: a condition is checked as each instance ends, also for instances added meanwhile; once it holds, the next node
/// begins.
#[tokio::test(start_paused = true)]
async fn dynamic_partial_join_of_instances() {
    for (takes, more, told) in [
        (vec![40, 10, 20], vec![], "judge 0–20 cancelled, judge 0–10, judge 0–20, sum 20–21"),
        (vec![35, 40], vec![], "judge 0–35, judge 0–35 cancelled, sum 35–36"),
        (vec![5, 10], vec![], "judge 0–5, judge 0–10, sum 10–11"),
        (vec![40, 10], vec![(4, 20)], "judge 0–24 cancelled, judge 0–10, judge 4–24, sum 24–25"),
        (
            vec![40, 10],
            vec![(20, 50), (30, 60)],
            "judge 0–40, judge 0–10, judge 20–40 cancelled, judge 30–40 cancelled, sum 40–41",
        ),
    ] {
        let trace = Trace::new();
        let graph =
            DynamicPartialJoin { judges: MapNode(Judges(trace.clone())), sum: trace.does(1), more: EventNode(More) };
        let messages: Vec<(u64, &str, u64)> = more.into_iter().map(|(at, takes)| (at, "more", takes)).collect();
        assert_eq!(played_with(&trace, graph, takes, &messages).await.1, told);
    }
}

/// A judge; or, with nothing to judge, a person who can say that it is enough.
#[derive(Graph)]
#[graph(output = Option<u64>)]
struct JudgeOrClerk {
    #[node(entry, input = Option<u64>, goto(judge, clerk))]
    begin: LogicNode<Begin>,
    #[node(input = Option<u64>, goto(exit))]
    judge: LogicNode<JudgeIt>,
    #[node(input = (), question = String, answer = String, goto(exit))]
    clerk: HumanNode<Clerk>,
}
logic!(Begin for judge_or_clerk::begin, |takes: Option<u64>, cx| {
    if takes.is_some() { goto!(cx, judge_or_clerk::judge, takes) } else { goto!(cx, judge_or_clerk::clerk, ()) }
});
logic!(JudgeIt(trace: Trace) for judge_or_clerk::judge, |takes: Option<u64>, cx| {
    trace.works("judge", takes.unwrap_or_default()).await;
    goto!(cx, judge_or_clerk::exit, takes)
});
struct Clerk;
impl HumanHandler<judge_or_clerk::clerk> for Clerk {
    async fn ask(&self, (): &(), _: &mut Cx<'_, judge_or_clerk::clerk>) -> Result<String, NodeError> {
        Ok("Is it enough?".to_owned())
    }
    async fn answered(
        &self,
        (): (),
        _: String,
        cx: &mut Cx<'_, judge_or_clerk::clerk>,
    ) -> Route<judge_or_clerk::clerk> {
        goto!(cx, judge_or_clerk::exit, None)
    }
}
/// The map waits for all judges, unless the person says that those who are done are enough.
#[derive(Graph)]
#[graph(output = Vec<u64>)]
struct CompleteInstances {
    #[node(entry, input = Vec<u64>, map = JudgeOrClerk, quorum = enough, goto(sum))]
    judges: MapNode<Court>,
    #[node(input = Vec<u64>, goto(exit))]
    sum: LogicNode<Does>,
}
does!(complete_instances::sum => complete_instances::exit);
struct Court(Trace);
impl MapHandler<complete_instances::judges> for Court {
    fn graph(&self, _: &Cx<'_, complete_instances::judges>) -> Result<Arc<JudgeOrClerk>, NodeError> {
        let judge = LogicNode(JudgeIt(self.0.clone()));
        Ok(Arc::new(JudgeOrClerk { begin: LogicNode(Begin), judge, clerk: HumanNode(Clerk) }))
    }
    async fn items(
        &self,
        takes: &Vec<u64>,
        _: &mut Cx<'_, complete_instances::judges>,
    ) -> Result<Vec<Item<JudgeOrClerk>>, NodeError> {
        let clerk = Item::new(None).with_key("clerk");
        Ok(takes.iter().map(|&takes| Item::new(Some(takes))).chain([clerk]).collect())
    }
    async fn gather(
        &self,
        _: Vec<u64>,
        children: Children<JudgeOrClerk>,
        cx: &mut Cx<'_, complete_instances::judges>,
    ) -> Route<complete_instances::judges> {
        let results = children.all().await.into_iter().filter_map(|child| child.result.ok().flatten());
        goto!(cx, complete_instances::sum, results.collect())
    }
}
impl EnoughHandler<complete_instances::judges> for Court {
    async fn enough(&self, ended: &[Ended<Option<u64>>], _: &Cx<'_, complete_instances::judges>) -> bool {
        let Some((clerk, judges)) = ended.split_last() else { return true };
        clerk.is_some() || judges.iter().all(Option::is_some)
    }
}

/// Pattern 27: the remaining instances are withdrawn from outside, and the next node begins with the results so far.
#[tokio::test(start_paused = true)]
async fn complete_instances() {
    for (answers, output, told) in [
        (true, vec![10], "judge 0–10, judge 0–20 cancelled, sum 20–21"),
        (false, vec![10, 50], "judge 0–10, judge 0–50, sum 50–51"),
    ] {
        let (trace, journal) = (Trace::new(), Arc::new(MemoryJournal::new()));
        let graph = CompleteInstances { judges: MapNode(Court(trace.clone())), sum: trace.does(1) };
        let run = timed(graph).with_journal(journal.clone());
        let (report, ()) = tokio::join!(run.start(vec![10, 50]), async {
            pass(20).await;
            let children = journal.children(&RunId::DEFAULT).await.unwrap();
            let is_clerk =
                |child: &RunSummary| matches!(&child.origin, Some(Origin::Child { key, .. }) if key == "clerk");
            let clerk = children.into_iter().find(is_clerk).unwrap();
            if answers {
                let to = By { node: "clerk".to_owned(), visit: 1, attempt: 1 };
                let letter = Letter { key: None, body: LetterBody::Answer { to, answer: "\"yes\"".into() } };
                journal.post(&clerk.run, letter).await.unwrap();
            }
        });
        assert_eq!(finished(report.unwrap()), output);
        assert_eq!(trace.told(), told);
    }
}

held!(PartialJoin, DynamicPartialJoin, JudgeOrClerk, CompleteInstances);
