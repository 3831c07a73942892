//! The results of a call: that of the requested turn, and the usage of all of them.

use super::line::Outcome;
use super::usage;
use crate::agent::usage::Usage;

/// The results that are kept. A program may print any number of results.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The first result that does not come from a background task.
    own: Option<Box<Outcome>>,
    /// The first result, as long as there is none of that kind.
    first: Option<Box<Outcome>>,
    /// The usage of all results, and whether each of them has a price.
    used: Option<(Usage, bool)>,
}

impl Results {
    pub(super) fn add(&mut self, result: Outcome) {
        let (usage, priced) = self.used.unwrap_or((Usage::default(), true));
        let priced = priced && usage::is_priced(&result);
        self.used = Some((usage + usage::since_the_last(&result), priced));
        if self.own.is_none() && result.origin.is_none() {
            (self.own, self.first) = (Some(Box::new(result)), None);
        } else if self.own.is_none() && self.first.is_none() {
            self.first = Some(Box::new(result));
        }
    }

    /// The result of the requested turn. The results after it come from background tasks.
    pub(super) fn own(&self) -> Option<&Outcome> {
        self.own.as_deref().or(self.first.as_deref())
    }

    /// The usage of the call; unknown if the call was killed before its first result.
    pub(super) fn usage(&self) -> Usage {
        let (used, priced) = self.used.unwrap_or((Usage::default(), false));
        used + Usage { calls: 1, unpriced_calls: u32::from(!priced), ..Usage::default() }
    }
}
