//! Resolves paths in a test file.

use super::{Kind, Meaning, Names};
use crate::properties::ty::Ty;
use std::collections::BTreeSet;
use syn::{Path, Type};

/// How the resolution of a path was reached.
#[derive(Clone, Copy, Default)]
struct Way {
    /// The number of paths that were followed.
    depth: u8,
    /// Whether the path is that of a `use path::*`, which is not resolved through other glob imports.
    is_of_a_glob: bool,
}

impl Way {
    fn further(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }
}

impl Names<'_> {
    /// The meaning of a path in a module.
    pub(in crate::properties) fn meaning(&self, module: usize, path: &Path, kind: Kind) -> Meaning {
        let mut names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_some() {
            names.insert(0, String::new());
        }
        self.resolve(module, &names, kind, Way::default())
    }

    fn resolve(&self, module: usize, path: &[String], kind: Kind, way: Way) -> Meaning {
        let Some((first, rest)) = path.split_first() else { return Meaning::Unknown };
        if way.depth > 16 || !self.effort.consume(1) {
            return Meaning::Unknown;
        }
        let first_kind = if rest.is_empty() { kind } else { Kind::Type };
        let enclosing = self.enclosing(module);
        let start = match first.as_str() {
            "" => return self.under_its_name(rest).unwrap_or_else(|| Meaning::Outside(rest.to_vec())),
            "crate" if self.is_inside => Meaning::Own(Vec::new()),
            "crate" => Meaning::Module(0),
            "self" => Meaning::Module(enclosing),
            "super" => match self.modules[enclosing].parent {
                Some(parent) => Meaning::Module(self.enclosing(parent)),
                None if self.is_inside => Meaning::Own(Vec::new()),
                None => Meaning::Unknown,
            },
            "Self" => Meaning::Unknown,
            name => match self.visible(module, name, first_kind, way) {
                Some(found) => found,
                None => return self.under_its_name(path).unwrap_or_else(|| by_spelling(path)),
            },
        };
        self.below(start, rest, kind, way)
    }

    /// The meaning of a path that begins with the name of the crate under test.
    fn under_its_name(&self, path: &[String]) -> Option<Meaning> {
        let (first, rest) = path.split_first()?;
        (*first == self.api.package).then(|| Meaning::Own(rest.to_vec()))
    }

    /// The module that contains a block; of a module the module itself.
    fn enclosing(&self, mut module: usize) -> usize {
        while let (true, Some(parent)) = (self.modules[module].is_block, self.modules[module].parent) {
            module = parent;
        }
        module
    }

    /// The meaning of a name in a module, or in a block and the scopes around it.
    fn visible(&self, mut module: usize, name: &str, kind: Kind, way: Way) -> Option<Meaning> {
        loop {
            let found = self.inside(module, name, kind, way, &mut BTreeSet::new());
            match (found, self.modules[module].is_block, self.modules[module].parent) {
                (Some(found), ..) => return Some(found),
                (None, true, Some(parent)) => module = parent,
                _ => return None,
            }
        }
    }

    /// The meaning of a name in a module. `seen` are the modules already searched through glob imports.
    fn inside(&self, module: usize, name: &str, kind: Kind, way: Way, seen: &mut BTreeSet<usize>) -> Option<Meaning> {
        if !self.effort.consume(1) {
            return None;
        }
        let here = &self.modules[module];
        if let Some(meaning) = here.items.get(&(kind, name.to_owned())) {
            return Some(meaning.clone());
        }
        match here.imports.get(name) {
            Some(Some(path)) if path.len() > 1 || path[0] != name => {
                return Some(self.resolve(module, path, kind, way.further()));
            }
            // `use name;` imports another crate.
            Some(Some(path)) => return Some(self.under_its_name(path).unwrap_or_else(|| by_spelling(path))),
            Some(None) => return Some(Meaning::Unknown),
            None => {}
        }
        if way.is_of_a_glob || !seen.insert(module) {
            return None;
        }
        let of_a_glob = Way { is_of_a_glob: true, ..way.further() };
        here.globs.iter().find_map(|path| match self.resolve(module, path, Kind::Type, of_a_glob) {
            Meaning::Own(mut path) if self.api.offers(name) => {
                path.push(name.to_owned());
                Some(Meaning::Own(path))
            }
            Meaning::Module(other) => self.inside(other, name, kind, way.further(), seen),
            _ => None,
        })
    }

    /// The meaning of the rest of a path below the meaning of its beginning.
    fn below(&self, start: Meaning, rest: &[String], kind: Kind, way: Way) -> Meaning {
        let Some((next, after)) = rest.split_first() else { return start };
        let longer = |mut path: Vec<String>| {
            path.extend_from_slice(rest);
            path
        };
        match start {
            Meaning::Own(path) => Meaning::Own(longer(path)),
            Meaning::Outside(path) => Meaning::Outside(longer(path)),
            Meaning::Module(module) => {
                let kind_of_next = if after.is_empty() { kind } else { Kind::Type };
                let found = self.inside(module, next, kind_of_next, way.further(), &mut BTreeSet::new());
                self.below(found.unwrap_or(Meaning::Unknown), after, kind, way)
            }
            Meaning::Alias(ty, module) => match &*ty {
                Type::Path(ty) if ty.qself.is_none() => {
                    let aliased = self.meaning(module, &ty.path, Kind::Type);
                    if way.depth > 16 { Meaning::Unknown } else { self.below(aliased, rest, kind, way.further()) }
                }
                _ => Meaning::Unknown,
            },
            Meaning::Type(name) => self.associated(&name, next, after),
            Meaning::Function(_) | Meaning::Unknown => Meaning::Unknown,
        }
    }

    fn associated(&self, owner: &str, name: &str, after: &[String]) -> Meaning {
        match self.method(owner, name) {
            Some(Some(routine)) if after.is_empty() => Meaning::Function(routine),
            Some(_) => Meaning::Unknown,
            // A variant, or a function of a derived trait.
            None => Meaning::Type(owner.to_owned()),
        }
    }
}

/// The meaning of a name that the file does not define: a name of the standard library or of another crate, if it is spelt like
/// one. Another name with a capital letter is an unknown type, such as a type parameter.
fn by_spelling(path: &[String]) -> Meaning {
    let is_capital = path[0].starts_with(|first: char| first.is_uppercase());
    if is_capital && Ty::named(&path[0]) == Ty::Unknown { Meaning::Unknown } else { Meaning::Outside(path.to_vec()) }
}
