//! Which system calls are refused, when, and with what answer.
//!
//! A call has the answer that programs take in stride: most try it and go on without.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use crate::{exceptions::Exceptions, network::Network};

/// By the number of the call: refused where one of the rules is met, or always if there is none.
pub(super) type Refusals = BTreeMap<i64, Vec<SeccompRule>>;

/// Ways to others that are no files.
const WHATEVER_THE_ARGUMENTS: [c_long; 33] = [
    // A ring makes sockets, too, and no filter sees it.
    libc::SYS_io_uring_setup,
    // Key rings of the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Memory, queues and semaphores that all programs of a user share, by numbers that can be guessed.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What happens to a file whose path is known, readable or not.
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // The kernel's view of other programs, its log, and how much each user has on a disk.
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    // What is mounted where, as in `/proc/self/mountinfo`.
    STATMOUNT,
    LISTMOUNT,
    // Another program's namespaces. Those of its own are below.
    libc::SYS_setns,
    // The system's own user gets out of anything by these.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_reboot,
];

/// Without [`Exceptions::inotify`].
const INOTIFY: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
];

/// What a file has beside its contents, by its path, and by a descriptor that need not be open for writing. The answer is that of
/// a file system that has none. What is read by a descriptor was opened before.
const ATTRIBUTES: [c_long; 17] = [
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    GETXATTRAT,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    LISTXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_GETATTR,
    FILE_SETATTR,
    // A handle, by which nothing can be opened here.
    libc::SYS_name_to_handle_at,
];

// Their numbers are the same everywhere, and not in the crate `libc` yet.
const QUOTACTL_FD: c_long = 443;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const SETXATTRAT: c_long = 463;
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const REMOVEXATTRAT: c_long = 466;
const FILE_GETATTR: c_long = 468;
const FILE_SETATTR: c_long = 469;

/// Puts a character into a terminal as if it had been typed.
const TIOCSTI: u64 = 0x5412;
/// Pastes into a virtual console.
const TIOCLINUX: u64 = 0x541C;

/// Where a command of `ioctl` says whose it is.
const KIND: u64 = 0xff00;
/// Flags, versions, encryption and verity of a file; projects, freezing and trimming; XFS. A file that was opened for reading alone
/// can be changed by them, for good even.
const COMMANDS_OF_FILE_SYSTEMS: [u8; 3] = [b'f', b'v', b'X'];
/// Btrfs, which makes volumes where nothing may be made.
const COMMANDS_OF_BTRFS: u64 = 0x9400;
/// Sharing blocks between files, where the one that changes is open for writing: `cp` does that, on all file systems.
const CLONING: [u64; 3] = [0x4004_9409, 0x4020_940D, 0xC018_9436];

/// `clone` and `unshare`. A program is the master of its own namespaces: it mounts there, and talks to parts of the kernel that
/// only the system's own user talks to otherwise.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// `ioprio_set` of a program, by its number.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Everything that is refused, with the answer.
pub(super) fn all(exceptions: Exceptions) -> Result<Vec<(i32, Refusals)>, String> {
    let always = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect::<Refusals>();
    let mut refused = vec![
        (libc::EPERM, always(&WHATEVER_THE_ARGUMENTS)),
        (libc::EPERM, others_scheduling()?),
        (libc::EPERM, namespaces()?),
        (
            libc::EPERM,
            BTreeMap::from([(libc::SYS_ioctl, any([[TIOCSTI], [TIOCLINUX]].map(|[command]| equal(1, command)))?)]),
        ),
        // Whoever has a lease of a file lets others wait that open it.
        (libc::EPERM, BTreeMap::from([(libc::SYS_fcntl, any([equal(1, number(libc::F_SETLEASE))])?)])),
        (libc::EPERM, sockets(exceptions)?),
        (libc::EOPNOTSUPP, always(&ATTRIBUTES)),
        (libc::ENOTTY, file_systems()?),
        // Its flags are in memory, where no filter looks; the C library takes `clone` instead.
        (libc::ENOSYS, always(&[libc::SYS_clone3])),
    ];
    if !exceptions.inotify {
        refused.push((libc::EPERM, always(INOTIFY)));
    }
    #[cfg(target_arch = "x86_64")]
    refused.push((libc::EPERM, always(&[libc::SYS_iopl, libc::SYS_ioperm])));
    Ok(refused)
}

