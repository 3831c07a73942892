//! Checks of paths in an index and in a tree.

use gix::{
    bstr::{BStr, ByteSlice as _},
    validate::path::component::{self, Mode, Options},
};

/// The longest path, in bytes: no system with git can open a longer one, and `git fsck` reports it. It also bounds the
/// depth of directories, for which git has its own limit (`core.maxTreeDepth`, 2048).
pub(crate) const LONGEST: usize = 4096;

/// The rules by which `git fsck` rejects a name, whatever system the project is for.
const RULES: Options = Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };

/// Checks one name in a directory. `is_link` says whether it is a symbolic link's.
pub(crate) fn check_name(name: &BStr, is_link: bool) -> Result<(), String> {
    // A fast path: nearly every name is plain.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.first().is_some_and(|first| is_plain(*first) && !matches!(first, b'g' | b'G'))
        && name.iter().all(|byte| is_plain(*byte) || *byte == b'.')
        && !is_link
    {
        return Ok(());
    }
    let problem = match gix::validate::path::component(name, is_link.then_some(Mode::Symlink), RULES) {
        // A backslash separates directories on some systems, so no part between backslashes may be a `.git` either.
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

/// Checks a whole path, whose parts are separated by `/`.
pub(crate) fn check(path: &BStr, is_link: bool) -> Result<(), String> {
    check_beyond(path, 0, is_link)
}

/// Checks a path whose first `known` bytes are those of another path that was checked: the directories that both are in
/// need no check.
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
