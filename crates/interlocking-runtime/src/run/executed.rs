//! What a run is executed from.

use crate::context::services::RunServices;
use crate::driver::initial_state::InitialState;
use crate::journal::record_writer::RecordWriter;
use std::sync::Arc;

/// A run's state, what its handlers reach, and what writes its records.
pub(crate) type Executed<G> = (InitialState<G>, RunServices<G>, Option<Arc<RecordWriter>>);
