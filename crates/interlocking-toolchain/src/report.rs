//! The report file that a test command writes.

use super::command::CommandLine;
use super::harness::junit::LARGEST_REPORT;
use interlocking_sandbox::regular_file::{self, Links};
use std::fs;
use std::io::Read;
use std::path::Path;

/// The command with `{target}` in its arguments replaced by the directory for its artefacts.
pub(super) fn with_target(command: &CommandLine, target: &Path) -> CommandLine {
    let target = target.to_string_lossy();
    let arguments: Vec<String> =
        command.arguments().iter().map(|argument| argument.replace("{target}", &target)).collect();
    CommandLine::new(command.program(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Reads a report from a directory that the code under test could write to. Reads only a regular file that is really inside the
/// directory, and at most one byte more than the limit, by which the report's reader sees that it is too large. Call it after all
/// processes of the command have ended.
pub(super) fn read(directory: &Path, report: &Path) -> Option<String> {
    let path = fs::canonicalize(directory.join(report)).ok()?;
    if !path.starts_with(fs::canonicalize(directory).ok()?) {
        return None;
    }
    let mut bytes = Vec::new();
    regular_file::open(&path, Links::Refused).ok()?.take(LARGEST_REPORT as u64 + 1).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link or a pipe in the place of a report is not read.
    #[cfg(unix)]
    #[test]
    fn only_a_file_of_the_directory_is_read() {
        let outside = tempfile::tempdir().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(outside.path().join("secret"), "secret").unwrap();
        fs::write(at("report.xml"), "<testsuite/>").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), at("link.xml")).unwrap();
        std::os::unix::fs::symlink(outside.path(), at("elsewhere")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe.xml")).status().unwrap().success());
        let read = |name: &str| read(directory.path(), Path::new(name));
        assert_eq!(read("report.xml").as_deref(), Some("<testsuite/>"));
        for other in ["link.xml", "pipe.xml", "elsewhere/secret", "missing.xml", ".", "../secret"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read(&outside.path().join("secret").display().to_string()), None);
    }
}
