//! How much a run and its child runs may use.
//!
//! Calls are counted when they begin, so a call beyond the budget is refused, and a call beyond the allowed concurrency waits.
//! Tokens and money are known only when a call has ended, so the first call after the limit was reached is refused. A run may
//! therefore exceed these budgets by what the calls under way use up.
//!
//! A run whose next call is refused goes on as far as it can without agents, so that no result that was paid for is lost. Then it
//! stops as [`Outcome::BudgetExhausted`](crate::Outcome::BudgetExhausted). The journal records no end, so the run can be resumed
//! with larger budgets.

use interlocking_agents::{Cost, Usage};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What a run and its child runs may use together. By default nothing is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Budgets {
    /// Agent calls: first tries, corrections, reminders, and repetitions after an error of the provider.
    pub calls: Option<u32>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Money, as far as agents report their costs.
    pub money: Option<Cost>,
    /// Time since the run was started or resumed. When it is over, the run is stopped where it is.
    pub wall_time: Option<Duration>,
    /// How deep child runs may be nested: 0 for none, 1 for children without children.
    pub depth: Option<u32>,
    /// Concurrent agent calls; further calls wait. 0 counts as 1.
    pub concurrency: Option<u32>,
}

/// A budget that stopped a run, with its limit and what was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "budget", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetExceeded {
    /// [`Budgets::calls`].
    Calls {
        /// The allowed number of calls.
        limit: u32,
        /// The number of calls.
        used: u32,
    },
    /// [`Budgets::tokens`].
    Tokens {
        /// The allowed number of tokens.
        limit: u64,
        /// The number of tokens, including those of calls that were under way when another call was refused.
        used: u64,
    },
    /// [`Budgets::money`].
    Money {
        /// The allowed cost.
        limit: Cost,
        /// The cost, including that of calls that were under way when another call was refused.
        used: Cost,
    },
    /// [`Budgets::wall_time`].
    WallTime {
        /// The allowed time.
        limit: Duration,
        /// The time that the run had taken when it was stopped.
        used: Duration,
    },
    /// [`Budgets::depth`].
    Depth {
        /// The allowed depth of child runs.
        limit: u32,
        /// The depth that the refused child run would have had.
        used: u32,
    },
}

/// What has been used up so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    /// Calls that have begun. The tokens and costs of calls under way are not counted yet.
    calls: u32,
    tokens: u64,
    money: Cost,
}

impl Budgets {
    /// No limits.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Whether calls, tokens or money are limited.
    pub(crate) fn counts_calls(&self) -> bool {
        self.calls.is_some() || self.tokens.is_some() || self.money.is_some()
    }

    /// Sets [`calls`](Self::calls).
    #[must_use]
    pub fn with_calls(self, calls: u32) -> Self {
        Self { calls: Some(calls), ..self }
    }

    /// Sets [`tokens`](Self::tokens).
    #[must_use]
    pub fn with_tokens(self, tokens: u64) -> Self {
        Self { tokens: Some(tokens), ..self }
    }

    /// Sets [`money`](Self::money).
    #[must_use]
    pub fn with_money(self, money: Cost) -> Self {
        Self { money: Some(money), ..self }
    }

    /// Sets [`wall_time`](Self::wall_time).
    #[must_use]
    pub fn with_wall_time(self, wall_time: Duration) -> Self {
        Self { wall_time: Some(wall_time), ..self }
    }

    /// Sets [`depth`](Self::depth).
    #[must_use]
    pub fn with_depth(self, depth: u32) -> Self {
        Self { depth: Some(depth), ..self }
    }

    /// Sets [`concurrency`](Self::concurrency).
    #[must_use]
    pub fn with_concurrency(self, concurrency: u32) -> Self {
        Self { concurrency: Some(concurrency), ..self }
    }
}

impl Meter {
    /// Checks that one more call is within the budgets.
    pub(crate) fn check(&self, budgets: &Budgets) -> Result<(), BudgetExceeded> {
        let Self { calls, tokens, money } = *self;
        match *budgets {
            Budgets { calls: Some(limit), .. } if calls >= limit => Err(BudgetExceeded::Calls { limit, used: calls }),
            Budgets { tokens: Some(limit), .. } if tokens >= limit => {
                Err(BudgetExceeded::Tokens { limit, used: tokens })
            }
            Budgets { money: Some(limit), .. } if money >= limit => Err(BudgetExceeded::Money { limit, used: money }),
            _ => Ok(()),
        }
    }

