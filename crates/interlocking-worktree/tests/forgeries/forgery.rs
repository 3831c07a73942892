//! The kinds of forgeries, and how many cases of each run.

use crate::{
    arena::{Arena, Target},
    bytes, configuration, files, index,
    noise::Noise,
    objects, references, special,
};

/// One kind: what an agent does to its place.
pub(crate) struct Forgery {
    pub(crate) name: &'static str,
    /// How many seeds are tried.
    pub(crate) cases: usize,
    pub(crate) forge: fn(&Arena, Target, &mut Noise),
}

pub(crate) const ALL: &[Forgery] = &[
    Forgery { name: "any_file", cases: 750, forge: bytes::any_file },
    Forgery { name: "index_bytes", cases: 500, forge: bytes::index },
    Forgery { name: "index_entries", cases: 750, forge: index::entries },
    Forgery { name: "packs", cases: 300, forge: bytes::pack },
    Forgery { name: "special_files", cases: 500, forge: special::files },
    Forgery { name: "references", cases: 250, forge: references::any },
    Forgery { name: "configuration", cases: 250, forge: configuration::any },
    Forgery { name: "objects", cases: 200, forge: objects::any },
    Forgery { name: "files", cases: 1_500, forge: files::put },
];

impl Forgery {
    pub(crate) fn named(name: &str) -> &'static Self {
        ALL.iter().find(|forgery| forgery.name == name).unwrap_or_else(|| panic!("there is no kind {name}"))
    }
}
