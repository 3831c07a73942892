//! The budgets that the operator sets.

use crate::error::CommandError;
use clap::Args;
use interlocking_agents::Cost;
use interlocking_runtime::budget::Budgets;
use std::time::Duration;

/// What a run and its child runs may use.
#[derive(Clone, Debug, Args)]
pub(crate) struct BudgetArguments {
    /// Calls of agents that the run and its child runs may make
    #[arg(long, help_heading = "Budgets", value_name = "NUMBER")]
    max_calls: Option<u32>,

    /// Tokens that the run and its child runs may use, sent and written
    #[arg(long, help_heading = "Budgets", value_name = "NUMBER")]
    max_tokens: Option<u64>,

    /// Dollars that the run and its child runs may spend
    #[arg(long, help_heading = "Budgets", value_name = "DOLLARS")]
    max_dollars: Option<f64>,

    /// Time that the run may take from now on, such as `90m` or `2h`
    #[arg(long, help_heading = "Budgets", value_name = "TIME", value_parser = humantime::parse_duration)]
    max_time: Option<Duration>,
}

impl BudgetArguments {
    /// The budgets; `None` if no option sets one, in which case the program's own budgets apply.
    pub(crate) fn read(&self) -> Result<Option<Budgets>, CommandError> {
        let Self { max_calls, max_tokens, max_dollars, max_time } = self;
        let mut budgets = Budgets::unlimited();
        budgets.calls = *max_calls;
        budgets.tokens = *max_tokens;
        budgets.money = max_dollars
            .map(Cost::from_dollars)
            .transpose()
            .map_err(|error| CommandError::from(error).at("--max-dollars"))?;
        budgets.wall_time = *max_time;
        Ok((budgets != Budgets::unlimited()).then_some(budgets))
    }
}
