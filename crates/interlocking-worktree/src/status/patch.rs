//! Patches in git's format.

use std::fmt::Write as _;

use gix::{
    bstr::ByteSlice as _,
    diff::blob::{
        Algorithm, InternedInput, UnifiedDiff, diff_with_slider_heuristics,
        unified_diff::{ConsumeHunk, ContextSize, DiffLineKind, HunkHeader},
    },
};

use crate::{
    status::diff::{Difference, Version},
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// The differences as one patch.
pub(crate) fn text(git: &gix::Repository, differences: &[Difference]) -> Result<String, GitError> {
    let mut patch = String::new();
    for difference in differences {
        one(git, difference, &mut patch)?;
    }
    Ok(patch)
}

fn one(git: &gix::Repository, difference: &Difference, patch: &mut String) -> Result<(), GitError> {
    let Difference { path, from, before, after } = difference;
    // A file that became a link (or the reverse) is a deletion and an addition, as in git.
    if let (Some(old), Some(new)) = (before, after)
        && old.mode.kind() != new.mode.kind()
        && (old.mode.is_link() || new.mode.is_link() || old.mode.is_commit() || new.mode.is_commit())
    {
        let half = |path: &RepositoryPath, before, after| Difference { path: path.clone(), from: None, before, after };
        one(git, &half(from.as_ref().unwrap_or(path), Some(*old), None), patch)?;
        return one(git, &half(path, None, Some(*new)), patch);
    }

    let old_path = from.as_ref().unwrap_or(path);
    let (old_name, new_name) = (quoted("a/", old_path), quoted("b/", path));
    let mut header = format!("diff --git {old_name} {new_name}\n");
    let mode = |version: &Version| format!("{:06o}", version.mode.value());
    match (before, after) {
        (Some(old), Some(new)) if old.mode != new.mode => {
            header += &format!("old mode {}\nnew mode {}\n", mode(old), mode(new));
        }
        (None, Some(new)) => header += &format!("new file mode {}\n", mode(new)),
        (Some(old), None) => header += &format!("deleted file mode {}\n", mode(old)),
        _ => {}
    }
    if from.is_some() {
        header += &format!("rename from {}\nrename to {}\n", quoted("", old_path), quoted("", path));
    }
    patch.push_str(&header);
    let id = |version: &Option<Version>| version.map(|version| version.id);
    if id(before) == id(after) {
        return Ok(());
    }
    let (old, new) = (contents(git, before.as_ref())?, contents(git, after.as_ref())?);
    let null = git.object_hash().null();
    let ids = (id(before).unwrap_or(null), id(after).unwrap_or(null));
    write_line(patch, format_args!("index {}..{}", ids.0, ids.1));
    let old_name = if before.is_some() { old_name } else { "/dev/null".to_owned() };
    let new_name = if after.is_some() { new_name } else { "/dev/null".to_owned() };
    if is_binary(&old) || is_binary(&new) {
        write_line(patch, format_args!("Binary files {old_name} and {new_name} differ"));
        return Ok(());
    }
    let input = InternedInput::new(old.as_slice(), new.as_slice());
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    let hunks = UnifiedDiff::new(&diff, &input, Hunks::default(), ContextSize::symmetrical(3))
        .consume()
        .doing(|| format!("comparing {path}"))?;
    if !hunks.is_empty() {
        write_line(patch, format_args!("--- {old_name}"));
        write_line(patch, format_args!("+++ {new_name}"));
        patch.push_str(&hunks);
    }
    Ok(())
}

fn write_line(patch: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(patch, "{line}");
}

fn contents(git: &gix::Repository, version: Option<&Version>) -> Result<Vec<u8>, GitError> {
    match version {
        None => Ok(Vec::new()),
        Some(version) if version.mode.is_commit() => Ok(format!("Subproject commit {}\n", version.id).into()),
        Some(version) => {
            let blob = git.find_blob(version.id).doing(|| format!("reading {}", version.id))?;
            Ok(blob.data.clone())
        }
    }
}

/// Git's rule is a NUL byte in the first 8000 bytes. Text that is not UTF-8 cannot be in a Rust string either.
fn is_binary(contents: &[u8]) -> bool {
    contents.iter().take(8000).any(|byte| *byte == 0) || contents.to_str().is_err()
}

/// Quotes a name as git does, only if necessary.
fn quoted(prefix: &str, path: &RepositoryPath) -> String {
    let plain =
        path.as_bytes().iter().all(|byte| !byte.is_ascii_control() && !b"\"\\".contains(byte) && byte.is_ascii());
    if plain {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for byte in path.as_bytes() {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\n' => quoted.push_str("\\n"),
            b'\t' => quoted.push_str("\\t"),
            byte if byte.is_ascii_graphic() || *byte == b' ' => quoted.push(char::from(*byte)),
            byte => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

/// A printer of hunks. gix's own loses `\ No newline at end of file`, and counts an empty side from 1.
#[derive(Default)]
struct Hunks {
    text: String,
}

impl ConsumeHunk for Hunks {
    type Out = String;

    fn consume_hunk(&mut self, header: HunkHeader, lines: &[(DiffLineKind, &[u8])]) -> std::io::Result<()> {
        let start = |start: u32, len: u32| if len == 0 { start.saturating_sub(1) } else { start };
        write_line(
            &mut self.text,
            format_args!(
                "@@ -{},{} +{},{} @@",
                start(header.before_hunk_start, header.before_hunk_len),
                header.before_hunk_len,
                start(header.after_hunk_start, header.after_hunk_len),
                header.after_hunk_len
            ),
        );
        for (kind, line) in lines {
            self.text.push(match kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Add => '+',
                DiffLineKind::Remove => '-',
            });
            self.text.push_str(&line.to_str_lossy());
            if !line.ends_with(b"\n") {
                self.text.push_str("\n\\ No newline at end of file\n");
            }
        }
        Ok(())
    }

    fn finish(self) -> String {
        self.text
    }
}
