//! The kinds of forgeries, and how many cases of each run.

use crate::{
    arena::{Arena, Target},
    bytes, files, index,
    noise::Noise,
};

/// One kind: what an agent does to its place.
pub(crate) struct Forgery {
    pub(crate) name: &'static str,
    /// How many seeds are tried.
    pub(crate) cases: usize,
    pub(crate) forge: fn(&Arena, Target, &mut Noise),
}

pub(crate) const ALL: &[Forgery] = &[
    Forgery { name: "files", cases: 3_000, forge: files::put },
    Forgery { name: "any_file", cases: 400, forge: bytes::any_file },
    Forgery { name: "index_bytes", cases: 400, forge: bytes::index },
    Forgery { name: "index_entries", cases: 400, forge: index::entries },
];

impl Forgery {
    pub(crate) fn named(name: &str) -> &'static Self {
        ALL.iter().find(|forgery| forgery.name == name).unwrap_or_else(|| panic!("there is no kind {name}"))
    }
}
