//! Attempts with git's own commands.

use crate::attempts::{
    Aim::{Read, Write},
    Attempt, BY_CLONE, BY_SANDBOX, shell,
};

pub(crate) const GIT: &[Attempt] = &[
    shell("`git show` of the sibling's branch", Read, "git show sibling:secret.txt", BY_CLONE),
    shell("`git log --all --patch`", Read, "git log --all --patch", BY_CLONE),
    shell("`git cat-file` of the sibling's file by its id", Read, "git cat-file -p $BLOB", BY_CLONE),
    shell("`git -C` in the user's repository", Read, "git -C $PROJECT show sibling:secret.txt", BY_SANDBOX),
    shell(
        "the user's object store as an alternate of its own",
        Read,
        "echo $PROJECT/.git/objects > $(git rev-parse --git-path objects)/info/alternates; git cat-file -p $BLOB",
        BY_SANDBOX,
    ),
    shell(
        "`git fetch` from the user's repository",
        Read,
        "git fetch --quiet $PROJECT sibling && git show FETCH_HEAD:secret.txt",
        BY_SANDBOX,
    ),
    shell(
        "move the sibling's branch in the shared references",
        Write,
        "git update-ref refs/heads/sibling $BASE",
        BY_CLONE,
    ),
    shell("change the shared configuration", Write, "git config core.hooksPath /tmp", BY_CLONE),
    shell("`git push` to the user's repository", Write, "git push --quiet $PROJECT HEAD:refs/heads/pushed", BY_SANDBOX),
];
