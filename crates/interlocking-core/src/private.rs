//! Ordinary functions that derived code calls, so that what it writes stays small.

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

/// The place of what lies in none: the full set of a join, on its way to the handler.
pub const NO_PLACE: PlaceIndex = PlaceIndex::MAX;

/// Writes the payload of a place, or of one with the same payload. Not bound by `Value` itself, as the place's payload is: one error
/// for a type that is none.
///
/// # Errors
///
/// The serializer's.
pub fn store<P: Place, S: Serializer>(value: &P::Payload, serializer: S) -> Result<S::Ok, S::Error> {
    value.store(serializer)
}

/// Reads the token of a place, or of one with the same payload. Not bound by `Value` itself, as the place's payload is: one error for a type that is none.
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

/// No payload of this graph lies in that place.
///
/// # Errors
///
/// Always.
pub fn unknown_place<'de, T, D: Deserializer<'de>>(place: u16) -> Result<T, D::Error> {
    Err(D::Error::custom(format_args!("the graph has no place {place}")))
}

/// A join's full set is never stored: its slots are.
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

/// Adds the tables of the graph that map node `N` runs, and of those below it. Asks nothing of the graph that `Maps` has not
/// asked before: one error for a type that is none.
pub fn child_nets<N: Maps>(nets: &mut Nets) {
    nets.add_child(N::Graph::net(), N::INDEX, N::Child::net());
    N::Child::nets(nets);
}

/// Adds the tables of the graph that graph node `N` runs, and of those below it.
pub fn graph_nets<N: Runs>(nets: &mut Nets) {
    nets.add_child(N::Graph::net(), N::INDEX, N::Child::net());
    N::Child::nets(nets);
}

/// What the child of a graph node without a handler starts with.
pub fn as_entry<I: StartsChild<E>, E>(input: I) -> E {
    input.start_child()
}

/// What the child of a graph node without a handler ended with, as its target takes it.
pub fn as_payload<O: IsPayload<P>, P>(output: O) -> P {
    output.payload()
}

/// What a graph node takes, where its child starts with the same. Implemented for every type.
#[diagnostic::on_unimplemented(
    message = "the child graph starts with `{E}`, and the node takes `{Self}`",
    label = "not what the child graph starts with",
    note = "let the node take `{E}`, or give it a handler, which makes one of the other: `GraphNode<Handler>` and `impl GraphHandler`"
)]
pub trait StartsChild<E> {
    /// The same.
    fn start_child(self) -> E;
}

#[diagnostic::do_not_recommend]
impl<T> StartsChild<T> for T {
    fn start_child(self) -> T {
        self
    }
}

/// What a child graph ends with, where its node's target takes the same. Implemented for every type.
#[diagnostic::on_unimplemented(
    message = "the child graph ends with `{Self}`, and this target takes `{P}`",
    label = "does not take what the child graph ends with",
    note = "let the target take `{Self}`, or give the node a handler, which makes one of the other: `GraphNode<Handler>` and `impl GraphHandler`"
)]
pub trait IsPayload<P> {
    /// The same.
    fn payload(self) -> P;
}

#[diagnostic::do_not_recommend]
impl<T> IsPayload<T> for T {
    fn payload(self) -> T {
        self
    }
}

/// What one node reported.
pub type Told<R> = Vec<Reported<R>>;

/// What node `N` reported.
///
/// # Errors
///
/// The source's.
pub fn reports<N: Reports, R: ReportSource>(source: &mut R) -> Result<Told<N::Report>, NodeError> {
    source.read(N::INDEX)
}

/// The graph's output, from what came to its exit and from the reports, if they could be read: [`Finish::finish`].
///
/// Boxed, so that the future's type does not depend on the graph: that nobody takes the reports is then one error.
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

/// The slots of a join, if there are as many as it has.
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

/// The step along the exhausted route of an edge, from what its target would have got.
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

/// What the target of an exhausted route takes. Implemented for every type that is made from an [`Exhausted`].
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

/// What the target of a `failed(…)` route takes. Implemented for every type that is made from a [`Failure`].
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

/// What the target of a `timed_out(…)` route takes. Implemented for every type that is made from a [`TimedOut`].
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

/// A copy of a value that a slot keeps for later rounds.
pub fn keep<T: Kept>(value: &T) -> T {
    value.copied()
}

/// What lies in a slot that keeps its value. Implemented for every type that is `Clone`.
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

/// The token of a graph whose shape is wrong: there is none, so that only the errors of the shape show.
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
