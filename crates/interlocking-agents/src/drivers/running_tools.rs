//! The tools that an agent's program reports as running, until it reports their end.

use std::collections::HashMap;

/// The maximum number of running tools. Further tools are ignored, because a program that starts more and never ends
/// them is faulty.
const MOST: usize = 1_000;

/// The maximum length of the id that a program gives to a tool call, in bytes.
const LONGEST_ID: usize = 256;

/// Tool calls, by the ids that the program gave them.
#[derive(Debug)]
pub(crate) struct RunningTools<T>(HashMap<String, T>);

impl<T> RunningTools<T> {
    pub(crate) fn new() -> Self {
        Self(HashMap::new())
    }

    /// A tool has started. Tools beyond the limits are not recorded.
    pub(crate) fn begin(&mut self, id: String, tool: T) {
        if id.len() <= LONGEST_ID && (self.0.len() < MOST || self.0.contains_key(&id)) {
            self.0.insert(id, tool);
        } else {
            tracing::debug!(running = self.0.len(), id_bytes = id.len(), "a tool that is not noted");
        }
    }

    /// A tool has ended.
    pub(crate) fn end(&mut self, id: &str) -> Option<T> {
        self.0.remove(id)
    }

    /// A line was left out that may have ended any tool. Otherwise a turn could count as working for ever.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_noted_than_anybody_runs() {
        let mut tools = RunningTools::new();
        (0..2 * MOST).for_each(|number| tools.begin(number.to_string(), number));
        assert_eq!(tools.end(&(MOST - 1).to_string()), Some(MOST - 1));
        assert_eq!(tools.end(&MOST.to_string()), None);
        tools.begin("x".repeat(LONGEST_ID + 1), 0);
        assert_eq!(tools.end(&"x".repeat(LONGEST_ID + 1)), None);
        assert!(!tools.is_empty());
    }
}
