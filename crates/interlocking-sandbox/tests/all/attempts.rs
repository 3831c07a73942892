//! What a malicious program tries: each attempt is a shell script. `perl` does what a shell cannot.
//!
//! `$SIBLING` is another agent's place, `$PROJECT` the user's repository, `$VICTIM` a program that the other agent runs,
//! `$BLOB` the id of the secret, `$BASE` the commit that all started from. `$TCP`, `$UDP`, `$ABSTRACT` and `$SOCKET` are
//! services that give the secret to whoever asks.

/// What an attempt is after.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// The secret, on the standard output or in a file `stolen` of the place.
    Read,
    /// Any change outside the place.
    Write,
    /// The word `done` on the standard output: something else that it should not be able to do.
    Act,
}

/// Whether it succeeds in a linked worktree, in a clone, and in a clone with the sandbox around it.
pub(crate) type Levels = [bool; 3];

pub(crate) const NO: bool = false;
pub(crate) const YES: bool = true;

/// Stopped by the sandbox alone, as most are.
const BY_SANDBOX: Levels = [YES, YES, NO];
/// Stopped by the clone already.
const BY_CLONE: Levels = [YES, NO, NO];
/// Stopped by nothing here; the documentation says what follows.
const BY_NOTHING: Levels = [YES, YES, YES];

pub(crate) struct Attempt {
    /// As the documentation has it.
    pub(crate) name: &'static str,
    pub(crate) aim: Aim,
    pub(crate) script: &'static str,
    pub(crate) succeeds: Levels,
}

const fn attempt(name: &'static str, aim: Aim, script: &'static str, succeeds: Levels) -> Attempt {
    Attempt { name, aim, script, succeeds }
}

