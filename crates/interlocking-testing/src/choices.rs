//! The choices of a run, as text that replays the run.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The choices of one run that differ from the defaults. The same graph, samples and choices make the same run.
///
/// Each choice names a point of the run and the option there: `write.1.1=generated-3` is the third generated answer at
/// the first visit of node `write`, first attempt. By default a node repeats its last option, and starts with its
/// first.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choices {
    pub(crate) chosen: BTreeMap<String, String>,
}

/// Why a text is not [`Choices`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no choice: write `point=option`, and `; ` between two, as a report does")]
pub struct InvalidChoices {
    /// The invalid part.
    pub text: String,
}

impl Choices {
    /// No choices: every point has its default.
    pub fn none() -> Self {
        Self::default()
    }

    pub(crate) fn with(&self, point: &str, option: &str) -> Self {
        let mut chosen = self.chosen.clone();
        chosen.insert(point.to_owned(), option.to_owned());
        Self { chosen }
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.chosen.is_empty() {
            return f.write_str("no choices");
        }
        for (number, (point, option)) in self.chosen.iter().enumerate() {
            let separator = if number > 0 { "; " } else { "" };
            write!(f, "{separator}{point}={option}")?;
        }
        Ok(())
    }
}

impl FromStr for Choices {
    type Err = InvalidChoices;

    fn from_str(text: &str) -> Result<Self, InvalidChoices> {
        let mut choices = Self::none();
        if text.trim() == "no choices" {
            return Ok(choices);
        }
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || InvalidChoices { text: part.to_owned() };
            let (point, option) = part.rsplit_once('=').ok_or_else(wrong)?;
            if point.is_empty() || option.is_empty() {
                return Err(wrong());
            }
            choices.chosen.insert(point.to_owned(), option.to_owned());
        }
        Ok(choices)
    }
}
