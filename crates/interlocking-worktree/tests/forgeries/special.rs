//! Other things in the place of a file: pipes, sockets, directories, links, and files of enormous sizes.

use std::{
    fs::File,
    os::unix::{fs::symlink, net::UnixListener},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{
    arena::{Arena, Target},
    noise::Noise,
};

/// Files of git that a new repository usually does not have.
const OTHERS: [&str; 21] = [
    "packed-refs",
    "shallow",
    "commondir",
    "gitdir",
    "config.worktree",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "ORIG_HEAD",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack/multi-pack-index",
    "refs/heads/other",
    "refs/replace/x",
    "logs/HEAD",
    "interlocking/registration.lock",
    "interlocking/notes/1-0-1.note",
    "sharedindex.0",
];

pub(crate) fn files(arena: &Arena, target: Target, noise: &mut Noise) {
    let places = [arena.git_directory(target), arena.common_directory(target)];
    let mut files = arena.files(target);
    files.retain(|file| places.iter().any(|place| file.starts_with(place)) || file.ends_with(".git"));
    for _ in 0..=noise.below(2) {
        let file =
            if noise.one_in(2) { noise.pick(&files).clone() } else { noise.pick(&places).join(noise.pick(&OTHERS)) };
        let _ = std::fs::create_dir_all(file.parent().unwrap());
        let _ = std::fs::remove_file(&file);
        let _ = match noise.below(8) {
            0 | 1 => mknodat(CWD, &file, FileType::Fifo, Mode::from(0o600), 0).map_err(Into::into),
            // Paths of sockets must be short.
            2 => UnixListener::bind(&file).map(drop),
            3 => std::fs::create_dir(&file),
            4 => symlink(arena.victim().join("precious.txt"), &file),
            5 => symlink(noise.pick(&["/dev/zero", "/dev/tty", "/proc/self/mem", "loop", "/nowhere"]), &file),
            _ => File::create(&file).and_then(|file| file.set_len(1 << (20 + noise.below(15)))),
        };
    }
}
