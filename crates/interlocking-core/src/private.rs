//! Functions that derived code calls, so that the derived code stays small.

use crate::failure::{Exhausted, Failure, NodeError, TimedOut};
use crate::frontier::{Limit, Payload};
use crate::graph::{
    Finish, Graph, Maps, MemoryVisitor, Place, Remembers, ReportSource, Reported, Reports, Runs, Token, Value,
};
use crate::lines;
use crate::net::{AlternativeIndex, Net, Nets, PlaceIndex};
use crate::route::Step;
use crate::table::Table;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserializer, Serializer};
use std::future::{Future, ready};
use std::pin::Pin;

/// The place of a token that lies in no place: the full set of a join's slots, on its way to the handler.
pub const NO_PLACE: PlaceIndex = PlaceIndex::MAX;

/// Writes the payload of a place, or of another place with the same payload type. It has no `Value` bound of its own,
/// as the payload of a [`Place`] has one already: so the compiler reports a type that is no `Value` once.
///
/// # Errors
///
/// The serializer's.
pub fn store<P: Place, S: Serializer>(value: &P::Payload, serializer: S) -> Result<S::Ok, S::Error> {
    value.store(serializer)
}

/// Reads the token of a place, or of another place with the same payload type. It has no `Value` bound of its own, as
/// the payload of a [`Place`] has one already: so the compiler reports a type that is no `Value` once.
///
/// # Errors
///
/// The deserializer's.
pub fn load<'de, P: Place, D: Deserializer<'de>>(
    deserializer: D,
    put: impl FnOnce(P::Payload) -> <P::Graph as Graph>::Token,
) -> Result<<P::Graph as Graph>::Token, D::Error> {
    P::Payload::load(deserializer).map(put)
}

/// Fails for a place that the graph does not have.
///
/// # Errors
///
/// Always.
pub fn unknown_place<'de, T, D: Deserializer<'de>>(place: u16) -> Result<T, D::Error> {
    Err(D::Error::custom(format_args!("the graph has no place {place}")))
}

/// Fails for a join's full set, which is never stored: its slots are.
///
/// # Errors
///
/// Always.
pub fn not_stored<S: Serializer>() -> Result<S::Ok, S::Error> {
    Err(S::Error::custom("the full set of a join is not stored; its slots are"))
}

/// The net of a table whose shape the derive has checked, from its rows as [lines](crate::lines).
///
/// # Panics
///
/// If the derive checked less than [`Net::new`] does.
#[expect(clippy::expect_used, reason = "the derive compiled the same table with the same functions")]
pub fn net(graph: &str, output: &str, rows: &[&str]) -> Net {
    let mut table = Table::new(graph, output);
    table.nodes = rows.iter().map(|row| lines::read(row).expect("the derive wrote the row")).collect();
    Net::new(table).expect("the derive checked the table")
}

/// Adds the tables of the graph that map node `N` runs, and of the graphs below it. It has no bound on the graph
/// besides that of `Maps`: so the compiler reports a type that is no graph once.
pub fn child_nets<N: Maps>(nets: &mut Nets) {
    nets.add_child(N::Graph::net(), N::INDEX, N::Child::net());
    N::Child::nets(nets);
}

/// Adds the tables of the graph that graph node `N` runs, and of the graphs below it.
pub fn graph_nets<N: Runs>(nets: &mut Nets) {
    nets.add_child(N::Graph::net(), N::INDEX, N::Child::net());
    N::Child::nets(nets);
}

/// The entry value of the child of a graph node without a handler.
pub fn as_entry<I: StartsChild<E>, E>(input: I) -> E {
    input.start_child()
}

/// The output of the child of a graph node without a handler, as the payload of the node's target.
pub fn as_payload<O: IsPayload<P>, P>(output: O) -> P {
    output.payload()
}

/// The input of a graph node whose child starts with the same type. Implemented for every type.
#[diagnostic::on_unimplemented(
    message = "the child graph starts with `{E}`, and the node takes `{Self}`",
    label = "not what the child graph starts with",
    note = "let the node take `{E}`, or give it a handler, which makes one of the other: `GraphNode<Handler>` and `impl GraphHandler`"
)]
pub trait StartsChild<E> {
    /// Returns the value unchanged.
    fn start_child(self) -> E;
}

#[diagnostic::do_not_recommend]
impl<T> StartsChild<T> for T {
    fn start_child(self) -> T {
        self
    }
}

/// The output of a child graph whose node's target takes the same type. Implemented for every type.
#[diagnostic::on_unimplemented(
    message = "the child graph ends with `{Self}`, and this target takes `{P}`",
    label = "does not take what the child graph ends with",
    note = "let the target take `{Self}`, or give the node a handler, which makes one of the other: `GraphNode<Handler>` and `impl GraphHandler`"
)]
pub trait IsPayload<P> {
    /// Returns the value unchanged.
    fn payload(self) -> P;
}

#[diagnostic::do_not_recommend]
impl<T> IsPayload<T> for T {
    fn payload(self) -> T {
        self
    }
}

/// The reports of one node.
pub type ReportsOfNode<R> = Vec<Reported<R>>;

/// Reads the reports of node `N`.
///
/// # Errors
///
/// The source's.
pub fn reports<N: Reports, R: ReportSource>(source: &mut R) -> Result<ReportsOfNode<N::Report>, NodeError> {
    source.read(N::INDEX)
}

