//! The kinds of forgeries, and the number of cases of each.

use crate::{
    arena::{Arena, Target},
    bytes, configuration, files, index,
    noise::Noise,
    objects, references, special,
};

/// A kind of forgery: what an agent does to its place.
pub(crate) struct Forgery {
    pub(crate) name: &'static str,
    /// How many seeds are tried.
    pub(crate) cases: usize,
    pub(crate) forge: fn(&Arena, Target, &mut Noise),
}

pub(crate) const ALL: &[Forgery] = &[
    Forgery { name: "any_file", cases: 375, forge: bytes::any_file },
    Forgery { name: "index_bytes", cases: 250, forge: bytes::index },
    Forgery { name: "index_entries", cases: 375, forge: index::entries },
    Forgery { name: "packs", cases: 150, forge: bytes::pack },
    Forgery { name: "special_files", cases: 250, forge: special::files },
    Forgery { name: "references", cases: 125, forge: references::any },
    Forgery { name: "configuration", cases: 125, forge: configuration::any },
    Forgery { name: "objects", cases: 100, forge: objects::any },
    Forgery { name: "files", cases: 750, forge: files::put },
];

impl Forgery {
    pub(crate) fn named(name: &str) -> &'static Self {
        ALL.iter().find(|forgery| forgery.name == name).unwrap_or_else(|| panic!("there is no kind {name}"))
    }
}
