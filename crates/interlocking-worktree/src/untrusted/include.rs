//! The files that a configuration includes.

use std::path::{Path, PathBuf};

use gix::{bstr::BString, config::path::interpolate::Context};

/// The file that the configuration at `including` includes as `value`, found as gix finds it: without `:(optional)`,
/// with the home of this or another user, and below the directory of this program for `%(prefix)/`.
///
/// # Errors
///
/// If there is no such user, or no path. Git stops then; gix includes nothing, or fails.
pub(crate) fn included(value: BString, including: &Path) -> gix::Result<PathBuf> {
    let (home, program) = (gix::path::env::home_dir(), std::env::current_exe().ok());
    let context = Context {
        git_install_dir: program.as_deref().and_then(Path::parent),
        home_dir: home.as_deref(),
        ..Context::default()
    };
    Ok(including.with_file_name("").join(gix::config::Path::from(value).interpolate(context)?))
}
