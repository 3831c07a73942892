//! Bounds the work for one file: its author may want the reader to run for ever.

use std::cell::Cell;

/// The number of steps for one file: looked-up names, expressions, and variables that closures capture.
const STEPS: usize = 1_000_000;

/// The deepest nesting of expressions, also through called functions, and of types, also through aliases.
const DEPTH: usize = 256;

/// The work that is left for a file.
#[derive(Debug)]
pub(super) struct Effort {
    steps: Cell<usize>,
    depth: Cell<usize>,
    is_exhausted: Cell<bool>,
}

impl Default for Effort {
    fn default() -> Self {
        Self { steps: Cell::new(STEPS), depth: Cell::new(DEPTH), is_exhausted: Cell::new(false) }
    }
}

impl Effort {
    /// Consumes steps; whether that many were left.
    pub(super) fn consume(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        self.is_exhausted.set(self.is_exhausted.get() || left.is_none());
        left.is_some()
    }

    /// Enters one level deeper; whether the limits allow that.
    pub(super) fn enter(&self) -> bool {
        let left = self.depth.get().checked_sub(1).filter(|_| self.consume(1));
        self.is_exhausted.set(self.is_exhausted.get() || left.is_none());
        left.map(|left| self.depth.set(left)).is_some()
    }

    /// Leaves the level that [`enter`](Self::enter) has entered.
    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() + 1);
    }

    /// Runs a function one level deeper, if the limits allow that.
    pub(super) fn deeper<T>(&self, look: impl FnOnce() -> T) -> Option<T> {
        if !self.enter() {
            return None;
        }
        let seen = look();
        self.leave();
        Some(seen)
    }

    /// Whether a limit was reached, so that something was not read.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent() {
        let effort = Effort::default();
        assert!(effort.consume(STEPS - 2) && effort.enter() && !effort.is_exhausted());
        assert!(!effort.consume(2) && !effort.enter() && effort.is_exhausted());

        let effort = Effort::default();
        assert!((0..DEPTH).all(|_| effort.enter()) && !effort.is_exhausted());
        effort.leave();
        assert!(effort.enter() && !effort.is_exhausted());
        assert!(effort.deeper(|| ()).is_none() && effort.is_exhausted());
    }
}
