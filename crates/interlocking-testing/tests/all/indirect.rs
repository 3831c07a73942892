//! Routes that depend on an answer to a node from which the table has no path to them.

use interlocking::prelude::*;
use interlocking::testing::Enumerator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An answer, and the output of the graphs here.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
enum Found {
    Gold,
    Stone,
}

/// A mine that is a level of itself: what its lowest level finds decides where the level above goes.
#[derive(Graph)]
#[graph(output = Found)]
struct Mine {
    #[node(entry, input = u32, goto(deeper, look))]
    dig: LogicNode<Miner>,
    #[node(input = u32, question = String, answer = Found, goto(exit))]
    look: HumanNode<Miner>,
    #[node(input = u32, graph = Mine, depth = 1, goto(keep, fill))]
    deeper: GraphNode<Miner>,
    #[node(input = Found, goto(exit))]
    keep: LogicNode<Miner>,
    #[node(input = Found, goto(exit))]
    fill: LogicNode<Miner>,
}

struct Miner;

impl LogicHandler<mine::dig> for Miner {
    async fn run(&self, level: u32, cx: &mut Cx<'_, mine::dig>) -> Route<mine::dig> {
        if level == 0 { goto!(cx, mine::deeper, level) } else { goto!(cx, mine::look, level) }
    }
}

impl HumanHandler<mine::look> for Miner {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, mine::look>) -> Result<String, NodeError> {
        Ok("What is there?".into())
    }

    async fn answered(&self, _: u32, found: Found, cx: &mut Cx<'_, mine::look>) -> Route<mine::look> {
        goto!(cx, mine::exit, found)
    }
}

impl GraphHandler<mine::deeper> for Miner {
    fn graph(&self, cx: &Cx<'_, mine::deeper>) -> Result<Arc<Mine>, NodeError> {
        Ok(cx.own_graph()?)
    }

    async fn entry(&self, level: &u32, _: &mut Cx<'_, mine::deeper>) -> Result<u32, NodeError> {
        Ok(level + 1)
    }

    async fn after(&self, _: u32, found: Found, cx: &mut Cx<'_, mine::deeper>) -> Route<mine::deeper> {
        match found {
            Found::Gold => goto!(cx, mine::keep, found),
            Found::Stone => goto!(cx, mine::fill, found),
        }
    }
}

impl LogicHandler<mine::keep> for Miner {
    async fn run(&self, found: Found, cx: &mut Cx<'_, mine::keep>) -> Route<mine::keep> {
        goto!(cx, mine::exit, found)
    }
}

impl LogicHandler<mine::fill> for Miner {
    async fn run(&self, found: Found, cx: &mut Cx<'_, mine::fill>) -> Route<mine::fill> {
        goto!(cx, mine::exit, found)
    }
}

/// Two branches: what a person says on one decides where the other goes.
#[derive(Graph)]
#[graph(output = Found)]
struct Survey {
    #[node(entry, input = u32, fork(ask, drill))]
    split: ForkNode<Surveyor>,
    #[node(input = u32, question = String, answer = Found, goto(both))]
    ask: HumanNode<Surveyor>,
    #[node(input = u32, goto(both, blast))]
    drill: LogicNode<Surveyor>,
    #[node(input = u32, goto(both))]
    blast: LogicNode<Surveyor>,
    #[node(join(ask: Found, drilled: u32 from(drill, blast)), goto(exit))]
    both: JoinNode<Surveyor>,
}

held!(Mine, Survey);

/// Whether the person said that there is stone.
struct Surveyor(Arc<AtomicBool>);

impl ForkHandler<survey::split> for Surveyor {
    async fn fork(&self, at: u32, cx: &mut Cx<'_, survey::split>) -> Route<survey::split> {
        fork!(cx, (at, at))
    }
}

impl HumanHandler<survey::ask> for Surveyor {
    async fn ask(&self, _: &u32, _: &mut Cx<'_, survey::ask>) -> Result<String, NodeError> {
        Ok("What is there?".into())
    }

    async fn answered(&self, _: u32, found: Found, cx: &mut Cx<'_, survey::ask>) -> Route<survey::ask> {
        self.0.store(matches!(found, Found::Stone), Ordering::Relaxed);
        goto!(cx, survey::both, found)
    }
}

impl LogicHandler<survey::drill> for Surveyor {
    async fn run(&self, at: u32, cx: &mut Cx<'_, survey::drill>) -> Route<survey::drill> {
        tokio::time::sleep(Duration::from_secs(60)).await;
        if self.0.load(Ordering::Relaxed) { goto!(cx, survey::blast, at) } else { goto!(cx, survey::both, at) }
    }
}

impl LogicHandler<survey::blast> for Surveyor {
    async fn run(&self, at: u32, cx: &mut Cx<'_, survey::blast>) -> Route<survey::blast> {
        goto!(cx, survey::both, at)
    }
}

impl JoinHandler<survey::both> for Surveyor {
    async fn join(&self, (found, _): (Found, u32), cx: &mut Cx<'_, survey::both>) -> Route<survey::both> {
        goto!(cx, survey::exit, found)
    }
}

#[test]
fn an_answer_in_a_child_of_the_same_graph_decides_the_way_of_its_parent() {
    let report = Enumerator::new(|_| {
        let graph = Mine {
            dig: LogicNode(Miner),
            look: HumanNode(Miner),
            deeper: GraphNode(Miner),
            keep: LogicNode(Miner),
            fill: LogicNode(Miner),
        };
        (Run::new(graph), 0)
    });
    report.explore().assert_all_routes();
}

#[test]
fn an_answer_on_one_branch_decides_the_way_of_the_other() {
    let report = Enumerator::new(|_| {
        let said = Arc::new(AtomicBool::new(false));
        let surveyor = || Surveyor(said.clone());
        let graph = Survey {
            split: ForkNode(surveyor()),
            ask: HumanNode(surveyor()),
            drill: LogicNode(surveyor()),
            blast: LogicNode(surveyor()),
            both: JoinNode(surveyor()),
        };
        (Run::new(graph), 0)
    });
    report.explore().assert_all_routes();
}
