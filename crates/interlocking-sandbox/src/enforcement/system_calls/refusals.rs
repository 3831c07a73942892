//! Which system calls are refused, for which arguments, and with which error.
//!
//! The error is the one that programs handle best: most try the call and continue without it.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use crate::{exceptions::Exceptions, network::Network};

/// For each call number, the rules. A call is refused if one of its rules matches, or always if it has no rules.
pub(super) type Refusals = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that reach other programs or the kernel without files. They are refused for all arguments.
const ALWAYS_REFUSED: [c_long; 33] = [
    // An io_uring can make sockets, and filters do not see its operations.
    libc::SYS_io_uring_setup,
    // The user's key rings.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Memory, queues and semaphores that all programs of a user share, with ids that can be guessed.
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
    // Watching files whose path is known, even if they are not readable.
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // The kernel's information on other programs, its log, and the disk usage of each user.
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_syslog,
    libc::SYS_quotactl,
    QUOTACTL_FD,
    // The list of mounts, as in `/proc/self/mountinfo`.
    STATMOUNT,
    LISTMOUNT,
    // Entering other programs' namespaces. For making namespaces, see `NAMESPACES`.
    libc::SYS_setns,
    // Calls by which root can escape any sandbox.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_open_by_handle_at,
    libc::SYS_reboot,
];

/// Refused unless [`Exceptions::inotify`] is set.
const INOTIFY: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
];

/// Attributes of a file, accessed by its path or by a descriptor that need not be open for writing. The error is that of a file
/// system without attributes. Reading attributes by a descriptor (`fgetxattr`, `flistxattr`) is permitted, as the file was opened
/// before.
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
    // Returns a file handle, which is of no use without `open_by_handle_at`.
    libc::SYS_name_to_handle_at,
];

// These numbers are the same on all architectures. The crate `libc` does not define them yet.
const QUOTACTL_FD: c_long = 443;
const STATMOUNT: c_long = 457;
const LISTMOUNT: c_long = 458;
const SETXATTRAT: c_long = 463;
const GETXATTRAT: c_long = 464;
const LISTXATTRAT: c_long = 465;
const REMOVEXATTRAT: c_long = 466;
const FILE_GETATTR: c_long = 468;
const FILE_SETATTR: c_long = 469;

/// The `ioctl` that inserts a character into a terminal as if it had been typed.
const TIOCSTI: u64 = 0x5412;
/// The `ioctl` that can paste into a virtual console.
const TIOCLINUX: u64 = 0x541C;

/// The bits of an `ioctl` command that identify the driver or file system (its type).
const TYPE_MASK: u64 = 0xff00;
/// The types of commands for flags, versions, encryption and verity of a file, for projects, freezing and trimming, and of XFS.
/// They can change a file that was opened only for reading, even irrevocably.
const COMMANDS_OF_FILE_SYSTEMS: [u8; 3] = [b'f', b'v', b'X'];
/// The type of the commands of Btrfs, which can make volumes where the program may not make files.
const COMMANDS_OF_BTRFS: u64 = 0x9400;
/// Btrfs commands that other file systems support, too, and that `cp` uses: they share blocks between files. They stay permitted:
/// a file must be open for writing to be overwritten by a clone, and deduplication does not change the contents of files.
const CLONING: [u64; 3] = [0x4004_9409, 0x4020_940D, 0xC018_9436];

/// Flags of `clone` and `unshare` that make namespaces. A program has all rights in its own namespaces: it can mount there, and
/// use parts of the kernel that otherwise only root can use.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The argument of `ioprio_set` for a single process.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// All refused calls, with the error.
pub(super) fn all(exceptions: Exceptions) -> Result<Vec<(i32, Refusals)>, String> {
    let always = |calls: &[c_long]| calls.iter().map(|call| (*call, Vec::new())).collect::<Refusals>();
    let mut refused = vec![
        (libc::EPERM, always(&ALWAYS_REFUSED)),
        (libc::EPERM, others_scheduling()?),
        (libc::EPERM, namespaces()?),
        (
            libc::EPERM,
            BTreeMap::from([(libc::SYS_ioctl, any([[TIOCSTI], [TIOCLINUX]].map(|[command]| equal(1, command)))?)]),
        ),
        // A program with a lease on a file delays other programs that open the file.
        (libc::EPERM, BTreeMap::from([(libc::SYS_fcntl, any([equal(1, number(libc::F_SETLEASE))])?)])),
        (libc::EPERM, sockets(exceptions)?),
        (libc::EOPNOTSUPP, always(&ATTRIBUTES)),
        (libc::ENOTTY, file_systems()?),
        // The flags of `clone3` are in memory, which a filter cannot read. The C library falls back to `clone`.
        (libc::ENOSYS, always(&[libc::SYS_clone3])),
    ];
    if !exceptions.inotify {
        refused.push((libc::EPERM, always(INOTIFY)));
    }
    #[cfg(target_arch = "x86_64")]
    refused.push((libc::EPERM, always(&[libc::SYS_iopl, libc::SYS_ioperm])));
    Ok(refused)
}

