//! Finds the files that settings include, so that a preset covers all that a tool reads.
//!
//! The settings may be incorrect, or written by someone else: what cannot be read or parsed includes nothing, and no
//! more is followed than the limits below. The tool itself reports what is wrong.

use crate::regular_file::{self, Links};
use std::path::{Path, PathBuf};

/// How deep includes are followed: as deep as git follows them.
const DEEPEST: usize = 10;

/// The most included files that are found.
const MOST: usize = 100;

/// The most bytes of a file that are read: 1 MiB.
const LARGEST: u64 = 1 << 20;

/// These files and all that they include, directly or through others. `included` returns the paths that a file with
/// this text names. They need not exist.
pub(crate) fn with_included(files: Vec<PathBuf>, included: impl Fn(&Path, &str) -> Vec<PathBuf>) -> Vec<PathBuf> {
    let most = files.len() + MOST;
    let (mut found, mut read) = (files, 0);
    for _ in 0..DEEPEST {
        let unread = found[read..].to_vec();
        read = found.len();
        for file in unread {
            let named = text_of(&file).map(|text| included(&file, &text)).unwrap_or_default();
            for path in named {
                if found.len() < most && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
    }
    found
}

/// The text of a settings file; `None` if it cannot be read.
pub(crate) fn text_of(file: &Path) -> Option<String> {
    let contents = regular_file::read(file, Links::Followed, LARGEST).ok()?;
    Some(String::from_utf8_lossy(&contents).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_followed_within_limits() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let included = |_: &Path, text: &str| text.lines().map(&at).collect::<Vec<_>>();
        std::fs::write(at("0"), "0\n1\nnone\n").unwrap();
        for number in 1..20 {
            std::fs::write(at(&number.to_string()), format!("{}\n", number + 1)).unwrap();
        }
        let found = with_included(vec![at("0")], included);
        assert_eq!(found[..4], [at("0"), at("1"), at("none"), at("2")]);
        assert_eq!(found.last(), Some(&at("10")));
        let many: String = (0..1000).map(|number| format!("of many {number}\n")).collect();
        std::fs::write(at("0"), many).unwrap();
        assert_eq!(with_included(vec![at("0")], included).len(), 1 + MOST);
    }
}
