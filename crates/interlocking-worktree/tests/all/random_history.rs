//! Random histories from a seed: a base, and two lines of commits from it.

use std::collections::{BTreeMap, BTreeSet};

/// The entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File {
        contents: Vec<u8>,
        executable: bool,
    },
    Link(Vec<u8>),
    /// The id of a commit that is not in the repository.
    Submodule(String),
}

pub(crate) type Files = BTreeMap<Vec<u8>, Entry>;

/// A base and the commits of two sides, each commit with all of its files.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) base: Files,
    pub(crate) ours: Vec<Files>,
    pub(crate) theirs: Vec<Files>,
}

/// SplitMix64.
pub(crate) struct Random {
    state: u64,
    /// Binary files are either renamed or changed in this history, but not both: gix would not see the rename, and
    /// would treat the file as deleted and added.
    moves_binaries: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self { state: seed, moves_binaries: false };
        random.moves_binaries = random.percent(50);
        random
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, exclusive.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

const DIRECTORIES: [&[u8]; 6] = [b"", b"src/", b"src/deep/", b"docs/", b"d\xff\xfe/", b"with space/"];
/// Names, including one that is not UTF-8, one that git quotes, and extensions that have attributes.
const NAMES: [&[u8]; 14] = [
    b"a.txt",
    b"b.txt",
    b"c",
    b"d.rs",
    b"e.rs",
    b"run.sh",
    b"data.bin",
    b"image.bin",
    b"t.bat",
    b"\xe9t\xe9.txt",
    b"tab\tquote\".txt",
    b"-dash",
    "ünï.md".as_bytes(),
    b"docs",
];

/// The same seed always gives the same history.
///
/// Histories that show a known difference between gix and git, which the crate's documentation lists, are left out.
pub(crate) fn history(seed: u64) -> History {
    let attempts = (0_u64..).map(|attempt| any_history(&mut Random::new(seed ^ (attempt << 32))));
    attempts.into_iter().find(|history| !has_unclear_directory(history)).unwrap()
}

/// Whether one side empties a directory while the other adds something new to it: git may treat the directory as
/// renamed and move the new file after the others. gix does so only if the whole directory was moved unchanged to a new
/// path, and the new file is not one of the directory's own under another name.
///
/// Picked commits meet states that no commit had, so what counts is whether any of the states lacks a file.
fn has_unclear_directory(history: &History) -> bool {
    let states: Vec<&Files> = [&history.base].into_iter().chain(&history.ours).chain(&history.theirs).collect();
    let lacks = |one: &Files, other: &Files, directory: &[u8]| {
        other.keys().any(|path| path.starts_with(directory) && !one.contains_key(path))
    };
    states.iter().any(|base| {
        directories(base).iter().any(|directory| {
            let mut files = base.keys().filter(|path| path.starts_with(directory));
            let may_be_emptied = files.all(|path| states.iter().any(|state| !state.contains_key(path)));
            // The whole directory, unchanged, was moved to the one path that is always new.
            let is_moved = states.iter().any(|state| {
                let is_gone = !state.keys().any(|path| path.starts_with(directory));
                let mut files = base.iter().filter(|(path, _)| path.starts_with(directory));
                let is_there =
                    |entry: &Entry| state.iter().any(|(path, other)| path.starts_with(b"moved/") && other == entry);
                is_gone && files.all(|(_, entry)| is_there(entry))
            });
            may_be_emptied
                && states
                    .iter()
                    .any(|other| lacks(base, other, directory) && (!is_moved || lacks(other, base, directory)))
        })
    })
}

/// The directories, with a slash at the end.
fn directories(files: &Files) -> BTreeSet<Vec<u8>> {
    let above = |path: &Vec<u8>| {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(at, _)| path[..=at].to_vec()).collect::<Vec<_>>()
    };
    files.keys().flat_map(above).collect()
}

