//! The name of a run, which is in branches and trailers, is no id of an agent's conversation, and the other way round. (HY-264, CON-77)

use interlocking::graph::Graph;
use interlocking::prelude::*;

fn go_on(run: RunId) -> SessionOp {
    SessionOp::ContinueFrom(run)
}

fn name<G: Graph>(run: Run<G>, session: SessionId) -> Run<G> {
    run.with_id(session)
}

fn main() {}
