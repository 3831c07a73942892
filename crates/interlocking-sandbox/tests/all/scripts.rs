//! Runs shell scripts, and perl scripts, which can make system calls.

use std::process::Command;

use crate::attempts::{Attempt, Script};

/// Perl code for a system call by its number.
pub(crate) const BY_NUMBER: &str = r#"
    sub by_number {
        # What is given as a constant is copied, since any argument might be written to.
        for my $i (0 .. $#_) { if (Internals::SvREADONLY($_[$i])) { my $copy = $_[$i]; splice(@_, $i, 1, $copy) } }
        my $number = shift;
        syscall($number, @_)
    }
"#;

/// Perl code of an attempt: `call` makes a system call by its name, and `done` reports success.
const BY_NAME: &str = r#"
    sub call { my $name = shift; by_number($ENV{"SYS_$name"}+0, @_) }
    sub done { print "done\n" if $_[0] }
"#;

/// Makes shared memory, queues, a semaphore and an attribute of a file, each with a secret, and prints the ids of those that have
/// one. They exist until they are removed.
pub(crate) const SHARE: &str = r#"
    my ($key, $secret) = ($ENV{KEY}+0, $ARGV[0]);
    $memory = shmget($key, 64, 01600) // die $!;
    shmwrite($memory, $secret, 0, 64) or die $!;
    $queue = msgget($key, 01600) // die $!;
    msgsnd($queue, pack("l! a*", 1, $secret), 0) or die $!;
    $semaphore = semget($key, 1, 01600) // die $!;
    $posix = call("mq_open", $ENV{NAME}, 0102, 0600, pack("l!8", 0, 1, 64, 0, 0, 0, 0, 0));
    $posix >= 0 && call("mq_timedsend", $posix, $secret, length $secret, 0, 0) == 0 or die $!;
    open($shared, ">", "/dev/shm/$ENV{NAME}") && print($shared $secret) or die $!;
    call("setxattr", "$ENV{SIBLING}/secret.txt", "user.secret", $secret, length $secret, 0) == 0 or die $!;
    print "$memory $queue $semaphore";
"#;

/// Removes what [`SHARE`] made, as far as it exists.
pub(crate) const REMOVE: &str = r#"
    shmctl($ENV{MEMORY}+0, 0, 0); msgctl($ENV{QUEUE}+0, 0, 0); semctl($ENV{SEMAPHORE}+0, 0, 0, 0);
    call("mq_unlink", $ENV{NAME}); unlink("/dev/shm/$ENV{NAME}");
"#;

/// The numbers of system calls, which differ between architectures.
pub(crate) const CALLS: [(&str, i64); 37] = [
    ("SYS_acct", libc::SYS_acct),
    ("SYS_fanotify_init", libc::SYS_fanotify_init),
    ("SYS_fanotify_mark", libc::SYS_fanotify_mark),
    ("SYS_fcntl", libc::SYS_fcntl),
    ("SYS_fsetxattr", libc::SYS_fsetxattr),
    ("SYS_get_robust_list", libc::SYS_get_robust_list),
    ("SYS_gettimeofday", libc::SYS_gettimeofday),
    ("SYS_getxattr", libc::SYS_getxattr),
    ("SYS_inotify_add_watch", libc::SYS_inotify_add_watch),
    ("SYS_inotify_init1", libc::SYS_inotify_init1),
    ("SYS_ioctl", libc::SYS_ioctl),
    ("SYS_ioprio_set", libc::SYS_ioprio_set),
    ("SYS_kcmp", libc::SYS_kcmp),
    ("SYS_llistxattr", libc::SYS_llistxattr),
    ("SYS_lsetxattr", libc::SYS_lsetxattr),
    ("SYS_mq_open", libc::SYS_mq_open),
    ("SYS_mq_timedreceive", libc::SYS_mq_timedreceive),
    ("SYS_mq_timedsend", libc::SYS_mq_timedsend),
    ("SYS_mq_unlink", libc::SYS_mq_unlink),
    ("SYS_pidfd_getfd", libc::SYS_pidfd_getfd),
    ("SYS_pidfd_open", libc::SYS_pidfd_open),
    ("SYS_pidfd_send_signal", libc::SYS_pidfd_send_signal),
    ("SYS_prlimit64", libc::SYS_prlimit64),
    ("SYS_process_vm_readv", libc::SYS_process_vm_readv),
    ("SYS_ptrace", libc::SYS_ptrace),
    ("SYS_removexattr", libc::SYS_removexattr),
    ("SYS_rt_sigqueueinfo", libc::SYS_rt_sigqueueinfo),
    ("SYS_sched_getaffinity", libc::SYS_sched_getaffinity),
    ("SYS_sched_setaffinity", libc::SYS_sched_setaffinity),
    ("SYS_sched_setattr", libc::SYS_sched_setattr),
    ("SYS_sched_setparam", libc::SYS_sched_setparam),
    ("SYS_sched_setscheduler", libc::SYS_sched_setscheduler),
    ("SYS_sethostname", libc::SYS_sethostname),
    ("SYS_settimeofday", libc::SYS_settimeofday),
    ("SYS_setxattr", libc::SYS_setxattr),
    ("SYS_syslog", libc::SYS_syslog),
    ("SYS_tgkill", libc::SYS_tgkill),
];

pub(crate) fn command(attempt: &Attempt) -> Command {
    match attempt.script {
        Script::Shell(script) => shell(script),
        Script::Perl(script) => perl(script),
    }
}

pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

pub(crate) fn perl(script: &str) -> Command {
    let mut command = Command::new("perl");
    command.args(["-MSocket", "-MErrno", "-e", &format!("{BY_NUMBER}{BY_NAME}{script}")]);
    command
}
