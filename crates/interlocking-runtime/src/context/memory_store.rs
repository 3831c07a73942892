//! The memory groups of a run: their values, without their types.

use crate::erased::read::read;
use crate::execution::interruption::encode_caught;
use crate::journal::Encoded;
use interlocking_core::context::{Effects, MemoryCell};
use interlocking_core::graph::{Graph, Memory, MemoryVisitor, Stored};
use std::any::Any;

/// A memory group's cell, without its type.
pub(crate) trait MemoryStore: Send + Sync {
    /// The [`MemoryCell`].
    fn cell(&self) -> &(dyn Any + Send + Sync);
    /// Applies the updates; true if there were any.
    fn apply(&self, effects: &Effects) -> bool;
    /// A copy with the updates; `None` if there are none.
    fn updated(&self, effects: &Effects) -> Option<Box<dyn MemoryStore>>;
    /// Takes the value of a copy.
    fn adopt(&self, copy: &dyn MemoryStore);
    /// The current value.
    fn encode(&self) -> Result<Encoded, serde_json::Error>;
    /// Sets the value.
    fn restore(&self, json: &str) -> Result<(), String>;
}

impl<M: Memory> MemoryStore for MemoryCell<M> {
    fn cell(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn apply(&self, effects: &Effects) -> bool {
        effects.apply(self)
    }

    fn updated(&self, effects: &Effects) -> Option<Box<dyn MemoryStore>> {
        let copy = Self::new(self.lock().clone());
        effects.apply(&copy).then(|| Box::new(copy) as Box<dyn MemoryStore>)
    }

    fn adopt(&self, copy: &dyn MemoryStore) {
        if let Some(copy) = copy.cell().downcast_ref::<Self>() {
            std::mem::swap(&mut *self.lock(), &mut *copy.lock());
        }
    }

    fn encode(&self) -> Result<Encoded, serde_json::Error> {
        encode_caught(|| serde_json::to_string(&Stored(&*self.lock())).map(Into::into))
    }

    fn restore(&self, json: &str) -> Result<(), String> {
        let Stored(value) = read(json)?;
        *self.lock() = value;
        Ok(())
    }
}

/// Makes the cell of a memory group.
struct NewCell;

impl MemoryVisitor for NewCell {
    type Output = Box<dyn MemoryStore>;

    fn visit<M: Memory>(self) -> Box<dyn MemoryStore> {
        Box::new(MemoryCell::new(M::default()))
    }
}

/// The cells of all memory groups, in order.
pub(crate) fn memories<G: Graph>() -> Box<[Box<dyn MemoryStore>]> {
    let mut memories = Vec::new();
    // A loop and no iterator: each iterator costs each graph the code of its adapters.
    for group in 0.. {
        let Some(memory) = G::visit_memory(group, NewCell) else { break };
        memories.push(memory);
    }
    memories.into()
}
