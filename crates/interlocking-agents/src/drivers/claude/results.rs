//! The results of a call: the one of the turn that was asked for, and what all of them used up.

use super::line::Outcome;
use super::usage;
use crate::agent::usage::Usage;

/// What is kept of the results. A program may print any number of them.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// The first one that no background task began.
    own: Option<Box<Outcome>>,
    /// The first one, while there is none like that.
    first: Option<Box<Outcome>>,
    /// What all of them used up, and whether each said so.
    used: Option<(Usage, bool)>,
}

impl Results {
    pub(super) fn add(&mut self, result: Outcome) {
        let (usage, priced) = self.used.unwrap_or((Usage::default(), true));
        let priced = priced && result.model_usage_since_last_result.is_some();
        self.used = Some((usage + usage::since_the_last(&result), priced));
        if self.own.is_none() && result.origin.is_none() {
            (self.own, self.first) = (Some(Box::new(result)), None);
        } else if self.own.is_none() && self.first.is_none() {
            self.first = Some(Box::new(result));
        }
    }

    /// The result of the turn that was asked for. What follows it, a background task began.
    pub(super) fn own(&self) -> Option<&Outcome> {
        self.own.as_deref().or(self.first.as_deref())
    }

    /// What the call used up; of one that was killed before its first result nobody knows.
    pub(super) fn usage(&self) -> Usage {
        let (used, priced) = self.used.unwrap_or((Usage::default(), false));
        used + Usage { calls: 1, unpriced_calls: u32::from(!priced), ..Usage::default() }
    }
}
