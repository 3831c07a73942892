//! Runs a node by its position in the table.

use crate::body::Body;
use crate::graph::Simulated;
use crate::markers::{At, Watcher};
use crate::tables::NODES;
use crate::token::{Load, Token};
use crate::world::World;
use interlocking_core::chain::run;
use interlocking_core::context::Entered;
use interlocking_core::graph::{Done, Graph};
use interlocking_core::kind::{EventNode, JoinNode, LogicNode};
use interlocking_core::net::NodeIndex;
use interlocking_core::table::NodeKind;
use interlocking_runtime::advisory::AdvisoryNode;
use interlocking_runtime::graph::GraphNode;
use interlocking_runtime::human::HumanNode;
use interlocking_runtime::llm::LLMNode;
use interlocking_runtime::map::MapNode;
use interlocking_runtime::observer::{Observation, ObserverNode};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The future of a node's execution.
pub(crate) type Performed<'run, const LEVEL: usize> =
    Pin<Box<dyn Future<Output = Done<Simulated<LEVEL>>> + Send + 'run>>;

/// Runs the node of an execution, according to the node's kind.
pub(crate) fn perform<'run, const LEVEL: usize>(
    world: &'run Arc<World>,
    input: Token<LEVEL>,
    entered: Entered<'run, Simulated<LEVEL>>,
) -> Performed<'run, LEVEL> {
    const { assert!(NODES == 14, "one arm a position") };
    let net = Simulated::<LEVEL>::net();
    let node = entered.execution.node;
    if let Token { load: Load::Seen(seen), .. } = input {
        return watch(world, *seen, entered, net.node(node).memory);
    }
    match node {
        0 => at::<LEVEL, 0>(world, input, entered),
        1 => at::<LEVEL, 1>(world, input, entered),
        2 => at::<LEVEL, 2>(world, input, entered),
        3 => at::<LEVEL, 3>(world, input, entered),
        4 => at::<LEVEL, 4>(world, input, entered),
        5 => at::<LEVEL, 5>(world, input, entered),
        6 => at::<LEVEL, 6>(world, input, entered),
        7 => at::<LEVEL, 7>(world, input, entered),
        8 => at::<LEVEL, 8>(world, input, entered),
        9 => at::<LEVEL, 9>(world, input, entered),
        10 => at::<LEVEL, 10>(world, input, entered),
        11 => at::<LEVEL, 11>(world, input, entered),
        12 => at::<LEVEL, 12>(world, input, entered),
        13 => at::<LEVEL, 13>(world, input, entered),
        _ => unreachable!("no table has more nodes"),
    }
}

fn at<'run, const LEVEL: usize, const INDEX: NodeIndex>(
    world: &'run Arc<World>,
    input: Token<LEVEL>,
    entered: Entered<'run, Simulated<LEVEL>>,
) -> Performed<'run, LEVEL> {
    let body = Body(world.clone());
    match Simulated::<LEVEL>::net().row(INDEX).kind {
        NodeKind::Join => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&JoinNode(body), input, entered).await }),
        NodeKind::Map => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&MapNode(body), input, entered).await }),
        NodeKind::Graph => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&GraphNode(body), input, entered).await }),
        NodeKind::Human => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&HumanNode(body), input, entered).await }),
        NodeKind::Event => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&EventNode(body), input, entered).await }),
        NodeKind::Advisory => {
            Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&AdvisoryNode(body), input, entered).await })
        }
        NodeKind::Llm => Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&LLMNode(body), input, entered).await }),
        NodeKind::Logic | NodeKind::Fork | NodeKind::Observer => {
            Box::pin(async move { run::<At<LEVEL, INDEX>, _>(&LogicNode(body), input, entered).await })
        }
    }
}

fn watch<'run, const LEVEL: usize>(
    world: &'run Arc<World>,
    seen: Observation,
    entered: Entered<'run, Simulated<LEVEL>>,
    group: Option<u16>,
) -> Performed<'run, LEVEL> {
    match group {
        Some(0) => watch_in::<LEVEL, 0>(world, seen, entered),
        Some(1) => watch_in::<LEVEL, 1>(world, seen, entered),
        Some(2) => watch_in::<LEVEL, 2>(world, seen, entered),
        Some(3) => watch_in::<LEVEL, 3>(world, seen, entered),
        Some(4) => watch_in::<LEVEL, 4>(world, seen, entered),
        Some(5) => watch_in::<LEVEL, 5>(world, seen, entered),
        Some(6) => watch_in::<LEVEL, 6>(world, seen, entered),
        Some(7) => watch_in::<LEVEL, 7>(world, seen, entered),
        Some(8) => watch_in::<LEVEL, 8>(world, seen, entered),
        Some(9) => watch_in::<LEVEL, 9>(world, seen, entered),
        Some(10) => watch_in::<LEVEL, 10>(world, seen, entered),
        Some(11) => watch_in::<LEVEL, 11>(world, seen, entered),
        Some(12) => watch_in::<LEVEL, 12>(world, seen, entered),
        Some(13) => watch_in::<LEVEL, 13>(world, seen, entered),
        _ => unreachable!("an observer has a memory, and no table has more groups than nodes"),
    }
}

fn watch_in<'run, const LEVEL: usize, const GROUP: NodeIndex>(
    world: &'run Arc<World>,
    seen: Observation,
    entered: Entered<'run, Simulated<LEVEL>>,
) -> Performed<'run, LEVEL> {
    let body = Body(world.clone());
    Box::pin(async move { run::<Watcher<LEVEL, GROUP>, _>(&ObserverNode(body), seen, entered).await })
}
