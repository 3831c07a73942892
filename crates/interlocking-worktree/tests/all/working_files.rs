//! Reading and writing single files of a worktree, in which an agent may have put anything.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use interlocking_worktree::FileError;

use crate::judge::{Place, path};

#[test]
fn what_is_written_is_read() {
    let place = Place::with_files(&[("README.md", "first\n")]);
    let worktree = place.worktree("one");
    assert_eq!(worktree.read_file(&path("a/b.rs"), 10).unwrap(), None);
    for text in ["one", "two"] {
        worktree.write_file(&path("a/b.rs"), text.as_bytes()).unwrap();
        assert_eq!(worktree.read_file(&path("a/b.rs"), 10).unwrap().unwrap(), text.as_bytes());
    }
    assert_eq!(worktree.read_file(&path("a/c.rs"), 10).unwrap(), None);
    assert_eq!(worktree.read_file(&path("a/b.rs"), 3).unwrap().unwrap(), b"two");
    let error = worktree.read_file(&path("a/b.rs"), 2).unwrap_err();
    assert_eq!(error.to_string(), "a/b.rs has more than 2 bytes");
    let program = worktree.path().join("run.sh");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    worktree.write_file(&path("run.sh"), b"#!/bin/true\n").unwrap();
    assert_eq!(program.metadata().unwrap().permissions().mode() & 0o100, 0o100);
}

#[test]
fn a_link_is_not_followed_and_a_pipe_not_opened() {
    let place = Place::with_files(&[("src/lib.rs", "ours\n")]);
    let worktree = place.worktree("one");
    let (root, outside) = (worktree.path(), place.path().join("outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("lib.rs"), "theirs").unwrap();
    symlink(&outside, root.join("tests")).unwrap();
    symlink(outside.join("lib.rs"), root.join("src/link.rs")).unwrap();
    symlink(outside.join("new.rs"), root.join("src/nowhere.rs")).unwrap();
    std::fs::create_dir(root.join("src/directory.rs")).unwrap();
    let pipe = root.join("src/pipe.rs");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for (name, said) in [
        ("tests/lib.rs", "tests is a symbolic link, not a directory: delete it"),
        ("tests/more/lib.rs", "tests is a symbolic link, not a directory: delete it"),
        ("src/lib.rs/a.rs", "src/lib.rs is a file, not a directory: delete it"),
        ("src/link.rs", "src/link.rs is a symbolic link, not a file: delete it"),
        ("src/nowhere.rs", "src/nowhere.rs is a symbolic link, not a file: delete it"),
        ("src/directory.rs", "src/directory.rs is a directory, not a file: delete it"),
        ("src/pipe.rs", "src/pipe.rs is a pipe, a socket or a device, not a file: delete it"),
    ] {
        let read: FileError = worktree.read_file(&path(name), 1 << 20).unwrap_err();
        let written = worktree.write_file(&path(name), b"ours").unwrap_err();
        assert_eq!((read.to_string(), written.to_string()), (said.to_owned(), said.to_owned()));
    }
    assert_eq!(std::fs::read_to_string(outside.join("lib.rs")).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}
