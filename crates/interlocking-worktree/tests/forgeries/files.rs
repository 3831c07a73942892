//! Working trees in which an agent puts anything: links, pipes, sockets, devices, files that take no space on disk but
//! much memory, files that their owner may not open, and files that git and gix read on their own.

use std::{
    fs::{File, Permissions},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mkdirat, mknodat, openat};

use crate::{
    arena::{Arena, Target},
    noise::Noise,
    tree::delete,
};

/// The paths at which things are put, replacing what was there: tracked paths, paths in tracked or new directories, and
/// names that git reads, knows or refuses.
const PATHS: [&[u8]; 30] = [
    b"a.txt",
    b"src",
    b"src/lib.rs",
    b"src/deep",
    b"src/deep/er.rs",
    b"b.txt",
    b"debug.log",
    b"new",
    b"new/file",
    b"new/.git",
    b"src/.git",
    b"src/deep/.git",
    b"new/inner/.git",
    b".gitignore",
    b".gitattributes",
    b".gitmodules",
    b"src/.gitignore",
    b"src/.gitattributes",
    b"new/.gitignore",
    b"new/.gitattributes",
    b"src/deep/.gitignore",
    b"new\nline",
    b"\xff\xfe\xfd",
    b"-rf",
    b":(glob)*",
    b" ",
    b".GIT",
    b"git~1",
    b".git\\x",
    b".g\xe2\x80\x8cit",
];

const RULES: [&str; 16] = [
    "*\n",
    "/**/\n",
    "*/\n!src/\n",
    "!*\n",
    "a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p\n",
    "[[:alpha:][:x\n[a-\n[!\n\\\n",
    "**/**/**/**/x\n",
    "* text eol=crlf\n",
    "* text=auto ident\n",
    "* -text working-tree-encoding=UTF-16\n",
    "* filter=lfs diff=x merge=x\n",
    "[attr]binary text\n[attr]a b\n[attr]b a\n* binary a\n",
    "\"a\\0b\" text\n\"\n",
    "\u{feff}*.rs text\n",
    "\r\n\t \r\n*.txt\r\n",
    "*.txt eol=cr lf text=x\n",
];

