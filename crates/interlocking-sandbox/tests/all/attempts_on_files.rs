//! Attempts on files: reading, writing, watching them, and actions that Landlock does not govern.

use crate::attempts::{
    Aim::{Act, Read, Write},
    Attempt, BY_NOTHING, BY_SANDBOX, perl, shell,
};

pub(crate) const READING: &[Attempt] = &[
    shell("read by the absolute path", Read, "cat $SIBLING/secret.txt", BY_SANDBOX),
    shell("read through `..`", Read, "cat ../sibling/secret.txt", BY_SANDBOX),
    shell("read by a symbolic link that lies there", Read, "cat planted-link/secret.txt", BY_SANDBOX),
    shell("read by a symbolic link of its own", Read, "ln -s $SIBLING own-link; cat own-link/secret.txt", BY_SANDBOX),
    shell("read by a hard link of its own", Read, "ln $SIBLING/secret.txt stolen", BY_SANDBOX),
    shell("read by moving the file to itself", Read, "mv $SIBLING/secret.txt stolen", BY_SANDBOX),
    shell("list the sibling's directory", Act, "ls $SIBLING | grep -q secret.txt && echo done", BY_SANDBOX),
    shell("run the sibling's program", Act, "$SIBLING/program", BY_SANDBOX),
];

pub(crate) const WRITING: &[Attempt] = &[
    shell("write by the absolute path", Write, "echo x > $SIBLING/new", BY_SANDBOX),
    shell("append through `..`", Write, "echo x >> ../sibling/secret.txt", BY_SANDBOX),
    shell("write by a symbolic link that lies there", Write, "echo x > planted-link/new", BY_SANDBOX),
    shell(
        "write by a symbolic link of its own",
        Write,
        "ln -s $SIBLING/secret.txt own-link; echo x > own-link",
        BY_SANDBOX,
    ),
    shell("write by a hard link of its own", Write, "ln $SIBLING/secret.txt own && echo x > own", BY_SANDBOX),
    shell("write through `/proc/*/cwd`", Write, "echo x > /proc/$VICTIM/cwd/new", BY_SANDBOX),
    shell("move a file out", Write, "echo x > own; mv own $SIBLING/new", BY_SANDBOX),
    shell("link a file out", Write, "echo x > own; ln own $SIBLING/new", BY_SANDBOX),
    perl("cut a file to length", Write, r#"truncate "$ENV{SIBLING}/secret.txt", 0"#, BY_SANDBOX),
    shell("delete a file", Write, "rm -f $SIBLING/secret.txt", BY_SANDBOX),
    shell("make a directory", Write, "mkdir $SIBLING/new", BY_SANDBOX),
    shell("make a symbolic link", Write, "ln -s /etc/passwd $SIBLING/new", BY_SANDBOX),
    shell("write to the user's repository", Write, "echo x > $PROJECT/.git/hooks/post-commit", BY_SANDBOX),
];

pub(crate) const WATCHING: &[Attempt] = &[
    perl(
        "learn the names of the sibling's files as they are made (`inotify`)",
        Act,
        r#"$w = call("inotify_init1", 0); done(call("inotify_add_watch", $w, $ENV{SIBLING}, 0xfff) >= 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "learn when the sibling's files are opened (`fanotify`)",
        Act,
        r#"$w = call("fanotify_init", 0x200, 0);
        done(call("fanotify_mark", $w, 1, 0x20, -100, "$ENV{SIBLING}/secret.txt") == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "read an extended attribute",
        Read,
        r#"$a = "\0" x 64; call("getxattr", "$ENV{SIBLING}/secret.txt", "user.secret", $a, 64); print $a"#,
        BY_SANDBOX,
    ),
    perl(
        "list the extended attributes",
        Act,
        r#"$a = "\0" x 64; call("llistxattr", "$ENV{SIBLING}/secret.txt", $a, 64); done($a =~ /user.secret/)"#,
        BY_SANDBOX,
    ),
    perl(
        "write an extended attribute",
        Act,
        r#"done(call("setxattr", "$ENV{SIBLING}/secret.txt", "user.new", "x", 1, 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "write an extended attribute of a directory",
        Act,
        r#"done(call("lsetxattr", $ENV{SIBLING}, "user.new", "x", 1, 0) == 0)"#,
        BY_SANDBOX,
    ),
    perl(
        "remove an extended attribute",
        Act,
        r#"done(call("removexattr", "$ENV{SIBLING}/secret.txt", "user.secret") == 0)"#,
        BY_SANDBOX,
    ),
];

pub(crate) const UNGOVERNED: &[Attempt] = &[
    shell(
        "learn that a file is there, and its size",
        Act,
        "test $(stat -c %s $SIBLING/secret.txt) -gt 0 && echo done",
        BY_NOTHING,
    ),
    shell(
        "learn where a symbolic link leads",
        Act,
        "readlink $SIBLING/link | grep -q somewhere && echo done",
        BY_NOTHING,
    ),
    shell("learn how full the disk is", Act, "stat -f -c %a $SIBLING && echo done", BY_NOTHING),
    shell("change the mode of a file", Write, "chmod 777 $SIBLING/secret.txt", BY_NOTHING),
    shell("change the times of a file", Write, "touch -d 2001-01-01 $SIBLING/secret.txt", BY_NOTHING),
];
