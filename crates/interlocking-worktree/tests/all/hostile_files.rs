//! What an agent can put into its working tree. None of it makes an operation block, reach outside or leave anything
//! behind.
//!
//! These tests take about three seconds of processor time, most of it in git.

mod attributes;

use std::{
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    path::Path,
    process::Command,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use interlocking_worktree::{Change, ChangeKind, CommitError, Force, Worktree, WorktreeError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, write};

/// How long an operation may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fails if the operation does not end in time. The waiting thread is left behind.
pub(crate) fn in_time<T: Send + 'static>(what: &str, operation: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answers) = mpsc::channel();
    std::thread::spawn(move || answer.send(operation()));
    answers.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what} has no answer"))
}

pub(crate) fn make_pipe(at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

fn kinds(changes: &[Change]) -> Vec<(String, ChangeKind)> {
    changes.iter().map(|change| (change.path.to_string(), change.kind)).collect()
}

fn project() -> Place {
    Place::with_files(&[("a", "a\n"), ("run.sh", "run\n"), ("src/lib.rs", "lib\n"), (".gitattributes", "*.txt text\n")])
}

/// Opening a pipe blocks until another process opens its other end.
#[test]
fn a_pipe_is_not_opened_wherever_it_is() {
    for place_of_pipe in [
        "a",
        "run.sh",
        "src",
        ".gitignore",
        "src/.gitignore",
        ".gitattributes",
        "src/.gitattributes",
        "new/.git",
        "new/x",
    ] {
        let place = project();
        let worktree = place.worktree("one");
        let pipe = worktree.path().join(place_of_pipe);
        let _ = std::fs::remove_file(&pipe);
        let _ = std::fs::remove_dir_all(&pipe);
        make_pipe(&pipe);
        // Other files to compare and to record.
        write(&worktree.path().join("src2/lib.rs"), "new\n");
        write(&worktree.path().join("new/file.txt"), "new\n");

        let handle = worktree.clone();
        let status = in_time(&format!("status with a pipe at {place_of_pipe}"), move || handle.status().unwrap());
        assert!(!status.is_empty());
        let handle = worktree.clone();
        let committed = in_time(&format!("a commit with a pipe at {place_of_pipe}"), move || {
            handle.commit_all(&author(), "all").unwrap().unwrap()
        });
        let files = git_in(worktree.path(), &["ls-tree", "-r", "--name-only", &committed.to_string()]);
        assert!(!files.lines().any(|line| line == place_of_pipe), "{files}");
        let (handle, base) = (worktree.clone(), place.main());
        in_time(&format!("a reset with a pipe at {place_of_pipe}"), move || handle.reset_to(base).unwrap());
        assert_eq!(worktree.status().unwrap(), []);
        assert!(!std::fs::symlink_metadata(&pipe).is_ok_and(|found| found.file_type().is_file() == pipe.is_dir()));
        assert_eq!(git_in(worktree.path(), &["status", "--porcelain", "--ignored"]), "");
        place.assert_git_agrees();
    }
}

#[test]
fn a_pipe_at_an_executable_files_place_is_a_change() {
    let place = project();
    git_in(&place.project(), &["update-index", "--chmod=+x", "run.sh"]);
    place.git(&["commit", "--quiet", "--message", "executable"]);
    let worktree = place.worktree("one");
    let pipe = worktree.path().join("run.sh");
    std::fs::remove_file(&pipe).unwrap();
    make_pipe(&pipe);
    std::fs::set_permissions(&pipe, PermissionsExt::from_mode(0o755)).unwrap();
    let handle = worktree.clone();
    let status = in_time("status", move || handle.status().unwrap());
    assert_eq!(kinds(&status), [("run.sh".to_owned(), ChangeKind::TypeChanged)]);
}

/// In the user's own tree, moving a checked-out branch is refused without blocking.
#[test]
fn a_pipe_in_the_way_of_a_fast_forward_is_said_to_be() {
    let place = project();
    let worktree = place.worktree("one");
    let to = commit_with_git(worktree.path(), &[("new.txt", "new\n"), ("src/lib.rs", "changed\n")], "new");
    make_pipe(&place.project().join("new.txt"));
    let (repository, from) = (place.repository.clone(), place.main());
    let refused = in_time("a fast-forward", move || repository.fast_forward(&branch("main"), to, from).unwrap_err());
    assert!(refused.to_string().contains("new.txt"), "{refused}");
    std::fs::remove_file(place.project().join("new.txt")).unwrap();
    place.repository.fast_forward(&branch("main"), to, from).unwrap();
    place.assert_git_agrees();
}

/// Discarded files do not come back: neither by a line in an ignore file, nor by a directory that ignores itself.
#[test]
fn ignored_files_do_not_survive_a_reset() {
    let place = Place::with_files(&[(".gitignore", "*.log\ntarget/\n"), ("src/lib.rs", "lib\n")]);
    let worktree = place.worktree("one");
    let root = worktree.path();
    write(&root.join(".gitignore"), "*.log\ntarget/\nsneaked.rs\n");
    write(&root.join("src/sneaked.rs"), "discarded\n");
    write(&root.join("noise.log"), "ignored\n");
    write(&root.join("target/debug/program"), "ignored\n");
    write(&root.join(".cargo/.gitignore"), "*\n");
    write(&root.join(".cargo/config.toml"), "[build]\n");
    std::fs::create_dir_all(root.join("empty/er")).unwrap();
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(names_below(root), [".git", ".gitignore", "src", "src/lib.rs"]);
    assert_eq!(worktree.commit_all(&author(), "again").unwrap(), None);
    place.assert_git_agrees();
}

pub(crate) fn names_below(root: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            names.push(entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            }
        }
    }
    names.sort();
    names
}

