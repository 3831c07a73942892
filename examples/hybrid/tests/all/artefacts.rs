//! The directory of tests' files: in memory, if the temporary directory is there, and otherwise below cargo's target directory.

use hybrid::stage::lay_out;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::thread;
use tokio::runtime::Runtime;

/// The directory. Its paths are the same in each run that finds it again.
pub(crate) fn place() -> PathBuf {
    let temporary = std::env::temp_dir();
    if temporary.starts_with("/dev/shm") { temporary.join("hybrid") } else { env!("CARGO_TARGET_TMPDIR").into() }
}

/// One directory for the artefacts of all tests, with the demonstration's dependencies, which are compiled once and kept for
/// later runs.
pub(crate) fn target_directory() -> PathBuf {
    // On a thread of its own, which may block, also when an asynchronous test asks.
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| thread::spawn(make).join().unwrap());
    MADE.clone()
}

fn make() -> PathBuf {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dependencies");
    fs::create_dir_all(&kept).unwrap();
    let lock = File::create(kept.join("lock")).unwrap();
    lock.lock().unwrap();
    let (seed, compiled) = (kept.join("seed"), kept.join("compiled"));
    fs::remove_dir_all(&seed).ok();
    Runtime::new().unwrap().block_on(lay_out(&seed.join("repository"), &compiled, false)).unwrap();
    let target = place().join("demonstration");
    if !target.exists() {
        fs::create_dir_all(place()).unwrap();
        // With modification times, by which cargo decides what is compiled.
        let copied = Command::new("cp").arg("-a").args([&compiled, &target]).status().unwrap();
        assert!(copied.success(), "{copied}");
    }
    target
}
