//! What the execution of a run starts from.

use crate::driver::initial_state::InitialState;
use crate::erased::shared::ErasedShared;
use crate::journal::record_writer::RecordWriter;
use std::sync::Arc;

/// A run's state, what its executions share, and its record writer.
pub(crate) type Executed = (InitialState, Arc<dyn ErasedShared>, Option<Arc<RecordWriter>>);
