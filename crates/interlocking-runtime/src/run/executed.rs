//! What a run is executed from.

use crate::context::services::RunServices;
use crate::driver::standing::Standing;
use crate::journal::record_writer::RecordWriter;
use std::sync::Arc;

/// What a run is executed from: where it stands, what its handlers reach, and who writes its records.
pub(crate) type Executed<G> = (Standing<G>, RunServices<G>, Option<Arc<RecordWriter>>);
