//! The cleanup in a worktree whose files an agent has made so that reading them does not end, or takes all memory.

use crate::cleanup_files::{CLEANED, MARKED, repository};
use crate::support::write;
use interlocking_envoy::cleanup::{Cleanup, CleanupReport};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

/// Cleans up, and fails if that does not end. The thread that goes on is left behind.
fn cleaned_up(root: &Path, what: &str) -> CleanupReport {
    let (answer, answers) = mpsc::channel();
    let root = root.to_owned();
    std::thread::spawn(move || answer.send(Cleanup::new().run(&root).unwrap()));
    answers.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} is waited for"))
}

/// Makes a file longer, by zero bytes that take no room on the disk.
fn extend(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).create(true).truncate(false).open(path).unwrap().set_len(bytes).unwrap();
}

/// Makes something at a path.
type Make = fn(&Path);

/// What can be in place of a file.
const IN_PLACE: [(&str, Make); 5] = [
    ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success())),
    ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ("a link to a file", |path| symlink("/proc/self/pagemap", path).unwrap()),
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a large file", |path| extend(path, (1 << 20) + 1)),
];

fn failed(report: &CleanupReport) -> Vec<String> {
    report.failures.iter().map(|failure| failure.path.display().to_string()).collect()
}

#[test]
fn a_directory_whose_ignore_rules_are_no_file_is_reported_and_left_alone() {
    for (what, make) in IN_PLACE {
        let place = repository();
        let root = place.path();
        for path in ["x.rs", "src/x.rs", "src/deep/x.rs", "zoo/x.rs"] {
            write(&root.join(path), MARKED);
        }
        make(&root.join("src/.gitignore"));
        let report = cleaned_up(root, what);
        assert_eq!((report.success, failed(&report)), (false, vec!["src/.gitignore".to_owned()]), "{what}");
        let reason = "it is not a regular file of at most 1048576 bytes, so git's ignore rules are not read, and the files that they \
                      are for are not searched: replace it";
        assert_eq!(report.failures[0].reason, reason);
        for (path, content) in
            [("x.rs", CLEANED), ("src/x.rs", MARKED), ("src/deep/x.rs", MARKED), ("zoo/x.rs", CLEANED)]
        {
            assert_eq!(fs::read_to_string(root.join(path)).unwrap(), content, "{what}: {path}");
        }

        // What git ignores is not looked at.
        write(&root.join(".gitignore"), "src\n");
        assert_eq!(failed(&cleaned_up(root, what)), [""; 0], "{what}");
    }
}

#[test]
fn nothing_is_done_in_a_worktree_whose_ignore_rules_are_no_file() {
    for (what, make) in IN_PLACE {
        for replaced in [".gitignore", ".git/info/exclude"] {
            let place = repository();
            write(&place.path().join("x.rs"), MARKED);
            let _ = fs::remove_file(place.path().join(replaced));
            fs::create_dir_all(place.path().join(".git/info")).unwrap();
            make(&place.path().join(replaced));
            let report = cleaned_up(place.path(), what);
            assert_eq!((report.success, failed(&report)), (false, vec![replaced.to_owned()]), "{what}");
            assert_eq!(fs::read_to_string(place.path().join("x.rs")).unwrap(), MARKED, "{what}");
        }
    }
}

/// Git reads rules as bytes, and they are read as text here.
#[test]
fn ignore_rules_that_are_not_utf_8_are_reported() {
    for replaced in [".gitignore", ".git/info/exclude"] {
        let place = repository();
        for path in ["x.rs", "local.rs"] {
            write(&place.path().join(path), MARKED);
        }
        write(&place.path().join(replaced), b"# caf\xe9\nlocal.rs\n");
        let report = cleaned_up(place.path(), replaced);
        assert_eq!((report.success, failed(&report)), (false, vec![replaced.to_owned()]));
        assert!(report.failures[0].reason.starts_with("it is not UTF-8, "), "{:?}", report.failures);
        assert_eq!(fs::read_to_string(place.path().join("local.rs")).unwrap(), MARKED);
    }
}

/// The file `.git` of a linked worktree names git's directory, whose file `commondir` names the one with the rules.
#[test]
fn the_file_that_names_the_repository_leads_to_nothing_that_is_waited_for() {
    for (what, make) in IN_PLACE {
        for (replaced, common) in [("commondir", None), ("common/info/exclude", Some("./common\nmore\n"))] {
            let (place, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            write(&place.path().join("x.rs"), MARKED);
            // What is below the first line is not read, so it need not be text.
            let link = format!("gitdir: {}\n", elsewhere.path().display());
            write(&place.path().join(".git"), [link.as_bytes(), b"\xff"].concat());
            fs::create_dir_all(elsewhere.path().join("common/info")).unwrap();
            if let Some(common) = common {
                write(&elsewhere.path().join("commondir"), common);
            }
            let replaced = elsewhere.path().join(replaced);
            make(&replaced);
            let report = cleaned_up(place.path(), what);
            let failed: Vec<_> = report.failures.iter().map(|failure| &failure.path).collect();
            assert_eq!((report.success, failed), (false, vec![&replaced]), "{what}");
            assert_eq!(fs::read_to_string(place.path().join("x.rs")).unwrap(), MARKED, "{what}");
        }
    }
    let place = tempfile::tempdir().unwrap();
    write(&place.path().join(".git"), "gitdir: /");
    extend(&place.path().join(".git"), 1 << 40);
    assert_eq!(failed(&cleaned_up(place.path(), "a large file")), [".git"]);
}

/// A tebibyte is more than any machine's memory. Files that begin with text are read up to the limit.
#[test]
fn a_file_that_is_larger_than_memory_is_reported() {
    let place = repository();
    let root = place.path();
    for path in ["a.rs", "large.rs", "z.rs"] {
        write(&root.join(path), MARKED.repeat(1000));
    }
    extend(&root.join("large.rs"), 1 << 40);
    File::create(root.join("binary.rs")).unwrap();
    extend(&root.join("binary.rs"), 1 << 40);
    let report = cleaned_up(root, "a large file");
    let said = "large.rs: it has more than 33554432 bytes, and is not searched: split it, or let git ignore it";
    assert_eq!(report.failures.iter().map(ToString::to_string).collect::<Vec<_>>(), [said]);
    assert!(!report.success);
    assert_eq!(report.files_modified, ["a.rs", "z.rs"].map(PathBuf::from));
    assert_eq!(fs::read_to_string(root.join("z.rs")).unwrap(), CLEANED.repeat(1000));
    assert_eq!(fs::metadata(root.join("large.rs")).unwrap().len(), 1 << 40);
}