/// Makes directories nested deeper than a process may have files open, and than a path may be long.
fn dig(root: &Path, levels: usize) {
    let script = "import os,sys\nos.chdir(sys.argv[1])\nfor _ in range(int(sys.argv[2])):\n os.mkdir('d')\n os.chdir('d')\nopen('f','w')";
    let made = Command::new("python3").args(["-c", script]).arg(root).arg(levels.to_string()).status().unwrap();
    assert!(made.success());
}

#[test]
fn very_deep_directories_are_deleted() {
    let place = project();
    let worktree = place.worktree("one");
    std::fs::create_dir(worktree.path().join("deep")).unwrap();
    dig(&worktree.path().join("deep"), 3_000);
    let (handle, base) = (worktree.clone(), place.main());
    in_time("a reset", move || handle.reset_to(base).unwrap());
    assert!(!worktree.path().join("deep").exists());
    dig(&worktree.path().join("src"), 3_000);
    let away = place.repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap();
    in_time("a removal", move || away.delete().unwrap());
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 0);
}

#[test]
fn very_deep_directories_are_looked_at() {
    let place = project();
    let worktree = place.worktree("one");
    dig(&worktree.path().join("src"), 1_500);
    let handle = worktree.clone();
    // Its path is not too long for git.
    let status = in_time("status", move || handle.status().unwrap());
    assert_eq!(status.len(), 1);
    assert!(status[0].path.as_bytes().ends_with(b"/d/f"));
    assert_eq!(status[0].kind, ChangeKind::Untracked);
}

/// Git does not follow such links either.
#[test]
fn links_in_place_of_ignore_and_attribute_files_are_not_followed() {
    let place = project();
    let worktree = place.worktree("one");
    let outside = place.path().join("outside");
    write(&outside, "*\n");
    symlink(&outside, worktree.path().join("src/.gitignore")).unwrap();
    write(&worktree.path().join("src/new.rs"), "new\n");
    let status = worktree.status().unwrap();
    let expected = ["src/.gitignore", "src/new.rs"].map(|path| (path.to_owned(), ChangeKind::Untracked));
    assert_eq!(kinds(&status), expected);
}