fn any_history(random: &mut Random) -> History {
    let mut base = Files::new();
    match random.below(4) {
        0 => put(
            &mut base,
            b".gitattributes",
            file(b"*.txt text=auto\n*.bat text eol=crlf\n*.sh text eol=lf\n*.bin binary\n"),
        ),
        1 => put(&mut base, b".gitattributes", file(b"* text=auto\n*.bin -text\n")),
        _ => {}
    }
    for _ in 0..random.below(9) + 4 {
        let path = any_path(random);
        let entry = any_entry(random, &path);
        put(&mut base, &path, entry);
    }
    // Submodules, which are mostly not changed.
    for path in [&b"vendor/library"[..], b"vendor/other"] {
        if random.percent(30) {
            put(&mut base, path, Entry::Submodule(commit_id(random)));
        }
    }
    let side = |random: &mut Random, longest: usize| {
        let mut files = base.clone();
        let mut commits = Vec::new();
        for _ in 0..random.below(longest) + 1 {
            // Sometimes a commit changes nothing.
            if !random.percent(8) {
                for _ in 0..random.below(3) + 1 {
                    edit(random, &mut files);
                }
            }
            commits.push(files.clone());
        }
        commits
    };
    let ours = side(random, 2);
    let mut theirs = side(random, 3);
    // Sometimes they make the same change as we did, so that a commit becomes empty when it is picked.
    if random.percent(15) {
        theirs.insert(0, ours[0].clone());
    }
    History { base, ours, theirs }
}

fn edit(random: &mut Random, files: &mut Files) {
    let existing = |random: &mut Random, files: &Files| -> Option<Vec<u8>> {
        let paths: Vec<_> =
            files.keys().filter(|path| !path.starts_with(b".git") && !path.starts_with(b"vendor/")).cloned().collect();
        (!paths.is_empty()).then(|| random.one_of(&paths).clone())
    };
    let Some(path) = existing(random, files) else {
        let path = any_path(random);
        let entry = any_entry(random, &path);
        return put(files, &path, entry);
    };
    match random.below(100) {
        0..45 => change(random, files, &path),
        45..55 => drop(files.remove(&path)),
        55..70 if random.moves_binaries || !is_binary(&path, &files[&path]) => {
            let entry = files.remove(&path).unwrap();
            let to = loop {
                let to = any_path(random);
                if may_stand_at(&to, &path, &entry) {
                    break to;
                }
            };
            put(files, &to, entry);
            if random.percent(40) {
                change(random, files, &to);
            }
        }
        70..74 if random.moves_binaries => {
            // Move a whole directory to a new path.
            let Some(slash) = path.iter().rposition(|byte| *byte == b'/') else { return };
            let from = path[..=slash].to_owned();
            let to = b"moved/".to_vec();
            let moved: Vec<_> = files.keys().filter(|path| path.starts_with(&from)).cloned().collect();
            for path in moved {
                if let Some(entry) = files.remove(&path) {
                    put(files, &[to.as_slice(), &path[from.len()..]].concat(), entry);
                }
            }
        }
        74..80 => {
            if let Some(Entry::File { executable, .. }) = files.get_mut(&path) {
                *executable = !*executable;
            }
        }
        80..84 => put(files, &path, Entry::Link(any_path(random))),
        84..87 => {
            // A directory in place of a file, and the reverse.
            let below = [path.as_slice(), b"/inside.txt"].concat();
            let entry = any_entry(random, &below);
            put(files, &below, entry);
        }
        87..88 => put(files, b"vendor/library", Entry::Submodule(commit_id(random))),
        _ => {
            let path = any_path(random);
            let entry = any_entry(random, &path);
            put(files, &path, entry);
        }
    }
}

/// Sets a path, and removes what is in the way: nothing is both a file and a directory.
fn put(files: &mut Files, path: &[u8], entry: Entry) {
    let is_below =
        |lower: &[u8], upper: &[u8]| lower.strip_prefix(upper).is_some_and(|rest| rest.first() == Some(&b'/'));
    files.retain(|other, _| !is_below(other, path) && !is_below(path, other));
    files.insert(path.to_owned(), entry);
}

