//! Files and directories that are the user's alone: prompts and answers stand in them.
//!
//! What is made here is closed to others, whatever the process's umask says; what was open to them before is closed. On systems
//! without modes of files it is as everything there is.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a directory, and those above it that are not there. What is there stays as it is.
///
/// # Errors
///
/// The system's.
pub fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let is_new = !path.exists();
    builder.create(path)?;
    // A umask can leave less than what the owner needs.
    if is_new { close(path) } else { Ok(()) }
}

/// The same, and closes it if it is open to others.
///
/// # Errors
///
/// The system's; also that it is somebody else's.
pub fn close_directory(path: &Path) -> io::Result<()> {
    make_directory(path)?;
    close(path)
}

/// How files are opened that are made where they are not there: add what is to be done with them.
pub fn file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a file, or empties the one that is there, and closes it to others.
///
/// # Errors
///
/// The system's.
pub fn create_file(path: &Path) -> io::Result<File> {
    opened(file_options().write(true).create(true).truncate(true), path)
}

/// Makes a file, or opens the one that is there to add to it, and closes it to others.
///
/// # Errors
///
/// The system's.
pub fn append_file(path: &Path) -> io::Result<File> {
    opened(file_options().create(true).append(true), path)
}

fn opened(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        close(path)?;
    }
    Ok(file)
}

/// Writes a file as a whole, closed to others.
///
/// # Errors
///
/// The system's.
pub fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    io::Write::write_all(&mut create_file(path)?, contents.as_ref())
}

/// Closes a file or a directory to others, and keeps what its owner may do, at least reading and writing. What is not there, and a
/// link, is left alone.
///
/// # Errors
///
/// The system's; also that it is somebody else's and open to others.
#[cfg(unix)]
pub fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
    if !(metadata.is_dir() || metadata.is_file()) || metadata.mode() & 0o7777 == wanted {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(wanted))
}

/// There are no modes.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn close(_path: &Path) -> io::Result<()> {
    Ok(())
}
