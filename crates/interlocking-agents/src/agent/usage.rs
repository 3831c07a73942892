//! What turns cost: money, tokens and calls, which can be added up, and a ledger of single calls.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sessions::session::SessionId;

/// An amount of money in whole micro-dollars (1 USD = 1,000,000), so that sums are exact.
///
/// Shown in dollars with at least two decimals: `$0.00`, `$1.50`, `$0.0123`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(u64);

/// Why a number of dollars is not a [`Cost`].
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("{dollars} is not a cost in dollars: use a number from 0 to 1,000,000,000")]
pub struct InvalidCost {
    /// The refused number.
    pub dollars: f64,
}

/// What one call or several calls of an agent used up. Add them with `+`, `+=` or `sum()`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Calls of the agent, failed ones and correction rounds included.
    pub calls: u32,
    /// Tokens sent to the model.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// The money of all calls whose cost is known.
    pub cost: Cost,
    /// How many of the calls have no known cost (the agent reports none, or was killed first). When this is not
    /// zero, `cost` is a lower bound.
    pub unpriced_calls: u32,
}

/// One call of an agent, for a [`Ledger`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// [`Agent::name`](crate::Agent::name).
    pub agent: String,
    /// [`Turn::role`](crate::Turn::role).
    pub role: Option<String>,
    /// The session, if it was known when the call ended.
    pub session: Option<SessionId>,
    /// What the call used up.
    pub usage: Usage,
}

/// Every call that was recorded, in order. The failed ones belong here too: they were paid for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
}

impl Cost {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// An amount in micro-dollars.
    pub const fn from_micro_dollars(micro_dollars: u64) -> Self {
        Self(micro_dollars)
    }

    /// An amount in dollars, as agents report it, rounded to the micro-dollar.
    pub fn from_dollars(dollars: f64) -> Result<Self, InvalidCost> {
        if (0.0..=1e9).contains(&dollars) {
            // The product is at most 1e15, so it fits.
            Ok(Self((dollars * 1e6).round() as u64))
        } else {
            Err(InvalidCost { dollars })
        }
    }

    /// The amount in micro-dollars.
    pub const fn micro_dollars(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:06}", self.0 % 1_000_000);
        let kept = decimals.trim_end_matches('0').len().max(2);
        write!(formatter, "${}.{}", self.0 / 1_000_000, &decimals[..kept])
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}

impl Usage {
    /// Input and output tokens together.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: self.cost + other.cost,
            unpriced_calls: self.unpriced_calls.saturating_add(other.unpriced_calls),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at_least = if self.unpriced_calls > 0 { "at least " } else { "" };
        write!(
            formatter,
            "{at_least}{} in {} call{}, {} tokens in, {} tokens out",
            self.cost,
            self.calls,
            if self.calls == 1 { "" } else { "s" },
            self.input_tokens,
            self.output_tokens
        )
    }
}

impl Ledger {
    /// Adds one call.
    pub fn record(&mut self, entry: LedgerEntry) {
        self.entries.push(entry);
    }

    /// All calls in the order they were recorded.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// The sum of all calls.
    pub fn total(&self) -> Usage {
        self.total_where(|_| true)
    }

    /// The sum of the calls that `chosen` accepts, such as those of one role.
    pub fn total_where(&self, chosen: impl Fn(&LedgerEntry) -> bool) -> Usage {
        self.entries.iter().filter(|entry| chosen(entry)).map(|entry| entry.usage).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_shown_exactly() {
        for (micro_dollars, shown) in [
            (0, "$0.00"),
            (1, "$0.000001"),
            (12_300, "$0.0123"),
            (500_000, "$0.50"),
            (1_500_000, "$1.50"),
            (313_000_000, "$313.00"),
        ] {
            assert_eq!(Cost::from_micro_dollars(micro_dollars).to_string(), shown);
        }
    }

    #[test]
    fn dollars_are_rounded_to_the_micro_dollar_and_checked() {
        assert_eq!(Cost::from_dollars(0.0123).unwrap().micro_dollars(), 12_300);
        // Ten float additions of 0.1 are not 1.0; ten costs are.
        let tenth = Cost::from_dollars(0.1).unwrap();
        assert_eq!(std::iter::repeat_n(tenth, 10).sum::<Cost>().micro_dollars(), 1_000_000);
        for bad in [-0.01, f64::NAN, f64::INFINITY, 1e10] {
            assert!(Cost::from_dollars(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_ledger_sums_calls_and_says_when_the_sum_is_a_lower_bound() {
        let call = |role: &str, cost, unpriced_calls| LedgerEntry {
            agent: "scripted".to_owned(),
            role: Some(role.to_owned()),
            session: None,
            usage: Usage { calls: 1, input_tokens: 10, output_tokens: 2, cost: Cost(cost), unpriced_calls },
        };
        let mut ledger = Ledger::default();
        ledger.record(call("writer", 1_000, 0));
        ledger.record(call("critic", 0, 1));
        ledger.record(call("writer", 2_500, 0));
        assert_eq!(ledger.total().to_string(), "at least $0.0035 in 3 calls, 30 tokens in, 6 tokens out");
        let writer = ledger.total_where(|entry| entry.role.as_deref() == Some("writer"));
        assert_eq!(writer.to_string(), "$0.0035 in 2 calls, 20 tokens in, 4 tokens out");
        assert_eq!(writer.tokens(), 24);
    }
}
