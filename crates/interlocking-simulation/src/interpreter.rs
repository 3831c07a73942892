//! The `Graph` impl of a simulated graph, which interprets any table.

use crate::graph::{Output, Simulated, Sum, net};
use crate::numbers::{NOTHING, along_route, exhausted, failed, spent};
use crate::positions::perform;
use crate::token::{Load, NO_PLACE, Token};
use interlocking_core::context::Entered;
use interlocking_core::failure::{Failure, NodeError};
use interlocking_core::frontier::Limit;
use interlocking_core::graph::{Done, Graph, MemoryVisitor, ReportSource};
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex};
use interlocking_core::route::Step;

impl<const LEVEL: usize> Graph for Simulated<LEVEL> {
    type Entry = u64;
    type Output = Output;
    type Token = Token<LEVEL>;
    const NODES: usize = 0;
    const EDGES: usize = 0;
    const MAY_BE_CHAIN: bool = true;

    fn net() -> &'static Net {
        net(LEVEL)
    }

    fn enter(entry: u64) -> Token<LEVEL> {
        Token::new(Self::net().entry(), entry)
    }

    fn leave(token: Token<LEVEL>) -> Option<Output> {
        match token.load {
            Load::Number(number) if token.place == Self::net().exit() => Some(Output { number, reports: Vec::new() }),
            _ => None,
        }
    }

    fn join(node: NodeIndex, slots: Vec<Token<LEVEL>>) -> Option<Token<LEVEL>> {
        let row = Self::net().node(node);
        let (mut numbers, mut slots) = (Vec::new(), slots.into_iter().peekable());
        for place in row.places() {
            match slots.next_if(|slot| usize::from(slot.place) == place) {
                Some(slot) => numbers.extend_from_slice(slot.numbers()),
                None if row.quorum.is_some() => numbers.push(NOTHING),
                None => return None,
            }
        }
        let in_order = slots.next().is_none();
        in_order.then_some(Token { place: NO_PLACE, load: Load::Set(numbers) })
    }

    fn exhausted(node: NodeIndex, _: Limit, input: Token<LEVEL>) -> Option<Step<Token<LEVEL>>> {
        let alternative = Self::net().node(node).exhausted?;
        taken(alternative, exhausted(node, input.numbers()))
    }

    fn exhausted_edge(edge: AlternativeIndex, token: Token<LEVEL>) -> Option<Step<Token<LEVEL>>> {
        let route = Self::net().alternative(edge)?.times?.exhausted?;
        taken(route, spent(edge, token.numbers()[0]))
    }

    fn failed(route: AlternativeIndex, failure: Failure) -> Option<Step<Token<LEVEL>>> {
        taken(route, failed(route, &failure))
    }

    async fn step<'run>(&'run self, input: Token<LEVEL>, entered: Entered<'run, Self>) -> Done<Self> {
        let mut done = perform(&self.world, input, entered).await;
        done.route = done.route.map(|step| match step {
            Step::One(_, Token { load: Load::Leaving(step), .. }) => *step,
            other => other,
        });
        done
    }

    fn visit_memory<V: MemoryVisitor>(group: u16, visitor: V) -> Option<V::Output> {
        (usize::from(group) < Self::net().memory_groups().len()).then(|| visitor.visit::<Sum>())
    }

    async fn finish<R: ReportSource>(&self, output: Output, mut reports: R) -> Result<Output, NodeError> {
        let mut told = Vec::new();
        for (node, row) in Self::net().table().nodes.iter().enumerate().filter(|(_, row)| row.report.is_some()) {
            for report in reports.read::<Sum>(node as NodeIndex)? {
                let result = report.result.map(|sum| sum.0).map_err(|failure| failure.kind);
                told.push((row.name.clone(), report.visit, result));
            }
        }
        Ok(Output { number: output.number, reports: told })
    }
}

/// The step along a route, which the run takes without the handler.
fn taken<const LEVEL: usize>(route: AlternativeIndex, number: u64) -> Option<Step<Token<LEVEL>>> {
    let net = Simulated::<LEVEL>::net();
    let place = net.alternative(route)?.branches[0][0];
    let is_optional = place != net.exit() && net.place(place).optional;
    Some(Step::One(route, Token::new(place, along_route(is_optional, number))))
}
