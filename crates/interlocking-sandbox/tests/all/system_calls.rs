//! Tests each system call that no rule about files covers. Outside a sandbox, each fails with another error, as its arguments are
//! invalid.

use std::process::{Command, Stdio};

use interlocking_sandbox::{Network, Sandbox};

use crate::scripts::BY_NUMBER;

/// The error number of a system call in perl, or 0 if the call succeeds.
fn answer(sandbox: Option<&Sandbox>, call: &str) -> i32 {
    let mut perl = Command::new("perl");
    perl.args(["-MSocket", "-e", &format!("{BY_NUMBER} $r = {call}; print((defined $r && $r != -1) ? 0 : $!+0)")]);
    perl.stdin(Stdio::null());
    let output = match sandbox {
        None => perl.output().unwrap(),
        Some(sandbox) => sandbox.prepare().unwrap().enter(|| perl.output()).unwrap().unwrap(),
    };
    String::from_utf8(output.stdout).unwrap().parse().unwrap()
}

fn are_refused(sandbox: &Sandbox, expected: i32, calls: &[(&str, String)]) {
    for (name, call) in calls {
        assert_ne!(answer(None, call), expected, "{name} outside");
        assert_eq!(answer(Some(sandbox), call), expected, "{name} inside");
    }
}

fn sandbox() -> (tempfile::TempDir, Sandbox) {
    let directory = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::for_place(directory.path()).network(Network::Allowed);
    (directory, sandbox)
}

fn call(number: i64, arguments: &str) -> String {
    format!("by_number({number}, {arguments})")
}

#[test]
fn ways_to_others_are_refused() {
    let (_directory, sandbox) = sandbox();
    let mut calls = vec![
        ("io_uring_setup", call(libc::SYS_io_uring_setup, "0, 0")),
        ("keyctl", call(libc::SYS_keyctl, "99, 0, 0, 0, 0")),
        ("perf_event_open", call(libc::SYS_perf_event_open, "0, 0, 0, 0, 0")),
        ("open_by_handle_at", call(libc::SYS_open_by_handle_at, "-1, 0, 0")),
        ("bpf", call(libc::SYS_bpf, "999, 0, 0")),
        ("shmat", call(libc::SYS_shmat, "-1, 0, 0")),
        ("shmctl", call(libc::SYS_shmctl, "-1, 0, 0")),
        ("msgctl", call(libc::SYS_msgctl, "-1, 0, 0")),
        ("semctl", call(libc::SYS_semctl, "-1, 0, 0, 0")),
        ("mq_open", call(libc::SYS_mq_open, "0, 0, 0, 0")),
        ("mq_unlink", call(libc::SYS_mq_unlink, "0")),
        ("inotify_init1", call(libc::SYS_inotify_init1, "-1")),
        ("inotify_add_watch", call(libc::SYS_inotify_add_watch, "-1, 0, 1")),
        ("setns", call(libc::SYS_setns, "-1, 0")),
        ("quotactl", call(libc::SYS_quotactl, "0xff, 0, 0, 0")),
        ("quotactl_fd", call(443, "-1, 0, 0, 0")),
        ("statmount", call(457, "0, 0, 0, 0")),
        ("listmount", call(458, "0, 0, 0, 0")),
        ("TIOCSTI", "ioctl(STDIN, 0x5412, 0)".to_owned()),
        ("TIOCLINUX", "ioctl(STDIN, 0x541C, 0)".to_owned()),
        ("F_SETLEASE", call(libc::SYS_fcntl, "-1, 1024, 0")),
    ];
    if cfg!(target_arch = "x86_64") {
        // The x32 set of numbers for the same calls.
        calls.push(("socket of 32 bits", call(0x4000_0029, "1, 1, 0")));
        calls.push(("ioctl of 32 bits", call(0x4000_0202, "0, 0x5412, 0")));
        calls.push(("getpid of 32 bits", call(0x4000_0027, "0")));
    }
    are_refused(&sandbox, libc::EPERM, &calls);
}

/// Uses a process id that no process has, as outside the sandbox the process would be changed.
#[test]
fn limits_and_scheduling_of_others_are_refused() {
    const NOBODY: i64 = 999_999_999;
    let (_directory, sandbox) = sandbox();
    let of = |number: i64, first: &str, rest: &str| call(number, &format!("{first}{NOBODY}, {rest}"));
    are_refused(
        &sandbox,
        libc::EPERM,
        &[
            ("prlimit64", of(libc::SYS_prlimit64, "", "4, 0, 0")),
            ("prlimit64 of its own number", call(libc::SYS_prlimit64, "$$+0, 4, 0, 0")),
            ("sched_setparam", of(libc::SYS_sched_setparam, "", "pack('i', 0)")),
            ("sched_setscheduler", of(libc::SYS_sched_setscheduler, "", "3, pack('i', 0)")),
            ("sched_setattr", of(libc::SYS_sched_setattr, "", "pack('LLQlLQQQ', 48, 3, 0, 0, 0, 0, 0, 0), 0")),
            ("sched_setaffinity", of(libc::SYS_sched_setaffinity, "", "8, pack('Q', 1)")),
            ("setpriority of a program", of(libc::SYS_setpriority, "0, ", "0")),
            ("setpriority of a group", of(libc::SYS_setpriority, "1, ", "0")),
            ("setpriority of a user", of(libc::SYS_setpriority, "2, ", "0")),
            ("setpriority of its group", "setpgrp(0, 0) && setpriority(1, 0, 5) ? 0 : -1".to_owned()),
            ("ioprio_set of a program", of(libc::SYS_ioprio_set, "1, ", "2 << 13 | 7")),
            ("ioprio_set of a group", of(libc::SYS_ioprio_set, "2, ", "2 << 13 | 7")),
            ("ioprio_set of a user", of(libc::SYS_ioprio_set, "3, ", "2 << 13 | 7")),
        ],
    );
}

