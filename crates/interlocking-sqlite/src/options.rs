//! How a journal is opened.

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The loss of power: every commit waits until the disk has it (`synchronous=FULL`).
    #[default]
    Full,
    /// The end of the process, however it ends, but not of the system: after a loss of power or a crash of the system, the
    /// last seconds of records can be gone, of all runs alike, and the rest is as it was (`synchronous=NORMAL`).
    Relaxed,
}

/// How a journal is opened.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) durability: Durability,
    pub(crate) maximum_bytes: Option<u64>,
}

impl Options {
    /// What an acknowledged record survives; the loss of power, if nothing is said.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How large the database may become, in bytes. Beyond it, records are refused as on a full disk. The log beside it,
    /// a few mebibytes, does not count.
    pub fn maximum_bytes(mut self, bytes: u64) -> Self {
        self.maximum_bytes = Some(bytes);
        self
    }
}