/// Edits a file's lines, or another kind of entry.
fn change(random: &mut Random, files: &mut Files, path: &[u8]) {
    let Some(entry) = files.get_mut(path) else { return };
    match entry {
        Entry::Link(target) => *target = any_path(random),
        Entry::Submodule(_) => {}
        _ if random.moves_binaries && is_binary(path, entry) => {}
        Entry::File { contents, .. } if contents.contains(&0) => {
            let at = random.below(contents.len());
            contents[at] = contents[at].wrapping_add(1);
        }
        Entry::File { contents, .. } => {
            let end: &[u8] = if contents.contains(&b'\r') { b"\r\n" } else { b"\n" };
            let mut lines: Vec<Vec<u8>> = contents.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            for _ in 0..random.below(2) + 1 {
                let line = [format!("changed {}", random.below(1000)).as_bytes(), end].concat();
                let at = random.below(lines.len() + 1);
                match random.below(10) {
                    0..5 if at < lines.len() => lines[at] = line,
                    5..7 if at < lines.len() => drop(lines.remove(at)),
                    7 => {
                        // Without a line break at the end.
                        if let Some(last) = lines.last_mut() {
                            *last = last.trim_ascii_end().to_vec();
                        }
                    }
                    _ => lines.insert(at, line),
                }
            }
            *contents = lines.concat();
            if contents.is_empty() {
                contents.extend(b"not empty\n");
            }
        }
    }
}

/// Whether a file is binary, by its contents or by the attributes of its name.
fn is_binary(path: &[u8], entry: &Entry) -> bool {
    path.ends_with(b".bin") || matches!(entry, Entry::File { contents, .. } if contents.contains(&0))
}

/// The attributes of some names require Unix line endings in the repository. If a file has others, git finds it changed
/// as soon as it compares it.
fn has_unix_ends(path: &[u8]) -> bool {
    path.ends_with(b".bat") || path.ends_with(b".sh")
}

fn may_stand_at(path: &[u8], from: &[u8], entry: &Entry) -> bool {
    let is_empty = matches!(entry, Entry::File { contents, .. } if contents.is_empty());
    if is_empty && path.contains(&b'/') {
        return false;
    }
    let has_others = matches!(entry, Entry::File { contents, .. } if contents.contains(&b'\r'));
    path.ends_with(b".bin") == from.ends_with(b".bin") && !(has_others && has_unix_ends(path))
}

fn any_path(random: &mut Random) -> Vec<u8> {
    [*random.one_of(&DIRECTORIES), *random.one_of(&NAMES)].concat()
}

fn file(contents: &[u8]) -> Entry {
    Entry::File { contents: contents.to_owned(), executable: false }
}

/// With lines of its own, so that no two files are alike by accident.
fn any_entry(random: &mut Random, path: &[u8]) -> Entry {
    match random.below(20) {
        0 => return Entry::Link(any_path(random)),
        // To gix, an empty file in a new directory counts as renamed if another empty file was deleted.
        1 if !path.contains(&b'/') => return file(b""),
        _ => {}
    }
    let token = random.next();
    if path.ends_with(b".bin") {
        let bytes = (0..200_u64).flat_map(|position| [0, (token.rotate_left(7) ^ position).to_le_bytes()[0]]);
        return Entry::File { contents: bytes.collect(), executable: false };
    }
    let end = if random.percent(12) && !has_unix_ends(path) { "\r\n" } else { "\n" };
    let lines = (0..random.below(14) + 3).map(|line| format!("{token:x} line {line} of it{end}"));
    let mut contents = lines.collect::<String>().into_bytes();
    if random.percent(8) {
        // Latin 1.
        contents.extend(b"caf\xe9\n");
    }
    Entry::File { contents, executable: path.ends_with(b".sh") }
}

fn commit_id(random: &mut Random) -> String {
    format!("{:016x}{:016x}{:08x}", random.next(), random.next(), random.next() >> 32)
}