#[test]
fn namespaces_are_refused() {
    let (_directory, sandbox) = sandbox();
    let flags = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
    let mut calls = vec![("unshare of the time", call(libc::SYS_unshare, "0x80 | 1"))];
    // With another flag that makes the call invalid outside a sandbox.
    calls.extend(flags.map(|flag| ("clone", call(libc::SYS_clone, &format!("{flag} | 0x10000, 0, 0, 0, 0")))));
    calls.extend(flags.map(|flag| ("unshare", call(libc::SYS_unshare, &format!("{flag} | 1")))));
    are_refused(&sandbox, libc::EPERM, &calls);
    are_refused(&sandbox, libc::ENOSYS, &[("clone3", call(libc::SYS_clone3, "0, 0"))]);
}

#[test]
fn attributes_of_files_are_not_there() {
    let (_directory, sandbox) = sandbox();
    const PATH: &str = "'/no/such/file', 'user.x', 0, 0, 0";
    let mut calls = vec![
        ("fsetxattr", call(libc::SYS_fsetxattr, "-1, 'user.x', 'x', 1, 0")),
        ("fremovexattr", call(libc::SYS_fremovexattr, "-1, 'user.x'")),
        ("name_to_handle_at", call(libc::SYS_name_to_handle_at, "-1, 'x', 0, 0, 0")),
    ];
    for number in [
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_getxattr,
        libc::SYS_lgetxattr,
        libc::SYS_listxattr,
        libc::SYS_llistxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
    ] {
        calls.push(("by path", call(number, PATH)));
    }
    // `setxattrat`, `getxattrat`, `listxattrat`, `removexattrat`, `file_getattr` and `file_setattr`.
    for number in [463, 464, 465, 466, 468, 469] {
        calls.push(("by directory and path", call(number, "-1, '/no/such/file', 0, 'user.x', 0, 0")));
    }
    are_refused(&sandbox, libc::EOPNOTSUPP, &calls);
}

#[test]
fn commands_of_file_systems_are_not_there() {
    let (_directory, sandbox) = sandbox();
    let command = |command: u64| call(libc::SYS_ioctl, &format!("-1, {command}, 0"));
    are_refused(
        &sandbox,
        libc::ENOTTY,
        &[
            ("FS_IOC_SETFLAGS", command(0x4008_6602)),
            ("FS_IOC_SETVERSION", command(0x4008_7602)),
            ("FS_IOC_ENABLE_VERITY", command(0x4080_6685)),
            ("FS_IOC_FSSETXATTR", command(0x401c_5820)),
            ("FIFREEZE", command(0xc004_5877)),
            ("BTRFS_IOC_SUBVOL_CREATE", command(0x5000_940e)),
            ("BTRFS_IOC_SNAP_CREATE_V2", command(0x5000_9417)),
        ],
    );
    for (name, number) in [("FICLONE", 0x4004_9409), ("FICLONERANGE", 0x4020_940d), ("FIDEDUPERANGE", 0xc018_9436)] {
        assert_eq!(answer(Some(&sandbox), &command(number)), libc::EBADF, "{name}");
    }
}

/// With [`Network::Allowed`]. With [`Network::Denied`], no sockets can be made.
#[test]
fn sockets_reach_the_internet_alone() {
    let (_directory, sandbox) = sandbox();
    let socket = |arguments: &str| call(libc::SYS_socket, arguments);
    are_refused(
        &sandbox,
        libc::EPERM,
        &[
            ("unix", socket("1, 1, 0")),
            ("vsock", socket("40, 1, 0")),
            ("alg", socket("38, 5, 0")),
            ("the kernel's list of sockets", socket("16, 3, 4")),
            ("messages between programs", socket("16, 3, 2")),
            ("a pair of another family", call(libc::SYS_socketpair, "2, 1, 0, 0")),
            ("a pair of datagrams", "socketpair($a, $b, AF_UNIX, SOCK_DGRAM, 0) ? 0 : -1".to_owned()),
            ("a raw pair", "socketpair($a, $b, AF_UNIX, SOCK_RAW, 0) ? 0 : -1".to_owned()),
            ("a pair of datagrams with flags", call(libc::SYS_socketpair, "1, 2 | 02000000 | 04000, 0, 0")),
        ],
    );
    for (name, arguments) in [("inet", "2, 1, 0"), ("inet6", "10, 2, 0"), ("addresses", "16, 3, 0")] {
        assert_eq!(answer(Some(&sandbox), &socket(arguments)), answer(None, &socket(arguments)), "{name}");
    }
}
