//! How much is done for one file: whoever wrote it may want the reader to go on for ever.

use std::cell::Cell;

/// Steps for one file: names that are looked up, expressions, and variables that closures keep.
const STEPS: usize = 1_000_000;

/// Expressions within expressions, through the functions that they call; types within types, through their aliases.
const DEPTH: usize = 256;

/// What is left to be done for a file.
#[derive(Debug)]
pub(super) struct Effort {
    steps: Cell<usize>,
    depth: Cell<usize>,
    is_spent: Cell<bool>,
}

impl Default for Effort {
    fn default() -> Self {
        Self { steps: Cell::new(STEPS), depth: Cell::new(DEPTH), is_spent: Cell::new(false) }
    }
}

impl Effort {
    /// Whether there are so many steps left. They are taken.
    pub(super) fn is_spared(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        self.is_spent.set(self.is_spent.get() || left.is_none());
        left.is_some()
    }

    /// Goes one deeper, if it can.
    pub(super) fn enter(&self) -> bool {
        let left = self.depth.get().checked_sub(1).filter(|_| self.is_spared(1));
        self.is_spent.set(self.is_spent.get() || left.is_none());
        left.map(|left| self.depth.set(left)).is_some()
    }

    /// Comes back from where it went deeper.
    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() + 1);
    }

    /// Does something one deeper, if it can.
    pub(super) fn deeper<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        if !self.enter() {
            return None;
        }
        let seen = look();
        self.leave();
        Some(seen)
    }

    /// Whether something was left undone.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent() {
        let effort = Effort::default();
        assert!(effort.is_spared(STEPS - 2) && effort.enter() && !effort.is_spent());
        assert!(!effort.is_spared(2) && !effort.enter() && effort.is_spent());

        let effort = Effort::default();
        assert!((0..DEPTH).all(|_| effort.enter()) && !effort.is_spent());
        effort.leave();
        assert!(effort.enter() && !effort.is_spent());
        assert!(effort.deeper(|| ()).is_none() && effort.is_spent());
    }
}
