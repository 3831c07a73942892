//! What a sandbox permits, at the caller's request, although it is refused by default.

use crate::network::Network;

/// Groups of system calls that are permitted although a sandbox refuses them by default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exceptions {
    pub(crate) network: Network,
    pub(crate) unix_sockets: bool,
    pub(crate) inotify: bool,
}
