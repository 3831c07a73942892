//! What the nodes do, a file a node, in the order of a run.

pub(crate) mod places;
mod claims;
mod endings;
mod scaffold;
mod fork;
mod children;
mod integrate;
mod write_tests;
mod barrier;
mod implement;
mod review;
mod merge_queue;
mod merger;
mod judge;
mod rebase;
mod rebaser;

use crate::workbench::Workbench;
use std::sync::Arc;

/// Handler of `scaffold`.
pub struct Scaffold(pub(crate) Arc<Workbench>);

/// Handler of `fork`.
pub struct Fork;

/// Handler of `children`.
pub struct RunChildren;

/// Handler of `integrate`.
pub struct Integrate(pub(crate) Arc<Workbench>);

/// Handler of `write_tests`.
pub struct WriteTests(pub(crate) Arc<Workbench>);

/// Handler of `barrier`.
pub struct Barrier;

/// Handler of `implement`.
pub struct Implement(pub(crate) Arc<Workbench>);

/// Handler of `review`.
pub struct Review(pub(crate) Arc<Workbench>);

/// Handler of `merge_queue`.
pub struct MergeQueue;

/// Handler of `merger`.
pub struct Merger(pub(crate) Arc<Workbench>);

/// Handler of `judge`.
pub struct Judge;

/// Handler of `rebaser`.
pub struct Rebaser(pub(crate) Arc<Workbench>);
