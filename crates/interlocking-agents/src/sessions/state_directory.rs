//! The directory for state of agents' programs that outlives a run.

use std::io;
use std::path::{Path, PathBuf};

/// The user's directory for state: `$XDG_STATE_HOME`, `~/.local/state`, or the system's equivalent. None without a
/// home.
pub(crate) fn state_directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(target_os = "macos") {
        return Some(std::env::home_dir()?.join("Library").join("Application Support"));
    }
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    variable("XDG_STATE_HOME").or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))
}

/// Like [`make_private`], for a directory whose place this crate has chosen: if other users have access to a directory
/// that exists, that access is removed.
pub(crate) fn make_own(directory: &Path) -> io::Result<()> {
    make_private(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if std::fs::metadata(directory)?.mode() & 0o077 != 0 {
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// Like [`make_own`], for a directory below one that an agent's program can write. The program can put a link there that
/// leads elsewhere, at any time.
///
/// # Errors
///
/// The system's error, or there is a link.
pub(crate) fn make_unlinked(directory: &Path) -> io::Result<()> {
    refuse_link(directory)?;
    make_private(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let opened = open_unlinked(directory)?;
        if opened.metadata()?.mode() & 0o077 != 0 {
            opened.set_permissions(std::fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// Opens a directory. A link is not followed.
///
/// # Errors
///
/// The system's error, or there is a link.
#[cfg(unix)]
pub(crate) fn open_unlinked(directory: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::OFlags;
    let mut options = std::fs::OpenOptions::new();
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    // The system's error for a link is that of something else than a directory.
    options.read(true).open(directory).map_err(|error| refuse_link(directory).err().unwrap_or(error))
}

/// Refuses a link in the place of a directory.
///
/// # Errors
///
/// There is a link.
pub(crate) fn refuse_link(directory: &Path) -> io::Result<()> {
    if directory.is_symlink() {
        let reason = format!("{} is a link, which may lead anywhere: remove it", directory.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(())
}

/// Makes a directory that only this user can access, unless it exists.
pub(crate) fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