/// The graph's output, made by [`Finish::finish`] from the value that reached the exit and from the reports, if they
/// could be read.
///
/// Boxed, so that the future's type does not depend on the graph: a missing `Finish` impl is then one compiler error.
pub fn finish<'graph, G: Finish<Output = O>, O: Send + 'graph>(
    graph: &'graph G,
    output: O,
    reports: Result<G::Reports, NodeError>,
) -> Pin<Box<dyn Future<Output = Result<O, NodeError>> + Send + 'graph>> {
    match reports {
        Ok(reports) => Box::pin(Finish::finish(graph, output, reports)),
        Err(unreadable) => Box::pin(ready(Err(unreadable))),
    }
}

/// Visits the memory of node `N`.
pub fn visit<N: Remembers, V: MemoryVisitor>(visitor: V) -> V::Output {
    visitor.visit::<N::Memory>()
}

/// The slots of a join as an array; `None` if their number is wrong.
pub fn slots<T, const N: usize>(slots: Vec<T>) -> Option<[T; N]> {
    slots.try_into().ok()
}

/// The step along an exhausted route.
pub fn exhausted<To: Place, I>(
    alternative: AlternativeIndex,
    node: &'static str,
    limit: Limit,
    input: I,
) -> Step<<To::Graph as Graph>::Token>
where
    To::Payload: TakesExhausted<I>,
{
    Step::One(alternative, To::put(To::Payload::take_exhausted(Exhausted { node, edge: None, limit, input })))
}

/// The step along the exhausted route of an edge, from the input that the edge's target would have received.
pub fn exhausted_edge<To: Place, I>(edge: AlternativeIndex, input: I) -> Option<Step<<To::Graph as Graph>::Token>>
where
    To::Payload: TakesExhausted<I>,
{
    let net = To::Graph::net();
    let spent = net.alternative(edge)?;
    let (times, target) = (spent.times?, *spent.only.first()?);
    let (node, target, limit) = (net.name(spent.source), &*net.place(target).name, Limit::Times(times.limit));
    let exhausted = Exhausted { node, edge: Some(target), limit, input };
    Some(Step::One(times.exhausted?, To::put(To::Payload::take_exhausted(exhausted))))
}

/// The payload that the target of an exhausted route takes. Implemented for every type that converts from an
/// [`Exhausted`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from what an exhausted route carries",
    label = "the target of this route takes `{Self}`",
    note = "write `impl From<Exhausted<{I}>> for {Self}`"
)]
pub trait TakesExhausted<I>: Sized {
    /// Makes the target's payload.
    fn take_exhausted(exhausted: Exhausted<I>) -> Self;
}

#[diagnostic::do_not_recommend]
impl<I, T: From<Exhausted<I>>> TakesExhausted<I> for T {
    fn take_exhausted(exhausted: Exhausted<I>) -> Self {
        exhausted.into()
    }
}

/// The step along the route of a failure.
pub fn failed<To: Place>(alternative: AlternativeIndex, failure: Failure) -> Step<<To::Graph as Graph>::Token>
where
    To::Payload: TakesFailure,
{
    Step::One(alternative, To::put(To::Payload::take_failure(failure)))
}

/// The step along the route of a timeout.
pub fn timed_out<To: Place>(alternative: AlternativeIndex, failure: Failure) -> Step<<To::Graph as Graph>::Token>
where
    To::Payload: TakesTimedOut,
{
    Step::One(alternative, To::put(To::Payload::take_timed_out(TimedOut::of(failure))))
}

/// The payload that the target of a `failed(…)` route takes. Implemented for every type that converts from a
/// [`Failure`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from what a `failed(…)` route carries",
    label = "the target of this route takes `{Self}`",
    note = "write `impl From<Failure> for {Self}`"
)]
pub trait TakesFailure: Sized {
    /// Makes the target's payload.
    fn take_failure(failure: Failure) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<Failure>> TakesFailure for T {
    fn take_failure(failure: Failure) -> Self {
        failure.into()
    }
}

/// The payload that the target of a `timed_out(…)` route takes. Implemented for every type that converts from a
/// [`TimedOut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from what a `timed_out(…)` route carries",
    label = "the target of this route takes `{Self}`",
    note = "write `impl From<TimedOut> for {Self}`"
)]
pub trait TakesTimedOut: Sized {
    /// Makes the target's payload.
    fn take_timed_out(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<TimedOut>> TakesTimedOut for T {
    fn take_timed_out(timed_out: TimedOut) -> Self {
        timed_out.into()
    }
}

/// Copies a value that a slot keeps for later rounds.
pub fn keep<T: Kept>(value: &T) -> T {
    value.copied()
}

/// The value in a slot that keeps it. Implemented for every type that is `Clone`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is kept by its slot, so it must be `Clone`",
    label = "a join hands a copy to each round",
    note = "derive it: `#[derive(Clone)]`"
)]
pub trait Kept: Sized {
    /// A copy.
    fn copied(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Kept for T {
    fn copied(&self) -> Self {
        self.clone()
    }
}

/// The token type of a graph whose shape is wrong. It has no values, so that the compiler shows only the errors of the
/// shape.
#[derive(Debug)]
pub enum NoToken {}

impl Payload for NoToken {
    fn place(&self) -> PlaceIndex {
        match *self {}
    }

    fn copy(&self) -> Option<Self> {
        match *self {}
    }
}

impl Token for NoToken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match *self {}
    }

    fn deserialize<'de, D: Deserializer<'de>>(place: PlaceIndex, _: D) -> Result<Self, D::Error> {
        unknown_place::<_, D>(place)
    }
}