#[test]
fn a_huge_ignore_file_is_an_error_and_does_not_hinder_a_reset() {
    for name in [".gitignore", "src/.gitattributes"] {
        let place = project();
        let worktree = place.worktree("one");
        let file = std::fs::File::create(worktree.path().join(name)).unwrap();
        file.set_len(3 << 30).unwrap();
        write(&worktree.path().join("src/lib.rs"), "Lib\n");
        let error = worktree.commit_all(&author(), "all").unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("is larger than"), "{error}");
        worktree.reset_to(place.main()).unwrap();
        assert_eq!(worktree.status().unwrap(), []);
    }
}

/// Four gigabytes that take no space on disk.
#[test]
fn a_sparse_file_is_not_read_into_memory() {
    let place = project();
    let worktree = place.worktree("one");
    for name in ["a", "new.bin", "text.txt"] {
        std::fs::File::create(worktree.path().join(name)).unwrap().set_len((4 << 30) + 2).unwrap();
    }
    let handle = worktree.clone();
    let status = in_time("status", move || handle.status().unwrap());
    assert_eq!(status.len(), 3);
    let handle = worktree.clone();
    let refused = in_time("a commit", move || handle.commit_all(&author(), "all").unwrap_err());
    assert!(
        matches!(&refused, CommitError::Worktree(WorktreeError::TooLarge { files, .. }) if files.len() == 3),
        "{refused}"
    );
    assert!(refused.to_string().contains("4294967298 bytes"), "{refused}");
    let (handle, base) = (worktree.clone(), place.main());
    in_time("a reset", move || handle.reset_to(base).unwrap());
    place.assert_git_agrees();
}

#[test]
fn a_hard_link_to_a_victim_is_parted_and_not_written_to() {
    let place = project();
    let worktree = place.worktree("one");
    let victim = place.path().join("victim");
    write(&victim, "victim\n");
    std::fs::set_permissions(&victim, PermissionsExt::from_mode(0o600)).unwrap();
    for name in ["a", "src/lib.rs"] {
        std::fs::remove_file(worktree.path().join(name)).unwrap();
        std::fs::hard_link(&victim, worktree.path().join(name)).unwrap();
    }
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "victim\n");
    let found = std::fs::metadata(&victim).unwrap();
    assert_eq!((found.nlink(), found.mode() & 0o777), (1, 0o600));
    place.assert_git_agrees();
}

/// Modes that deny their owner access, and the setuid, setgid and sticky bits.
#[test]
fn closed_files_and_directories_are_reset_and_removed() {
    let place = project();
    let worktree = place.worktree("one");
    let root = worktree.path();
    write(&root.join("closed/inside/file"), "x\n");
    let mode =
        |path: &str, mode: u32| std::fs::set_permissions(root.join(path), PermissionsExt::from_mode(mode)).unwrap();
    mode("a", 0o000);
    mode("run.sh", 0o4755);
    mode("closed/inside", 0o000);
    mode("closed", 0o000);
    mode("src", 0o500);
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(names_below(root), [".git", ".gitattributes", "a", "run.sh", "src", "src/lib.rs"]);
    let mode_of = |path: &str| std::fs::metadata(root.join(path)).unwrap().mode() & 0o7777;
    assert_eq!((mode_of("a") & 0o600, mode_of("run.sh") & 0o7111), (0o600, 0));
    place.assert_git_agrees();
    mode("src", 0o000);
    place.repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap().delete().unwrap();
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 0);
}

