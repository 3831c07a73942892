//! The node kind that works beside the graph and reports at its exit.
//!
//! An advisory node is started by another node's outcome, `cx.spawn::<graph::node>(input)`, and its token is never among
//! the run's. Its failure never fails the graph; the exit waits for it up to a deadline (HY-67, HY-257).

use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Reports, Stored};
use interlocking_core::kind::Kind;
use interlocking_core::route::{Goto, Route};
use std::future::Future;

/// A node that works beside the graph.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdvisoryNode<H>(pub H);

/// The handler of an [`AdvisoryNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle advisory node `{N}`",
    label = "missing `impl AdvisoryHandler<{N}> for {Self}`"
)]
pub trait AdvisoryHandler<N: Reports>: Send + Sync {
    /// Does the work, and says what it reports at the exit.
    fn advise(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Result<N::Report, NodeError>> + Send;
}

impl<N: Reports, H: AdvisoryHandler<N>> Kind<N> for AdvisoryNode<H> {
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let report = self.0.advise(input, cx).await?;
        cx.report(serde_json::to_string(&Stored(&report))?);
        Ok(Goto::stay())
    }
}
