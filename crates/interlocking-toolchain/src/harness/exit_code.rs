//! Test commands of which only the exit code counts.

use super::{KnownTests, LONGEST_TEXT, WHOLE_SUITE, end_of};
use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::TestOutcome;

/// Gives every known test the verdict of the whole command (TC-09). Without known tests, the verdict is that of the suite.
pub(crate) fn read(finished: &Finished, known: KnownTests<'_>) -> TestOutcome {
    let suite = [WHOLE_SUITE.to_owned()];
    let names = if known.names.is_empty() { &suite } else { known.names };
    let failure_type = match finished.ending {
        Ending::Exited(0) => {
            return TestOutcome { passed: names.to_vec(), ..TestOutcome::default() };
        }
        Ending::Exited(_) => FailureType::PropertyFailed,
        Ending::Killed => FailureType::ParseError,
        Ending::TimedOut => FailureType::Timeout,
    };
    let output = format!("{}{}", finished.stdout, finished.stderr);
    let message = end_of(output.trim(), LONGEST_TEXT);
    TestOutcome {
        failed: names
            .iter()
            .map(|name| StructuredFailure {
                property_name: name.clone(),
                failure_type,
                counterexample: None,
                expected: None,
                actual: None,
                message: message.to_owned(),
            })
            .collect(),
        timed_out: finished.ending == Ending::TimedOut,
        ..TestOutcome::default()
    }
}
