//! The files outside a checkout that decide how it is built.
//!
//! Cargo reads settings and looks for a workspace in every directory above its working directory. Rustup looks for a
//! toolchain there. Both have settings in the home directory, and cargo's can include further files. An agent that is
//! not confined can write some of these files. So their contents are recorded once, and a command runs only if they are
//! unchanged.

use interlocking_sandbox::CargoFiles;
use interlocking_sandbox::regular_file::{self, Links};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of a file that are compared: more than any such file has.
const LONGEST: u64 = 1024 * 1024;

/// The recorded contents of these files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BuildSettings(BTreeMap<PathBuf, Contents>);

/// What was found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Contents {
    Absent,
    File(Vec<u8>),
    /// A file with more bytes than are compared.
    TooLong,
    /// A directory or a special file, or a file that cannot be read. Its contents are not compared.
    Other,
}

impl BuildSettings {
    /// Records the files that affect builds in `directory` and below.
    pub(super) fn of(directory: &Path) -> Self {
        let CargoFiles { settings, others } = CargoFiles::of(directory);
        let noted = settings.into_iter().chain(others).map(|path| {
            let contents = Contents::of(&path);
            (path, contents)
        });
        Self(noted.collect())
    }

    /// The texts of the files that can set profiles. `rust-toolchain` cannot, and need not be TOML.
    pub(super) fn texts_with_profiles(&self) -> impl Iterator<Item = &str> {
        let can = |path: &Path| path.file_name().is_none_or(|name| name != "rust-toolchain");
        self.0.iter().filter(move |(path, _)| can(path)).filter_map(|(_, contents)| match contents {
            Contents::File(bytes) => str::from_utf8(bytes).ok(),
            Contents::Absent | Contents::TooLong | Contents::Other => None,
        })
    }

    /// The first file that has changed, appeared or disappeared, or is too long to tell.
    pub(super) fn changed(&self) -> Option<&Path> {
        let is_same = |path: &Path, before: &Contents| *before != Contents::TooLong && Contents::of(path) == *before;
        self.0.iter().find(|(path, before)| !is_same(path, before)).map(|(path, _)| path.as_path())
    }
}

impl Contents {
    fn of(path: &Path) -> Self {
        match regular_file::read(path, Links::Followed, LONGEST) {
            Ok(contents) => Self::File(contents),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent,
                io::ErrorKind::FileTooLarge => Self::TooLong,
                _ => Self::Other,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Nothing that can be at such a path passes for unchanged when it is not, or is waited for.
    #[cfg(unix)]
    #[test]
    fn a_file_that_is_too_long_to_be_compared_counts_as_changed() {
        let directory = tempfile::tempdir().unwrap();
        let planted = directory.path().join("Cargo.toml");
        assert!(std::process::Command::new("mkfifo").arg(&planted).status().unwrap().success());
        let pipe = BuildSettings::of(directory.path());
        assert_eq!(pipe.changed(), None);
        fs::remove_file(&planted).unwrap();
        for (length, changed) in [(LONGEST, None), (LONGEST + 1, Some(planted.as_path()))] {
            fs::File::create(&planted).unwrap().set_len(length).unwrap();
            assert_eq!(BuildSettings::of(directory.path()).changed(), changed, "{length}");
        }
        assert_eq!(pipe.changed(), Some(planted.as_path()));
    }

    #[test]
    fn a_file_that_appears_changes_or_goes_above_a_checkout_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let checkout = directory.path().join("run/verdicts/1");
        fs::create_dir_all(&checkout).unwrap();
        let included = ".cargo/included.toml";
        fs::create_dir_all(directory.path().join(".cargo")).unwrap();
        let settings = format!("include = [{:?}]\n", directory.path().join("run").join(included));
        fs::write(directory.path().join(".cargo/config.toml"), settings).unwrap();
        for name in
            [".cargo/config", ".cargo/config.toml", "Cargo.toml", "rust-toolchain", "rust-toolchain.toml", included]
        {
            let planted = directory.path().join("run").join(name);
            fs::create_dir_all(planted.parent().unwrap()).unwrap();
            let before = BuildSettings::of(&checkout);
            assert_eq!(before.changed(), None);
            fs::write(&planted, "a = 1\n").unwrap();
            assert_eq!(before.changed(), Some(planted.as_path()));
            let with_it = BuildSettings::of(&checkout);
            fs::write(&planted, "a = 2\n").unwrap();
            assert_eq!(with_it.changed(), Some(planted.as_path()));
            fs::remove_file(&planted).unwrap();
            assert_eq!(with_it.changed(), Some(planted.as_path()));
            assert_eq!(before.changed(), None);
        }
        // Files inside the checkout belong to the commit.
        let before = BuildSettings::of(&checkout);
        fs::create_dir_all(checkout.join("inner/.cargo")).unwrap();
        fs::write(checkout.join("inner/.cargo/config.toml"), "").unwrap();
        assert_eq!(before.changed(), None);
    }
}