/// The limits and the scheduling of any program of the user's, by its number. Nought is the caller itself. Its own number is refused
/// too, for no filter knows it.
fn others_scheduling() -> Result<Refusals, String> {
    let mut refused = Refusals::new();
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setaffinity,
    ] {
        refused.insert(call, any([differs(0, 0)])?);
    }
    // Of a group even its own is refused, since a program may go over to another one of its session.
    refused.insert(libc::SYS_setpriority, any([differs(0, number(libc::PRIO_PROCESS as i32)), differs(1, 0)])?);
    refused.insert(libc::SYS_ioprio_set, any([differs(0, IOPRIO_WHO_PROCESS), differs(1, 0)])?);
    Ok(refused)
}

fn namespaces() -> Result<Refusals, String> {
    let flagged = |flag: libc::c_int| (0, SeccompCmpOp::MaskedEq(number(flag)), number(flag));
    let clone = any(NAMESPACES.map(flagged))?;
    let mut unshare = clone.clone();
    // For `clone` this is part of a signal's number.
    unshare.extend(any([flagged(libc::CLONE_NEWTIME)])?);
    Ok(BTreeMap::from([(libc::SYS_clone, clone), (libc::SYS_unshare, unshare)]))
}

fn file_systems() -> Result<Refusals, String> {
    let of_kind = |kind: u64| (1, SeccompCmpOp::MaskedEq(KIND), kind);
    let mut rules = any(COMMANDS_OF_FILE_SYSTEMS.map(|kind| of_kind(u64::from(kind) << 8)))?;
    let cloning = CLONING.map(|command| differs(1, command));
    rules.push(together([of_kind(COMMANDS_OF_BTRFS)].into_iter().chain(cloning))?);
    Ok(BTreeMap::from([(libc::SYS_ioctl, rules)]))
}

/// Sockets that reach what is outside: all of them with the network cut, and otherwise all but those of the Internet and one that
/// libraries ask for the machine's addresses. The others reach services of this machine or of its host, or parts of the kernel.
fn sockets(exceptions: Exceptions) -> Result<Refusals, String> {
    let unix = number(libc::AF_UNIX);
    let with_unix_sockets = exceptions.network == Network::LeftAlone && exceptions.unix_sockets;
    let mut pairs = vec![together([differs(0, unix)])?];
    if !with_unix_sockets {
        // An end of a pair that keeps its peer for good is no way out. That of datagrams can be given another, and one of the
        // kind `SOCK_RAW` is one of datagrams. Flags stand above the kind.
        let kinds = (0..16).filter(|kind| ![libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(kind));
        pairs.extend(any(kinds.map(|kind| (1, SeccompCmpOp::MaskedEq(0xf), number(kind))))?);
    }
    let single = match exceptions.network {
        Network::Cut => Vec::new(),
        Network::LeftAlone => {
            let mut families = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            families.extend(with_unix_sockets.then_some(libc::AF_UNIX));
            let others = families.into_iter().map(|family| differs(0, number(family)));
            let netlink = [equal(0, number(libc::AF_NETLINK)), differs(2, number(libc::NETLINK_ROUTE))];
            vec![together(others)?, together(netlink)?]
        }
    };
    Ok(BTreeMap::from([(libc::SYS_socketpair, pairs), (libc::SYS_socket, single)]))
}

/// What is compared: the position of an argument, how, and with what. Of an argument the lower 32 bits count: the kernel looks at
/// no more in those that are compared here.
type Comparison = (u8, SeccompCmpOp, u64);

fn equal(position: u8, value: u64) -> Comparison {
    (position, SeccompCmpOp::Eq, value)
}

fn differs(position: u8, value: u64) -> Comparison {
    (position, SeccompCmpOp::Ne, value)
}

fn number(value: libc::c_int) -> u64 {
    u64::from(value.cast_unsigned())
}

/// Where one of them holds.
fn any(comparisons: impl IntoIterator<Item = Comparison>) -> Result<Vec<SeccompRule>, String> {
    comparisons.into_iter().map(|comparison| together([comparison])).collect()
}

/// Where all of them hold.
fn together(comparisons: impl IntoIterator<Item = Comparison>) -> Result<SeccompRule, String> {
    let condition =
        |(position, operator, value)| SeccompCondition::new(position, SeccompCmpArgLen::Dword, operator, value);
    let conditions: Result<Vec<_>, _> = comparisons.into_iter().map(condition).collect();
    conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())
}
