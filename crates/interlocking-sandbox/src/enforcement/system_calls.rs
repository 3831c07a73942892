//! What Landlock does not govern, forbidden by seccomp: sockets, and some ways out without a file.
//!
//! Only what no build tool or agent needs is forbidden; everything else is as it was.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::sandbox::Network;

/// Puts a character into a terminal as if it had been typed.
const TIOCSTI: u64 = 0x5412;
/// Pastes into a virtual console.
const TIOCLINUX: u64 = 0x541C;

/// Ways to others that are no files.
const WHATEVER_THE_ARGUMENTS: [i64; 21] = [
    // A ring makes sockets, too, and no filter sees it.
    libc::SYS_io_uring_setup,
    // Key rings of the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Memory, queues and semaphores that all programs of a user share.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    // The kernel's view of other programs.
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    // The system's own user gets out of anything by these.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_reboot,
];

/// On x86-64, a second set of numbers for the same calls, with pointers of 32 bits.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Most calls have the same number in both sets.
#[cfg(target_arch = "x86_64")]
fn x32(call: i64) -> i64 {
    const OF_ITS_OWN: [(i64, i64); 2] = [(libc::SYS_ioctl, 514), (libc::SYS_kexec_load, 528)];
    let own = OF_ITS_OWN.iter().find(|(number, _)| *number == call);
    X32 + own.map_or(call, |(_, number)| *number)
}

pub(crate) struct SystemCalls {
    program: BpfProgram,
}

impl SystemCalls {
    pub(crate) fn new(network: Network, unix_sockets: bool) -> Result<Self, String> {
        let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
        let sockets = match (network, unix_sockets) {
            // No rule: whatever the arguments.
            (Network::Cut, _) => Some(Vec::new()),
            (Network::LeftAlone, false) => Some(vec![where_argument(0, libc::AF_UNIX as u64)?]),
            (Network::LeftAlone, true) => None,
        };
        let terminal = || -> Result<_, String> { Ok(vec![where_argument(1, TIOCSTI)?, where_argument(1, TIOCLINUX)?]) };

        let mut forbidden: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        let mut forbid = |call: i64, rules: Vec<SeccompRule>| {
            #[cfg(target_arch = "x86_64")]
            forbidden.insert(x32(call), rules.clone());
            forbidden.insert(call, rules);
        };
        forbid(libc::SYS_ioctl, terminal()?);
        for call in WHATEVER_THE_ARGUMENTS {
            forbid(call, Vec::new());
        }
        #[cfg(target_arch = "x86_64")]
        for call in [libc::SYS_iopl, libc::SYS_ioperm] {
            forbid(call, Vec::new());
        }
        if let Some(sockets) = sockets {
            forbid(libc::SYS_socket, sockets);
        }
        let filter =
            SeccompFilter::new(forbidden, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM as u32), architecture)
                .map_err(|error| error.to_string())?;
        Ok(Self { program: filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())? })
    }

    pub(crate) fn forbid_on_this_thread(&self) -> Result<(), String> {
        seccompiler::apply_filter(&self.program).map_err(|error| error.to_string())
    }
}

/// Whether the lower 32 bits of an argument are this: the kernel looks at no more.
fn where_argument(position: u8, value: u64) -> Result<SeccompRule, String> {
    let condition = SeccompCondition::new(position, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|error| error.to_string())
}
