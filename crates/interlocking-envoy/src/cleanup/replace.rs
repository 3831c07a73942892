//! Replaces a file's content atomically.

use crate::cleanup::walk::Found;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file by what is left of it: writes a new file beside it with the same permissions, then renames that over it.
///
/// A process that reads meanwhile sees either the old content or the new. Of several hard links, only this one changes.
pub(crate) fn replace(found: &Found, root: &Path) -> io::Result<()> {
    let path = root.join(&found.path);
    let directory = path.parent().unwrap_or(root);
    let mut new = tempfile::Builder::new().prefix(".envoy-").tempfile_in(directory)?;
    new.write_all(&found.marked.removed_from(&found.content))?;
    let old = unchanged(&path, &found.content)?;
    keep_owner(new.as_file(), &old);
    // Set after the owner, as a change of owner removes some permissions.
    new.as_file().set_permissions(old.permissions())?;
    new.as_file().sync_data()?;
    new.persist(&path)?;
    Ok(())
}

/// The metadata of a file. Fails unless it is still a regular file with this content.
fn unchanged(path: &Path, content: &[u8]) -> io::Result<fs::Metadata> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_file() && metadata.len() == content.len() as u64 && fs::read(path)? == content {
        return Ok(metadata);
    }
    Err(io::Error::other("it was changed meanwhile, and left as it is: run the command again"))
}

/// Gives the new file the owner of the old one, if that is permitted.
#[cfg(unix)]
fn keep_owner(new: &fs::File, old: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let is_other = new.metadata().is_ok_and(|new| (new.uid(), new.gid()) != (old.uid(), old.gid()));
    if is_other {
        // Without permission the file keeps the user as its owner, as with an editor.
        let _ = std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::cleanup::extensions::Comments;
    use crate::cleanup::marked::Marked;

    /// A file that was changed since it was read, or replaced by a link, is not touched.
    #[test]
    fn a_file_that_changed_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (place.path().join("x.rs"), place.path().join("elsewhere"));
        let content = b"// [DEBUG-TEMP]\nx\n\ny\n".to_vec();
        let marked = Marked::of(&content, Comments::Slashes);
        let found = Found { path: "x.rs".into(), content: content.clone(), marked };

        fs::write(&path, "changed").unwrap();
        let error = replace(&found, place.path()).unwrap_err();
        assert_eq!(error.to_string(), "it was changed meanwhile, and left as it is: run the command again");
        assert_eq!(fs::read(&path).unwrap(), b"changed");

        fs::remove_file(&path).unwrap();
        fs::write(&elsewhere, &content).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(replace(&found, place.path()).is_err());
        assert_eq!(fs::read(&elsewhere).unwrap(), content);

        fs::remove_file(&path).unwrap();
        assert!(replace(&found, place.path()).is_err(), "what was removed stays so");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing lies about");

        fs::write(&path, &content).unwrap();
        replace(&found, place.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"\ny\n");
    }
}
