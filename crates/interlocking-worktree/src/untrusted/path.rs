//! What a path may be in an index and in a tree.

use gix::{
    bstr::{BStr, ByteSlice as _},
    validate::path::component::{self, Mode, Options},
};

/// The longest path, in bytes: no system that has git opens a longer one, and `git fsck` reports it. It bounds the depth
/// of directories too, which git has a limit of its own for (`core.maxTreeDepth`, 2048).
pub(crate) const LONGEST: usize = 4096;

/// The rules by which `git fsck` finds a name unfit, whatever system the project is for.
const RULES: Options = Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };

/// One name in a directory. `is_link`: whether it is a symbolic link's.
pub(crate) fn check_name(name: &BStr, is_link: bool) -> Result<(), String> {
    // Nearly every name is plainly sound.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.first().is_some_and(|first| is_plain(*first) && !matches!(first, b'g' | b'G'))
        && name.iter().all(|byte| is_plain(*byte) || *byte == b'.')
        && !is_link
    {
        return Ok(());
    }
    let problem = match gix::validate::path::component(name, is_link.then_some(Mode::Symlink), RULES) {
        // Not even as a part of a name: what follows it counts as a directory's on some systems.
        Ok(_) => match name.split(|byte| *byte == b'\\').map(BStr::new).find(|part| is_git_directory(part)) {
            Some(_) if name.contains(&b'\\') => component::Error::DotGitDir.to_string(),
            _ if name.contains(&0) => "it has a NUL byte".to_owned(),
            _ => return Ok(()),
        },
        Err(error) => error.to_string(),
    };
    Err(problem)
}

fn is_git_directory(name: &BStr) -> bool {
    matches!(gix::validate::path::component(name, None, RULES), Err(component::Error::DotGitDir))
}

/// A whole path, its parts separated by `/`.
pub(crate) fn check(path: &BStr, is_link: bool) -> Result<(), String> {
    check_beyond(path, 0, is_link)
}

/// A path of which the first `known` bytes are those of another one that is sound: what directories both are in is sound, too.
pub(crate) fn check_beyond(path: &BStr, known: usize, is_link: bool) -> Result<(), String> {
    if path.len() > LONGEST {
        return Err(format!("it has {} bytes, more than any system opens", path.len()));
    }
    let begin = path[..known].rfind_byte(b'/').map_or(0, |slash| slash + 1);
    let mut parts = path[begin..].split(|byte| *byte == b'/').peekable();
    while let Some(part) = parts.next() {
        check_name(part.as_bstr(), is_link && parts.peek().is_none())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_elsewhere_or_is_gits_own_is_refused() {
        for path in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/..",
            "../a",
            "a/../b",
            ".git",
            "a/.GIT/b",
            ".git/config",
            "git~1",
            "GIT~1/x",
            ".git.",
            ".git ",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            ".git\\x",
            "a\\.git",
            "a\\.git\\b",
            "git~1\\x",
            "a\0b",
        ] {
            assert!(check(path.into(), false).is_err(), "{path:?}");
        }
        for path in
            ["a", "a/b.c", ".gitignore", ".github/x", "git", "gitk/g", "a\\b", "a b", "ü", "-x", "a\nb", "con", "..."]
        {
            assert_eq!(check(path.into(), false), Ok(()), "{path:?}");
        }
        assert!(check(".gitmodules".into(), true).is_err() && check(".gitmodules".into(), false).is_ok());
        assert!(check("a/".repeat(2048).as_str().into(), false).is_err());
        assert!(check(("a/".repeat(2047) + "a").as_str().into(), false).is_ok());
        assert!(check(("a/".repeat(2048) + "a").as_str().into(), false).is_err());
    }
}
