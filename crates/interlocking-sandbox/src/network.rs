//! Whether a program may connect to others.

/// Whether a confined program has the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// As it is outside.
    #[default]
    LeftAlone,
    /// None: TCP is refused, and no socket can be made. Pipes and pairs of sockets work.
    Cut,
}
