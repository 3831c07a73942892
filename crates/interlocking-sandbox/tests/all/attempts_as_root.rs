//! Attempts that only root can make. Without the sandbox, they are tested only if the tests run as root.

use crate::attempts::{
    Aim::{Act, Write},
    Attempt, BY_SANDBOX, Needs, perl, shell,
};

pub(crate) const AS_ROOT: &[Attempt] = &[
    // Sets the current name, so that nothing changes.
    perl(
        "name the machine (`sethostname`)",
        Act,
        r#"chomp($n = `uname -n`); done(call("sethostname", $n, length $n) == 0)"#,
        BY_SANDBOX,
    )
    .needing(Needs::Root),
    // SYSLOG_ACTION_READ_ALL is 3.
    perl("read the kernel's log", Act, r#"$b = "\0" x 64; done(call("syslog", 3, $b, 64) >= 0)"#, BY_SANDBOX)
        .needing(Needs::Root),
    // Names a file that does not exist, so that nothing changes.
    perl("account for all programs (`acct`)", Act, r#"call("acct", "/no/such/file"); done($!{ENOENT})"#, BY_SANDBOX)
        .needing(Needs::Root),
    shell("give a file to another user", Write, "chown 1:1 $SIBLING/secret.txt", BY_SANDBOX).needing(Needs::Root),
    perl("become another user", Act, r#"$< = 1; done($< == 1)"#, BY_SANDBOX).needing(Needs::Root),
    perl("raise its own priority", Act, "done(setpriority(0, 0, -5))", BY_SANDBOX).needing(Needs::Root),
    shell("take another root directory (`chroot`)", Act, "chroot / echo done", BY_SANDBOX).needing(Needs::Root),
    shell("mount a directory elsewhere", Act, "unshare --mount sh -c 'mount --bind . / && echo done'", BY_SANDBOX)
        .needing(Needs::Root),
    shell("make a namespace of host names (`unshare`)", Act, "unshare --uts echo done", BY_SANDBOX)
        .needing(Needs::Root),
    // SOCK_RAW is 3, IPPROTO_ICMP 1.
    perl("make a raw socket", Act, "done(socket($s, AF_INET, 3, 1))", BY_SANDBOX).needing(Needs::Root),
    // Sets the current time, so that nothing changes.
    perl(
        "set the clock",
        Act,
        r#"$z = "\0" x 8; call("gettimeofday", 0, $z); done(call("settimeofday", 0, $z) == 0)"#,
        BY_SANDBOX,
    )
    .needing(Needs::Root),
];
