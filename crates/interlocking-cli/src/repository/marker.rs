//! The file by which a process knows that a directory was made for a run. The path of the directory is in a file beside
//! the journal, and is not believed alone: what is removed is what the program has made.

use super::run_file::{remove_directory, remove_file};
use crate::error::CommandError;
use interlocking_core::run_id::RunId;
use interlocking_sqlite::private;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const NAME: &str = ".interlocking-run";

fn text(program: &str, run: &RunId) -> String {
    format!("{program} {run}\n")
}

/// Marks a directory that this process has made for a run.
pub(crate) fn write(directory: &Path, program: &str, run: &RunId) -> io::Result<()> {
    let mut file = private::file_options().write(true).create_new(true).open(directory.join(NAME))?;
    file.write_all(text(program, run).as_bytes())?;
    // Whoever finds the facts of the run must find the mark, also after a loss of power.
    file.sync_all()
}

/// Whether there is no directory, or an empty one: a process may have been killed before it marked it.
pub(crate) fn is_unmade(directory: &Path) -> bool {
    match fs::symlink_metadata(directory) {
        Ok(found) => found.is_dir() && fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none()),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Fails unless a directory was made for the run, or there is nothing. A link in its place, or in place of the file, is
/// not it.
pub(crate) fn require(directory: &Path, program: &str, run: &RunId) -> Result<(), CommandError> {
    let is = |path: &Path, kind: fn(&fs::FileType) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|found| kind(&found.file_type()))
    };
    let marker = directory.join(NAME);
    let is_marked = is(directory, fs::FileType::is_dir) && is(&marker, fs::FileType::is_file);
    if is_unmade(directory) || is_marked && fs::read(marker).is_ok_and(|found| found == text(program, run).as_bytes()) {
        return Ok(());
    }
    let what = format!(
        "the directory is left alone, because no file `{NAME}` in it says that `{program}` made it for `{run}`: remove \
         it yourself, if nothing in it is needed"
    );
    Err(CommandError::new(what).at(directory.display().to_string()))
}

/// Removes a directory that was made for the run, and its contents.
pub(crate) fn remove(directory: &Path, program: &str, run: &RunId) -> Result<(), CommandError> {
    require(directory, program, run)?;
    // The mark goes last: who repeats a removal that has failed, or was interrupted, finds it.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match entry.file_name() == NAME {
            true => {}
            false if is_directory => remove_directory(&entry.path())?,
            false => remove_file(&entry.path())?,
        }
    }
    remove_directory(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_directory_that_was_made_for_the_run_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let (run, made, precious) = (RunId::DEFAULT, place.path().join("made"), place.path().join("precious"));
        let other = "other".parse().unwrap();
        fs::create_dir(&made).unwrap();
        write(&made, "pair", &run).unwrap();
        assert!(write(&made, "pair", &run).is_err(), "it is marked once");
        fs::create_dir(&precious).unwrap();
        for (program, run) in [("pair", &other), ("other", &run)] {
            remove(&made, program, run).unwrap_err();
        }
        fs::write(precious.join("file"), "").unwrap();
        remove(&precious, "pair", &run).unwrap_err();
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            let link = place.path().join("link");
            symlink(&made, &link).unwrap();
            remove(&link, "pair", &run).unwrap_err();
            symlink(made.join(NAME), precious.join(NAME)).unwrap();
            remove(&precious, "pair", &run).unwrap_err();
        }
        fs::create_dir(made.join("locked")).unwrap();
        for name in ["locked/file", "file"] {
            fs::write(made.join(name), "").unwrap();
        }
        #[cfg(unix)]
        fs::set_permissions(made.join("locked"), std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
        assert!(precious.is_dir());
        remove(&made, "pair", &run).unwrap();
        assert!(!made.exists());
        remove(&made, "pair", &run).unwrap();
    }
}