/// Changing the limits and the scheduling of other programs of the user, by process id. The id 0, which means the caller, is
/// permitted. The caller's actual process id is refused, too, as a filter does not know it.
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
    // A process group is refused even if it is the caller's, as a program can move to another group of its session.
    refused.insert(libc::SYS_setpriority, any([differs(0, number(libc::PRIO_PROCESS as i32)), differs(1, 0)])?);
    refused.insert(libc::SYS_ioprio_set, any([differs(0, IOPRIO_WHO_PROCESS), differs(1, 0)])?);
    Ok(refused)
}

fn namespaces() -> Result<Refusals, String> {
    let flagged = |flag: libc::c_int| (0, SeccompCmpOp::MaskedEq(number(flag)), number(flag));
    let clone = any(NAMESPACES.map(flagged))?;
    let mut unshare = clone.clone();
    // `unshare` only: in the flags of `clone`, this bit is part of the signal number.
    unshare.extend(any([flagged(libc::CLONE_NEWTIME)])?);
    Ok(BTreeMap::from([(libc::SYS_clone, clone), (libc::SYS_unshare, unshare)]))
}

fn file_systems() -> Result<Refusals, String> {
    let of_type = |bits: u64| (1, SeccompCmpOp::MaskedEq(TYPE_MASK), bits);
    let mut rules = any(COMMANDS_OF_FILE_SYSTEMS.map(|letter| of_type(u64::from(letter) << 8)))?;
    let cloning = CLONING.map(|command| differs(1, command));
    rules.push(all_of([of_type(COMMANDS_OF_BTRFS)].into_iter().chain(cloning))?);
    Ok(BTreeMap::from([(libc::SYS_ioctl, rules)]))
}

/// Sockets that reach anything outside the sandbox. If the network is denied, all sockets are refused. Otherwise all are refused
/// except those of the Internet and the netlink socket from which libraries read the machine's addresses: other sockets reach
/// services of this machine or of its host, or parts of the kernel.
fn sockets(exceptions: Exceptions) -> Result<Refusals, String> {
    let unix = number(libc::AF_UNIX);
    let with_unix_sockets = exceptions.network == Network::Allowed && exceptions.unix_sockets;
    let mut pairs = vec![all_of([differs(0, unix)])?];
    if !with_unix_sockets {
        // A stream or seqpacket socket of a pair keeps its peer, so it is no way out. A datagram socket can be connected to
        // another peer, and `SOCK_RAW` makes a datagram socket. Flags are in the bits above the type.
        let types = (0..16).filter(|kind| ![libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(kind));
        pairs.extend(any(types.map(|kind| (1, SeccompCmpOp::MaskedEq(0xf), number(kind))))?);
    }
    let single = match exceptions.network {
        Network::Denied => Vec::new(),
        Network::Allowed => {
            let mut families = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            families.extend(with_unix_sockets.then_some(libc::AF_UNIX));
            let others = families.into_iter().map(|family| differs(0, number(family)));
            let netlink = [equal(0, number(libc::AF_NETLINK)), differs(2, number(libc::NETLINK_ROUTE))];
            vec![all_of(others)?, all_of(netlink)?]
        }
    };
    Ok(BTreeMap::from([(libc::SYS_socketpair, pairs), (libc::SYS_socket, single)]))
}

/// A comparison of an argument: its position, the operator and the value. Only the lower 32 bits are compared: the kernel ignores
/// the others in all arguments that are compared here.
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

/// Rules, of which at least one matches if any of the comparisons holds.
fn any(comparisons: impl IntoIterator<Item = Comparison>) -> Result<Vec<SeccompRule>, String> {
    comparisons.into_iter().map(|comparison| all_of([comparison])).collect()
}

/// A rule that matches if all comparisons hold.
fn all_of(comparisons: impl IntoIterator<Item = Comparison>) -> Result<SeccompRule, String> {
    let condition =
        |(position, operator, value)| SeccompCondition::new(position, SeccompCmpArgLen::Dword, operator, value);
    let conditions: Result<Vec<_>, _> = comparisons.into_iter().map(condition).collect();
    conditions.and_then(SeccompRule::new).map_err(|error| error.to_string())
}
