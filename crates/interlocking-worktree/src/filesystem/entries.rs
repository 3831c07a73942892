//! What is in an open directory.

use std::{ffi::CStr, os::fd::AsFd};

use rustix::fs::FileType;

/// Calls `each` for everything in a directory that was opened for this, but for `.` and `..`. The kind is
/// [`FileType::Unknown`] where a file system does not tell. `each` may delete what it is called for.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn for_each_entry(
    directory: &impl AsFd,
    mut each: impl FnMut(&CStr, FileType) -> std::io::Result<()>,
) -> std::io::Result<()> {
    /// For hundreds of names; any one fits.
    const BUFFER: usize = 16 * 1024;
    // `Dir` would open it once more.
    let mut buffer = Vec::with_capacity(BUFFER);
    let mut entries = rustix::fs::RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type())?;
        }
    }
    Ok(())
}

/// Calls `each` for everything in a directory that was opened for this, but for `.` and `..`. The kind is
/// [`FileType::Unknown`] where a file system does not tell. `each` may delete what it is called for.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn for_each_entry(
    directory: &impl AsFd,
    mut each: impl FnMut(&CStr, FileType) -> std::io::Result<()>,
) -> std::io::Result<()> {
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            each(name, entry.file_type())?;
        }
    }
    Ok(())
}
