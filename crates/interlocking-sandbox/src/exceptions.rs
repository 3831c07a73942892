//! What the caller wants to be let through although a sandbox refuses it.

use crate::network::Network;

/// System calls that are not refused although a sandbox refuses them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exceptions {
    pub(crate) network: Network,
    pub(crate) unix_sockets: bool,
    pub(crate) inotify: bool,
}
