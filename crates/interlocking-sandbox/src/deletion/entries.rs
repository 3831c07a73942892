//! Lists an open directory.

use std::{ffi::CStr, os::fd::AsFd};

use rustix::fs::FileType;

/// Calls `each` for every entry of a directory that was opened for this, except `.` and `..`. The kind is
/// [`FileType::Unknown`] if the file system does not say. `each` may delete the entry.
///
/// # Errors
///
/// If the directory cannot be listed, or the first error of `each`.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn for_each_entry(
    directory: &impl AsFd,
    mut each: impl FnMut(&CStr, FileType) -> std::io::Result<()>,
) -> std::io::Result<()> {
    /// Room for hundreds of names; every single name fits.
    const BUFFER: usize = 16 * 1024;
    // `Dir` would open the directory again.
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

/// Calls `each` for every entry of a directory that was opened for this, except `.` and `..`. The kind is
/// [`FileType::Unknown`] if the file system does not say. `each` may delete the entry.
///
/// # Errors
///
/// If the directory cannot be listed, or the first error of `each`.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn for_each_entry(
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
