//! A stack of integers that never grows above a height fixed when it is made.

/// A last-in, first-out stack with a fixed capacity.
///
/// The fields are private: nobody outside this file can put more values in than the capacity allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedStack {
    items: Vec<i64>,
    capacity: usize,
}

/// The stack was full; holds the value that found no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full(pub i64);

impl BoundedStack {
    /// An empty stack that takes at most `capacity` values; zero is allowed.
    pub fn with_capacity(capacity: usize) -> Self {
        let _ = capacity;
        todo!()
    }

    /// Puts a value on top, or hands it back when the stack is full.
    pub fn push(&mut self, value: i64) -> Result<(), Full> {
        let _ = (value, &mut self.items);
        todo!()
    }

    /// Takes the top value away.
    pub fn pop(&mut self) -> Option<i64> {
        todo!()
    }

    /// The top value, left where it is.
    pub fn peek(&self) -> Option<i64> {
        todo!()
    }

    /// How many values the stack holds.
    pub fn height(&self) -> usize {
        let _ = self.capacity;
        todo!()
    }
}
