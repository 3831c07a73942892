//! Files and directories that only their owner can access, because they contain prompts and answers.
//!
//! What is created here is inaccessible to other users, whatever the process's umask. Where something existed with wider
//! permissions, they are restricted. On systems without file modes, the system's defaults apply.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents, for the owner alone. An existing directory keeps its permissions.
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
    // The umask may have removed permissions that the owner needs.
    if is_new { restrict_to_owner(path) } else { Ok(()) }
}

/// Creates a directory like [`make_directory`], and restricts an existing one to its owner.
///
/// # Errors
///
/// The system's, also where the directory belongs to another user and has another mode.
pub fn make_restricted_directory(path: &Path) -> io::Result<()> {
    make_directory(path)?;
    restrict_to_owner(path)
}

/// Options that create missing files for the owner alone. The caller adds the kind of access.
pub fn file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file, or truncates an existing one, and restricts it to its owner.
///
/// # Errors
///
/// The system's.
pub fn create_file(path: &Path) -> io::Result<File> {
    opened(file_options().write(true).create(true).truncate(true), path)
}

/// Opens a file for appending, creates it if it is missing, and restricts it to its owner.
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
        restrict_to_owner(path)?;
    }
    Ok(file)
}

/// Writes a whole file that only its owner can access.
///
/// # Errors
///
/// The system's.
pub fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    io::Write::write_all(&mut create_file(path)?, contents.as_ref())
}

/// Restricts a file to mode 600 and a directory to mode 700. A missing path, a symbolic link and any other sort of file are left
/// alone.
///
/// # Errors
///
/// The system's, also where the path belongs to another user and has another mode.
#[cfg(unix)]
pub fn restrict_to_owner(path: &Path) -> io::Result<()> {
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

/// Does nothing: the system has no file modes.
///
/// # Errors
///
/// None.
#[cfg(not(unix))]
pub fn restrict_to_owner(_path: &Path) -> io::Result<()> {
    Ok(())
}