use Aim::{Act, Read, Write};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // Git.
    attempt("`git show` of the sibling's branch", Read, "git show sibling:secret.txt", BY_CLONE),
    attempt("`git log --all --patch`", Read, "git log --all --patch", BY_CLONE),
    attempt("`git cat-file` of the sibling's file by its id", Read, "git cat-file -p $BLOB", BY_CLONE),
    attempt("`git -C` in the user's repository", Read, "git -C $PROJECT show sibling:secret.txt", BY_SANDBOX),
    attempt(
        "the user's object store as an alternate of its own",
        Read,
        "echo $PROJECT/.git/objects > $(git rev-parse --git-path objects)/info/alternates; git cat-file -p $BLOB",
        BY_SANDBOX,
    ),
    attempt(
        "`git fetch` from the user's repository",
        Read,
        "git fetch --quiet $PROJECT sibling && git show FETCH_HEAD:secret.txt",
        BY_SANDBOX,
    ),
    attempt(
        "move the sibling's branch in the shared references",
        Write,
        "git update-ref refs/heads/sibling $BASE",
        BY_CLONE,
    ),
    attempt("change the shared configuration", Write, "git config core.hooksPath /tmp", BY_CLONE),
    attempt(
        "`git push` to the user's repository",
        Write,
        "git push --quiet $PROJECT HEAD:refs/heads/pushed",
        BY_SANDBOX,
    ),
    // Reading files.
    attempt("read by the absolute path", Read, "cat $SIBLING/secret.txt", BY_SANDBOX),
    attempt("read through `..`", Read, "cat ../sibling/secret.txt", BY_SANDBOX),
    attempt("read by a symbolic link that lies there", Read, "cat planted-link/secret.txt", BY_SANDBOX),
    attempt("read by a symbolic link of its own", Read, "ln -s $SIBLING own-link; cat own-link/secret.txt", BY_SANDBOX),
    attempt("read by a hard link of its own", Read, "ln $SIBLING/secret.txt stolen", BY_SANDBOX),
    attempt("read by moving the file to itself", Read, "mv $SIBLING/secret.txt stolen", BY_SANDBOX),
    attempt("list the sibling's directory", Act, "ls $SIBLING | grep -q secret.txt && echo done", BY_SANDBOX),
    attempt("run the sibling's program", Act, "$SIBLING/program", BY_SANDBOX),
    // Other programs.
    attempt(
        "read through `/proc/*/cwd`",
        Read,
        "cat /proc/$VICTIM/cwd/secret.txt; cat /proc/[0-9]*/cwd/secret.txt",
        BY_SANDBOX,
    ),
    attempt("read through `/proc/*/root`", Read, "cat /proc/$VICTIM/root$SIBLING/secret.txt", BY_SANDBOX),
    attempt("read through `/proc/*/fd`", Read, "cat /proc/$VICTIM/fd/0", BY_SANDBOX),
    attempt("read `/proc/*/environ`", Read, "cat /proc/$VICTIM/environ", BY_SANDBOX),
    attempt("read `/proc/*/cmdline`", Read, "cat /proc/$VICTIM/cmdline", BY_SANDBOX),
    attempt(
        "attach to the sibling's program with `ptrace`",
        Act,
        concat!(
            "perl -e '$n = (qx(uname -m) =~ /x86_64/) ? 101 : 117; ",
            "print \"done\\n\" if syscall($n, 0x4206, $ENV{VICTIM}+0, 0, 0) == 0'"
        ),
        BY_SANDBOX,
    ),
    attempt("send a signal to its parent", Act, "kill -0 $PPID && echo done", BY_SANDBOX),
    attempt("end the sibling's program", Act, "kill -TERM $VICTIM && echo done", BY_SANDBOX),
    attempt(
        "read memory that the sibling's program shares",
        Read,
        "perl -e '$m = shmget($ENV{MEMORY}+0, 64, 0); shmread($m, $text, 0, 64); print $text'",
        BY_SANDBOX,
    ),
    // Programs that stay.
    attempt(
        "read from a background program (`setsid`) after its parent has ended",
        Read,
        "setsid sh -c 'sleep 0.3; cat $SIBLING/secret.txt > stolen; echo > ended' > /dev/null 2>&1 &",
        BY_SANDBOX,
    ),
    attempt(
        "read from a twice forked program after its parents have ended",
        Read,
        "(( sleep 0.3; cat $SIBLING/secret.txt > stolen; echo > ended ) > /dev/null 2>&1 & ) &",
        BY_SANDBOX,
    ),
    attempt(
        "write from a background program after its parent has ended",
        Write,
        "setsid sh -c 'sleep 0.3; echo x > $SIBLING/new; echo > ended' > /dev/null 2>&1 &",
        BY_SANDBOX,
    ),
    // Writing files.
    attempt("write by the absolute path", Write, "echo x > $SIBLING/new", BY_SANDBOX),
    attempt("append through `..`", Write, "echo x >> ../sibling/secret.txt", BY_SANDBOX),
    attempt("write by a symbolic link that lies there", Write, "echo x > planted-link/new", BY_SANDBOX),
    attempt(
        "write by a symbolic link of its own",
        Write,
        "ln -s $SIBLING/secret.txt own-link; echo x > own-link",
        BY_SANDBOX,
    ),
    attempt("write by a hard link of its own", Write, "ln $SIBLING/secret.txt own && echo x > own", BY_SANDBOX),
    attempt("write through `/proc/*/cwd`", Write, "echo x > /proc/$VICTIM/cwd/new", BY_SANDBOX),
    attempt("move a file out", Write, "echo x > own; mv own $SIBLING/new", BY_SANDBOX),
    attempt("link a file out", Write, "echo x > own; ln own $SIBLING/new", BY_SANDBOX),
    attempt("cut a file to length", Write, "perl -e 'truncate($ENV{SIBLING}.\"/secret.txt\", 0)'", BY_SANDBOX),
    attempt("delete a file", Write, "rm -f $SIBLING/secret.txt", BY_SANDBOX),
    attempt("make a directory", Write, "mkdir $SIBLING/new", BY_SANDBOX),
    attempt("make a symbolic link", Write, "ln -s /etc/passwd $SIBLING/new", BY_SANDBOX),
    attempt("write to the user's repository", Write, "echo x > $PROJECT/.git/hooks/post-commit", BY_SANDBOX),
    // Sockets.
    attempt(
        "connect by TCP",
        Read,
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(\"127.0.0.1:$ENV{TCP}\") or exit; print <$s>'",
        BY_SANDBOX,
    ),
    attempt(
        "ask by UDP",
        Read,
        concat!(
            "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => \"127.0.0.1:$ENV{UDP}\", Proto => \"udp\") ",
            "or exit; $s->send(\"?\"); alarm 2; $s->recv($a, 99); print $a'"
        ),
        BY_SANDBOX,
    ),
    attempt(
        "connect to an abstract unix socket",
        Read,
        concat!(
            "perl -MSocket -e 'socket($s, AF_UNIX, SOCK_STREAM, 0) or exit; ",
            "connect($s, pack(\"S a*\", AF_UNIX, \"\\0$ENV{ABSTRACT}\")) or exit; print <$s>'"
        ),
        BY_SANDBOX,
    ),
    attempt(
        "connect to a unix socket by its path",
        Read,
        concat!(
            "perl -MSocket -e 'socket($s, AF_UNIX, SOCK_STREAM, 0) or exit; ",
            "connect($s, sockaddr_un($ENV{SOCKET})) or exit; print <$s>'"
        ),
        BY_SANDBOX,
    ),
    // What Landlock does not govern.
    attempt(
        "learn that a file is there, and its size",
        Act,
        "test $(stat -c %s $SIBLING/secret.txt) -gt 0 && echo done",
        BY_NOTHING,
    ),
    attempt("change the mode of a file", Write, "chmod 777 $SIBLING/secret.txt", BY_NOTHING),
    attempt("change the times of a file", Write, "touch -d 2001-01-01 $SIBLING/secret.txt", BY_NOTHING),
];
