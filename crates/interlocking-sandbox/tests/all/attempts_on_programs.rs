//! Attempts on other programs: inspecting, ending and slowing them; and attempts of programs that outlive their parents.

use crate::attempts::{
    Aim::{Act, End, Read, Write},
    Attempt, BY_NOTHING, BY_SANDBOX, Needs, perl, shell,
};

pub(crate) const OTHERS: &[Attempt] = &[
    shell(
        "read through `/proc/*/cwd`",
        Read,
        "cat /proc/$VICTIM/cwd/secret.txt; cat /proc/[0-9]*/cwd/secret.txt",
        BY_SANDBOX,
    ),
    shell("read through `/proc/*/root`", Read, "cat /proc/$VICTIM/root$SIBLING/secret.txt", BY_SANDBOX),
    shell("read through `/proc/*/fd`", Read, "cat /proc/$VICTIM/fd/0", BY_SANDBOX),
    shell("read `/proc/*/environ`", Read, "cat /proc/$VICTIM/environ", BY_SANDBOX),
    shell("read `/proc/*/cmdline`", Read, "cat /proc/$VICTIM/cmdline", BY_SANDBOX),
    perl(
        "attach to the sibling's program with `ptrace`",
        Act,
        r#"done(call("ptrace", 0x4206, $ENV{VICTIM}+0, 0, 0) == 0)"#,
        BY_SANDBOX,
    )
    .needing(Needs::Tracing),
    // The error for the invalid address shows that the caller was permitted.
    perl(
        "read the sibling's memory (`process_vm_readv`)",
        Act,
        r#"$b = "\0" x 8; $l = pack("PQ", $b, 8); $r = pack("QQ", 8, 8);
        call("process_vm_readv", $ENV{VICTIM}+0, $l, 1, $r, 1, 0); done($!{EFAULT})"#,
        BY_SANDBOX,
    )
    .needing(Needs::Tracing),
    perl(
        "take an open file from the sibling's program (`pidfd_getfd`)",
        Read,
        r#"$p = call("pidfd_open", $ENV{VICTIM}+0, 0); $f = call("pidfd_getfd", $p, 0, 0);
        open($s, "<&=", $f) and print <$s>"#,
        BY_SANDBOX,
    )
    .needing(Needs::Tracing),
    perl(
        "compare its open files with the sibling's (`kcmp`)",
        Act,
        r#"done(call("kcmp", $$+0, $ENV{VICTIM}+0, 2, 0, 0) >= 0)"#,
        BY_SANDBOX,
    )
    .needing(Needs::Tracing),
    perl(
        "ask for the sibling's list of locks (`get_robust_list`)",
        Act,
        r#"$h = $l = "\0" x 8; done(call("get_robust_list", $ENV{VICTIM}+0, $h, $l) == 0)"#,
        BY_SANDBOX,
    )
    .needing(Needs::Tracing),
    shell("send a signal to its parent", Act, "kill -0 $PPID && echo done", BY_SANDBOX),
    shell("end the sibling's program", Act, "kill -TERM $VICTIM && echo done", BY_SANDBOX),
    perl(
        "signal the sibling's program (`pidfd_send_signal`)",
        Act,
        r#"$p = call("pidfd_open", $ENV{VICTIM}+0, 0); done(call("pidfd_send_signal", $p, 0, 0, 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "signal the sibling's program (`tgkill`)",
        Act,
        r#"done(call("tgkill", $ENV{VICTIM}+0, $ENV{VICTIM}+0, 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "signal the sibling's program (`rt_sigqueueinfo`)",
        Act,
        r#"done(call("rt_sigqueueinfo", $ENV{VICTIM}+0, 0, pack("iiix116", 0, 0, -1)) == 0)"#,
        BY_SANDBOX,
    ),
    // F_SETOWN is 8, F_SETFL 4, O_ASYNC 0x2000.
    perl(
        "end the sibling's program by the signal of a pipe (`F_SETOWN`)",
        End,
        r#"pipe($r, $w); call("fcntl", fileno($r), 8, $ENV{VICTIM}+0); call("fcntl", fileno($r), 4, 0x2000);
        syswrite($w, "x")"#,
        BY_SANDBOX,
    ),
    perl("learn that the sibling's program runs", Act, r#"done(kill(0, $ENV{VICTIM}) || $!{EPERM})"#, BY_NOTHING),
];

pub(crate) const SCHEDULING: &[Attempt] = &[
    // RLIMIT_CPU is 0, RLIMIT_CORE 4. The kernel ends a program that has used more processor time than its limit.
    perl(
        "limit the sibling's processor time (`prlimit`)",
        Act,
        r#"done(call("prlimit64", $ENV{VICTIM}+0, 0, pack("QQ", 0, 0), 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "set a limit of its parent (`prlimit`)",
        Act,
        r#"$l = "\0" x 16; call("prlimit64", getppid()+0, 4, 0, $l);
        done(call("prlimit64", getppid()+0, 4, $l, 0) == 0)"#,
        BY_SANDBOX,
    ),
    // SCHED_BATCH is 3.
    perl(
        "change how the sibling's program is scheduled (`sched_setscheduler`)",
        Act,
        r#"done(call("sched_setscheduler", $ENV{VICTIM}+0, 3, pack("i", 0)) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "change how the sibling's program is scheduled (`sched_setparam`)",
        Act,
        r#"done(call("sched_setparam", $ENV{VICTIM}+0, pack("i", 0)) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "change how the sibling's program is scheduled (`sched_setattr`)",
        Act,
        r#"done(call("sched_setattr", $ENV{VICTIM}+0, pack("LLQlLQQQ", 48, 3, 0, 0, 0, 0, 0, 0), 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "choose the processors of the sibling's program (`sched_setaffinity`)",
        Act,
        r#"$m = "\0" x 128; call("sched_getaffinity", 0, 128, $m);
        done(call("sched_setaffinity", $ENV{VICTIM}+0, 128, $m) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "lower the priority of the sibling's program (`setpriority`)",
        Act,
        "done(setpriority(0, $ENV{VICTIM}, 10))",
        BY_SANDBOX,
    ),
    // A program can move to another process group of its session.
    perl(
        "lower the priority of the sibling's process group, as a member of it",
        Act,
        "setpgrp(0, getpgrp($ENV{VICTIM})); done(setpriority(1, 0, 5))",
        BY_SANDBOX,
    ),
    perl(
        "lower the priority of what the sibling's program reads and writes (`ioprio_set`)",
        Act,
        r#"done(call("ioprio_set", 1, $ENV{VICTIM}+0, 2 << 13 | 7) == 0)"#,
        BY_SANDBOX,
    ),
    shell("make a namespace of its own (`unshare`)", Act, "unshare --user true && echo done", BY_SANDBOX),
];

pub(crate) const STAYING: &[Attempt] = &[
    shell(
        "read from a background program (`setsid`) after its parent has ended",
        Read,
        "setsid sh -c 'sleep 0.3; cat $SIBLING/secret.txt > stolen; echo > ended' > /dev/null 2>&1 &",
        BY_SANDBOX,
    ),
    shell(
        "read from a twice forked program after its parents have ended",
        Read,
        "(( sleep 0.3; cat $SIBLING/secret.txt > stolen; echo > ended ) > /dev/null 2>&1 & ) &",
        BY_SANDBOX,
    ),
    shell(
        "write from a background program after its parent has ended",
        Write,
        "setsid sh -c 'sleep 0.3; echo x > $SIBLING/new; echo > ended' > /dev/null 2>&1 &",
        BY_SANDBOX,
    ),
];
