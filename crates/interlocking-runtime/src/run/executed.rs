//! What a run is executed from.

use crate::driver::initial_state::InitialState;
use crate::erased::shared::ErasedShared;
use crate::journal::record_writer::RecordWriter;
use std::sync::Arc;

/// A run's state, what its executions need, and what writes its records.
pub(crate) type Executed = (InitialState, Arc<dyn ErasedShared>, Option<Arc<RecordWriter>>);
