//! Many random histories in one repository, imported by one call of the git program.

use std::{collections::HashMap, fmt::Write as _, path::Path};

use interlocking_worktree::CommitId;

use crate::{
    judge::{feed, text},
    random_history::{Entry, Files, History},
};

/// The commits of a history in a repository.
pub(crate) struct Imported {
    pub(crate) base: CommitId,
    pub(crate) ours: CommitId,
    pub(crate) theirs: CommitId,
}

/// Imports histories. The result is in the order of the histories; references below `refs/histories` keep the commits.
pub(crate) fn import(root: &Path, histories: &[History]) -> Vec<Imported> {
    let mut stream = Vec::new();
    let mut mark = 0_usize;
    let mut tips = Vec::new();
    for (position, history) in histories.iter().enumerate() {
        let mut commit = |name: &str, message: &str, parent: Option<usize>, files: &Files| {
            mark += 1;
            let mut head = format!("commit refs/histories/{position}/{name}\nmark :{mark}\n");
            for role in ["author", "committer"] {
                let _ = writeln!(head, "{role} Ada <ada@example.org> 1700000000 +0000");
            }
            let message = format!("{message}\n");
            let _ = write!(head, "data {}\n{message}", message.len());
            if let Some(parent) = parent {
                let _ = writeln!(head, "from :{parent}");
            }
            stream.extend(head.as_bytes());
            stream.extend(b"deleteall\n");
            for (path, entry) in files {
                write_entry(&mut stream, path, entry);
            }
            mark
        };
        let base = commit("base", "base", None, &history.base);
        let mut line = |name: &str, commits: &[Files]| {
            commits
                .iter()
                .enumerate()
                .fold(base, |parent, (number, files)| commit(name, &format!("{name} {number}"), Some(parent), files))
        };
        tips.push([base, line("ours", &history.ours), line("theirs", &history.theirs)]);
    }
    stream.extend(b"done\n");
    let marks = root.join(".git/histories.marks");
    let output = feed(root, &["fast-import", "--quiet", "--done", "--export-marks=.git/histories.marks"], &stream);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let marks = std::fs::read_to_string(marks).unwrap();
    let ids: HashMap<usize, CommitId> = marks
        .lines()
        .map(|line| {
            let (mark, id) = line.strip_prefix(':').unwrap().split_once(' ').unwrap();
            (mark.parse().unwrap(), id.parse().unwrap())
        })
        .collect();
    tips.iter().map(|[base, ours, theirs]| Imported { base: ids[base], ours: ids[ours], theirs: ids[theirs] }).collect()
}

fn write_entry(stream: &mut Vec<u8>, path: &[u8], entry: &Entry) {
    let (mode, contents) = match entry {
        Entry::File { contents, executable: false } => ("100644", Ok(contents)),
        Entry::File { contents, executable: true } => ("100755", Ok(contents)),
        Entry::Link(target) => ("120000", Ok(target)),
        Entry::Submodule(commit) => ("160000", Err(commit)),
    };
    let mut quoted = String::from("\"");
    for byte in path {
        let _ = write!(quoted, "\\{byte:03o}");
    }
    quoted.push('"');
    match contents {
        Err(commit) => stream.extend(format!("M {mode} {commit} {quoted}\n").as_bytes()),
        Ok(contents) => {
            stream.extend(format!("M {mode} inline {quoted}\ndata {}\n", contents.len()).as_bytes());
            stream.extend(contents);
            stream.push(b'\n');
        }
    }
}
