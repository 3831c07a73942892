//! Systems other than Linux: nothing can be enforced, and [`probe`] reports that.

use std::collections::BTreeSet;

use crate::{
    enter_error::EnterError,
    exceptions::Exceptions,
    grant::Grant,
    prepare_error::PrepareError,
    protection::{Protection, Support},
};

/// Enforces nothing. The caller has accepted that.
pub(crate) struct Enforcement;

pub(crate) fn probe() -> Support {
    Support::of([], format!("programs are confined on Linux alone, and this is {}", std::env::consts::OS))
}

impl Enforcement {
    pub(crate) fn new(
        _grants: &[Grant],
        _enforced: &BTreeSet<Protection>,
        _exceptions: Exceptions,
    ) -> Result<Self, PrepareError> {
        Ok(Self)
    }

    pub(crate) fn confine_this_thread(&self) -> Result<(), EnterError> {
        Ok(())
    }
}
