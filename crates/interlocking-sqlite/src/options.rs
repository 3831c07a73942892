//! How a journal is opened.

/// What an acknowledged record survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Loss of power: every commit waits until it is on disk (`synchronous=FULL`).
    #[default]
    Full,
    /// A crash of the process, but not of the system: after a power failure or a crash of the operating system, the records of
    /// the last seconds can be missing, in all runs alike. Earlier records are intact (`synchronous=NORMAL`).
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
    /// Sets what an acknowledged record survives. The default is [`Durability::Full`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Limits the size of the database, in bytes. Beyond the limit, records are refused as on a full disk. The log beside the
    /// database, a few mebibytes, does not count.
    pub fn maximum_bytes(mut self, bytes: u64) -> Self {
        self.maximum_bytes = Some(bytes);
        self
    }
}