pub(crate) fn put(arena: &Arena, target: Target, noise: &mut Noise) {
    let place = arena.place(target);
    for _ in 0..=noise.below(6) {
        let at = place.join(std::ffi::OsStr::from_bytes(noise.pick::<&[u8]>(&PATHS)));
        one(arena, &place, &at, noise);
    }
    // Last, because after this nothing more could be put there.
    for _ in 0..noise.below(3) {
        let at = noise.pick(&["", "a.txt", "src", "src/lib.rs", "src/deep", "new", "new/file", ".gitignore"]);
        let mode = *noise.pick(&[0, 0o200, 0o400, 0o500, 0o300, 0o4755, 0o2777, 0o1777, 0o777]);
        let at = place.join(at);
        // A file with other hard links is not only the agent's: changing its mode would change the victim's.
        let is_its_own = |found: std::fs::Metadata| found.is_dir() || !found.is_symlink() && found.nlink() == 1;
        if is_reached(&place, &at) && at.symlink_metadata().is_ok_and(is_its_own) {
            std::fs::set_permissions(at, Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Puts one thing at a path. Does nothing if a parent is not a directory any more.
fn one(arena: &Arena, place: &Path, at: &Path, noise: &mut Noise) {
    delete_anything(at);
    if !is_reached(place, at) || std::fs::create_dir_all(at.parent().unwrap()).is_err() {
        return;
    }
    let victim = arena.victim();
    match noise.below(17) {
        0 => {
            let length = noise.below(300);
            std::fs::write(at, noise.bytes(length)).unwrap();
        }
        1 => std::fs::write(at, "line\r\n\0".repeat(noise.below(50))).unwrap(),
        2..=4 => symlink(any_target(&victim, place, noise), at).unwrap(),
        5 | 6 => mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        7 => drop(UnixListener::bind(at)),
        8 => {
            // An endless source of zeros, a device that discards everything, and one that does not exist. Only root can
            // make a device.
            let device = *noise.pick(&[(1, 5), (1, 3), (5, 0), (240, 7)]);
            let _ = mknodat(CWD, at, FileType::CharacterDevice, Mode::RWXU, makedev(device.0, device.1));
        }
        9 => {
            let size = *noise.pick(&[4 << 30, (4 << 30) + 2, 1 << 40, 80 << 20, 3 << 20]);
            File::create(at).unwrap().set_len(size).unwrap();
        }
        10 => std::fs::hard_link(victim.join("precious.txt"), at).unwrap(),
        11 => dig(at, *noise.pick(&[3, 70, 70, 150, 150, 300, 300, 300, 1_200, 3_000])),
        12 => {
            std::fs::create_dir(at).unwrap();
            for number in 0..noise.below(200) {
                std::fs::write(at.join(format!("{number}.rs")), "many\n").unwrap();
            }
        }
        13 => std::fs::create_dir_all(at.join("empty/er")).unwrap(),
        14 => nested_repository(&victim, at, noise),
        15 => std::fs::write(at.with_file_name("x".repeat(255)), "long\n").unwrap(),
        _ => {
            // Rules, although the name may be that of another file.
            let rules = noise.pick(&RULES).repeat(1 + noise.below(40));
            std::fs::write(at, rules).unwrap();
            if noise.one_in(3) {
                std::fs::set_permissions(at, Permissions::from_mode(0o755)).unwrap();
            }
        }
    }
}

/// Whether the path has no link: the test itself must not write through one.
fn is_reached(place: &Path, at: &Path) -> bool {
    let above = at.ancestors().skip(1).take_while(|above| above.starts_with(place) && *above != place);
    above.into_iter().all(|above| above.symlink_metadata().map_or(true, |found| found.is_dir()))
}

fn any_target(victim: &Path, place: &Path, noise: &mut Noise) -> PathBuf {
    let targets = [
        victim.to_owned(),
        victim.join("precious.txt"),
        victim.join("private"),
        victim.join("repository"),
        victim.join("repository/.git"),
        place.to_owned(),
        place.join("src"),
        PathBuf::from("."),
        PathBuf::from(".."),
        PathBuf::from("../../../victim"),
        PathBuf::from("../../../../victim"),
        PathBuf::from("nowhere"),
        PathBuf::from("/"),
        PathBuf::from("/dev/zero"),
        PathBuf::from("/proc/self/fd/0"),
        PathBuf::from("x/".repeat(2_000)),
    ];
    noise.pick(&targets).clone()
}

/// Makes a directory with a `.git` that is a repository, points to one, or only looks like one.
fn nested_repository(victim: &Path, at: &Path, noise: &mut Noise) {
    std::fs::create_dir(at).unwrap();
    std::fs::write(at.join("inside.rs"), "inside\n").unwrap();
    let git = at.join(".git");
    match noise.below(6) {
        0 => {
            for part in ["objects", "refs"] {
                std::fs::create_dir_all(git.join(part)).unwrap();
            }
            std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        1 => std::fs::write(git, format!("gitdir: {}\n", victim.join("repository/.git").display())).unwrap(),
        2 => std::fs::write(git, "gitdir: ../../../../victim/repository/.git\n").unwrap(),
        3 => symlink(victim.join("repository/.git"), git).unwrap(),
        4 => mknodat(CWD, &git, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        _ => File::create(git).unwrap().set_len(4 << 30).unwrap(),
    }
}

/// Makes directories nested so deep that no path reaches the last one.
fn dig(at: &Path, levels: usize) {
    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    std::fs::create_dir(at).unwrap();
    let mut directory = openat(CWD, at, DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&directory, c"d", Mode::RWXU).unwrap();
        directory = openat(&directory, c"d", DIRECTORY, Mode::empty()).unwrap();
    }
    drop(openat(&directory, c"f", OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RWXU).unwrap());
}

fn delete_anything(at: &Path) {
    match at.symlink_metadata() {
        Ok(found) if found.is_dir() => delete(at),
        Ok(_) => std::fs::remove_file(at).unwrap(),
        Err(_) => {}
    }
}