    /// Counts a call that begins, if it is within the budgets.
    pub(crate) fn begin(&mut self, budgets: &Budgets) -> Result<(), BudgetExceeded> {
        self.check(budgets)?;
        self.begin_unlimited();
        Ok(())
    }

    /// Counts a call that begins, without checking the budgets.
    pub(crate) fn begin_unlimited(&mut self) {
        self.calls = self.calls.saturating_add(1);
    }

    /// The part of `past` that is not counted here.
    pub(crate) fn missing_of(&self, past: &Usage) -> Usage {
        let tokens = past.tokens().saturating_sub(self.tokens);
        let micro_dollars = past.cost.micro_dollars().saturating_sub(self.money.micro_dollars());
        Usage {
            calls: past.calls.saturating_sub(self.calls),
            input_tokens: tokens,
            output_tokens: 0,
            cost: Cost::from_micro_dollars(micro_dollars),
            unpriced_calls: 0,
        }
    }

    /// The same budget with what has been used by now.
    pub(crate) fn brought_up_to_date(&self, used_up: BudgetExceeded) -> BudgetExceeded {
        match used_up {
            BudgetExceeded::Calls { limit, .. } => BudgetExceeded::Calls { limit, used: self.calls },
            BudgetExceeded::Tokens { limit, .. } => BudgetExceeded::Tokens { limit, used: self.tokens },
            BudgetExceeded::Money { limit, .. } => BudgetExceeded::Money { limit, used: self.money },
            other @ (BudgetExceeded::WallTime { .. } | BudgetExceeded::Depth { .. }) => other,
        }
    }

    /// Counts what a call used up whose beginning is counted already.
    pub(crate) fn end(&mut self, usage: &Usage) {
        self.tokens = self.tokens.saturating_add(usage.tokens());
        self.money += usage.cost;
    }

    /// Counts calls of which nothing is counted yet.
    pub(crate) fn add(&mut self, past: &Usage) {
        self.calls = self.calls.saturating_add(past.calls);
        self.end(past);
    }
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { limit, used } => {
                write!(f, "the budget of {limit} agent calls is used up: {used} were made")
            }
            Self::Tokens { limit, used } => write!(f, "the budget of {limit} tokens is used up: {used} were used"),
            Self::Money { limit, used } => write!(f, "the budget of {limit} is used up: {used} was spent"),
            Self::WallTime { limit, used } => {
                write!(f, "the budget of {limit:?} of time is used up: it took {used:?}")
            }
            Self::Depth { limit, used } => {
                write!(f, "child runs may be nested {limit} deep, and one would have been {used} deep")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_when_they_begin_and_the_rest_when_they_end() {
        let budgets = Budgets::unlimited().with_calls(3).with_tokens(10).with_money(Cost::from_micro_dollars(50));
        let usage = |tokens, cost| Usage {
            calls: 1,
            input_tokens: tokens,
            output_tokens: 1,
            cost: Cost::from_micro_dollars(cost),
            unpriced_calls: 0,
        };
        let mut meter = Meter::default();
        meter.begin(&budgets).unwrap();
        meter.begin(&budgets).unwrap();
        meter.end(&usage(8, 49));
        meter.check(&budgets).unwrap();
        meter.end(&usage(0, 1));
        assert_eq!(
            meter.check(&budgets),
            Err(BudgetExceeded::Tokens { limit: 10, used: 10 }),
            "reached is used up, and the first in order is named"
        );
        let money = BudgetExceeded::Money { limit: Cost::from_micro_dollars(50), used: Cost::from_micro_dollars(50) };
        assert_eq!(meter.check(&Budgets { tokens: None, ..budgets }), Err(money));
        meter.add(&usage(0, 0));
        assert_eq!(meter.check(&budgets), Err(BudgetExceeded::Calls { limit: 3, used: 3 }));
        assert_eq!(
            Meter::default().check(&Budgets::unlimited().with_calls(0)),
            Err(BudgetExceeded::Calls { limit: 0, used: 0 })
        );
        meter.begin(&Budgets::unlimited()).unwrap();
    }
}
