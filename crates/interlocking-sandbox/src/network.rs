//! Whether a confined program may use the network.

/// The network access of a confined program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// The same as outside the sandbox.
    #[default]
    Allowed,
    /// No network: TCP is refused, and no socket can be made. Pipes and socket pairs work.
    Denied,
}
