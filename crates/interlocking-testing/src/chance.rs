//! The points of choice of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::choices::Choices;

/// Makes the choices of one run that the graph does not determine. The closure that makes a [`Trial`](crate::Trial)
/// gets it, so that the search can also vary what handlers depend on (whether the build passes, what a service
/// answers).
#[derive(Clone)]
pub struct Chance(Arc<Inner>);

struct Inner {
    plan: Choices,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    points: Vec<Point>,
    /// By family: the last option.
    last: HashMap<String, String>,
    /// By name: how often [`Chance::pick`] was called.
    asked: HashMap<String, u32>,
}

/// One choice of a run.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// Unique in the run.
    pub(crate) key: String,
    /// The name that it shares with similar points: mostly a node's name.
    pub(crate) family: String,
    pub(crate) options: Vec<Choice>,
    pub(crate) chosen: usize,
    /// The default option.
    pub(crate) default: usize,
}

/// An option at a point.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// Unique among the options of the point.
    pub(crate) label: String,
    /// The value it stands for; empty where the label is enough.
    pub(crate) shown: String,
    pub(crate) sort: Sort,
}

/// The sorts of options, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sort {
    Answer,
    Message,
    Fault,
}

impl Chance {
    pub(crate) fn new(plan: Choices) -> Self {
        Self(Arc::new(Inner { plan, state: Mutex::default() }))
    }

    /// Chooses one of `options` for the choice called `name`. The choice is the same each time unless the search varies
    /// it.
    ///
    /// # Panics
    ///
    /// If there are no options, or the name or an option cannot be written in a report: if it is empty, contains `=` or
    /// `;`, or has blanks around it. Nor may the name end with a point and a number, as a node's visits do.
    pub fn pick<'o>(&self, name: &str, options: &[&'o str]) -> &'o str {
        assert!(!options.is_empty(), "`{name}`: nothing to choose from");
        for text in options.iter().copied().chain([name]) {
            let is_written = !text.is_empty() && text.trim() == text && !text.contains(['=', ';']);
            assert!(
                is_written,
                "`{name}`: {text:?} cannot be named in a report: use a text without `=`, `;` and blanks around it"
            );
        }
        let looks_like_a_visit = name.rsplit_once('.').is_some_and(|(_, visit)| visit.parse::<u64>().is_ok());
        assert!(!looks_like_a_visit, "`{name}` looks like a visit of a node in a report: end it with another word");
        let number = {
            let mut state = self.state();
            let asked = state.asked.entry(name.to_owned()).or_default();
            *asked += 1;
            *asked
        };
        let choices = options.iter().map(|&option| Choice::plain(option, Sort::Answer)).collect();
        // No node has such a family, whatever the name.
        options[self.choose(format!("{name}.{number}"), &format!("chance {name}"), choices, true)]
    }

    /// Chooses yes or no; yes unless the search varies it.
    pub fn holds(&self, name: &str) -> bool {
        self.pick(name, &["yes", "no"]) == "yes"
    }

    /// The position of the chosen option. With `sticks`, the default is the last option of the family.
    pub(crate) fn choose(&self, key: String, family: &str, options: Vec<Choice>, sticks: bool) -> usize {
        let mut state = self.state();
        let labelled =
            |label: Option<&String>| label.and_then(|label| options.iter().position(|option| option.label == *label));
        let default = labelled(state.last.get(family).filter(|_| sticks)).unwrap_or_default();
        let chosen = labelled(self.0.plan.chosen.get(&key)).unwrap_or(default);
        state.last.insert(family.to_owned(), options[chosen].label.clone());
        state.points.push(Point { key, family: family.to_owned(), options, chosen, default });
        chosen
    }

    pub(crate) fn points(&self) -> Vec<Point> {
        self.state().points.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Choice {
    pub(crate) fn plain(label: &str, sort: Sort) -> Self {
        Self { label: label.to_owned(), shown: String::new(), sort }
    }
}

impl Point {
    pub(crate) fn label(&self) -> &str {
        &self.options[self.chosen].label
    }

    /// The point, the option and its value as text.
    pub(crate) fn shown(&self) -> String {
        let Choice { label, shown, .. } = &self.options[self.chosen];
        if shown.is_empty() { format!("{}={label}", self.key) } else { format!("{}={label} {shown}", self.key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_named_in_a_report_cannot_be_chosen() {
        for option in ["a=b", "a; b", " a", ""] {
            let chosen =
                std::panic::catch_unwind(|| Chance::new(Choices::none()).pick("which", &["one", option]).len());
            let panic = chosen.unwrap_err();
            let said = panic.downcast_ref::<String>().map_or("", String::as_str);
            assert!(said.starts_with(&format!("`which`: {option:?} cannot be named in a report")), "{said}");
        }
    }

    /// A chance that is called as a node is has defaults of its own.
    #[test]
    fn a_chance_and_a_node_of_the_same_name_are_apart() {
        let chance = Chance::new(Choices::none().with("ask.1.1", "no"));
        let options = || ["yes", "no"].map(|label| Choice::plain(label, Sort::Answer)).to_vec();
        assert_eq!(chance.choose("ask.1.1".to_owned(), "ask", options(), true), 1);
        assert_eq!(chance.pick("ask", &["yes", "no"]), "yes");
        assert!(std::panic::catch_unwind(|| chance.pick("ask.1", &["yes", "no"]).len()).is_err(), "that of the node");
        assert_eq!(chance.choose("ask.2.1".to_owned(), "ask", options(), true), 1, "a node repeats its last option");
    }
}