/// Names that a look-up by path would take for something else.
#[test]
fn odd_names_are_told_and_deleted() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = project();
    let worktree = place.worktree("one");
    let long = "x".repeat(255);
    let names: [&[u8]; 6] = [b"new\nline", b"\xff\xfe", b"-rf", b":(glob)*", long.as_bytes(), b" "];
    for name in names {
        std::fs::write(worktree.path().join(std::ffi::OsStr::from_bytes(name)), "odd\n").unwrap();
    }
    let found: Vec<Vec<u8>> = worktree.status().unwrap().iter().map(|change| change.path.as_bytes().to_vec()).collect();
    let mut expected = names.map(<[u8]>::to_vec);
    expected.sort();
    assert_eq!(found, expected);
    worktree.reset_to(place.main()).unwrap();
    place.assert_git_agrees();
}

/// Sets a flag when it is dropped, also in a panic, so that the thread that waits for the flag ends.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A directory is replaced with a link to a victim and back at any moment. Operations may fail.
#[test]
fn a_directory_that_turns_into_a_link_meanwhile_leads_nowhere() {
    let place = project();
    let later =
        commit_with_git(place.worktree("two").path(), &[("src/lib.rs", "later\n"), ("src/new.rs", "new\n")], "later");
    let worktree = place.worktree("one");
    let (source, aside) = (worktree.path().join("src"), place.path().join("aside"));
    let victim = place.path().join("victim");
    for name in ["lib.rs", "new.rs", "precious", "inner/precious"] {
        write(&victim.join(name), "victim\n");
    }
    let before = names_below(&victim);
    let is_over = AtomicBool::new(false);
    let mut succeeded = 0;
    std::thread::scope(|scope| {
        let _set_at_the_end = SetOnDrop(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _ = std::fs::remove_dir_all(&aside);
                if std::fs::rename(&source, &aside).is_ok() && symlink(&victim, &source).is_ok() {
                    std::thread::yield_now();
                }
                let _ = std::fs::remove_file(&source);
                let _ = std::fs::rename(&aside, &source);
                // Even on a fast file system, the directory exists for some of the time.
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        });
        for round in 0..60 {
            succeeded += usize::from(worktree.reset_to(if round % 2 == 0 { later } else { place.main() }).is_ok());
            succeeded += usize::from(worktree.status().is_ok());
            succeeded += usize::from(worktree.commit_all(&author(), "whatever is there").is_ok());
        }
    });
    assert!(succeeded > 0);
    assert_eq!(names_below(&victim), before);
    for name in ["lib.rs", "new.rs", "precious", "inner/precious"] {
        assert_eq!(std::fs::read_to_string(victim.join(name)).unwrap(), "victim\n");
    }
    worktree.reset_to(place.main()).unwrap();
    place.assert_git_agrees();
}

/// If another file system is mounted in the worktree, nothing is deleted. Only root can mount one.
#[test]
fn what_is_mounted_in_a_worktree_stays() {
    let place = project();
    let worktree = place.worktree("one");
    let (mounted, victim) = (worktree.path().join("mounted"), place.path().join("victim"));
    std::fs::create_dir(&mounted).unwrap();
    write(&victim.join("precious"), "precious\n");
    let bind = Command::new("mount").arg("--bind").arg(&victim).arg(&mounted).output();
    if !bind.is_ok_and(|bind| bind.status.success()) {
        println!("nothing can be mounted here, so that this was not tried");
        return;
    }
    let refused = worktree.reset_to(place.main());
    let unmounted = Command::new("umount").arg(&mounted).status().unwrap();
    assert!(unmounted.success());
    assert!(refused.is_err_and(|error| error.to_string().contains("mounted")));
    assert_eq!(std::fs::read_to_string(victim.join("precious")).unwrap(), "precious\n");
    worktree.reset_to(place.main()).unwrap();
    place.assert_git_agrees();
}

/// A repository in a tracked directory would affect git programs there.
#[test]
fn a_git_directory_in_a_tracked_directory_does_not_survive_a_reset() {
    let place = project();
    let worktree: Worktree = place.worktree("one");
    git_in(&worktree.path().join("src"), &["init", "--quiet"]);
    worktree.reset_to(place.main()).unwrap();
    assert!(!worktree.path().join("src/.git").exists());
    place.assert_git_agrees();
}
