//! Resolves paths within a crate.

use super::collect::Collection;
use super::modules::Import;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// What a path means. Compile-time conditions may give the same name to several targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(usize),
    /// A definition, by its module and its number there.
    Definition(usize, usize),
}

/// The most names that are looked up, and targets that are found, for one crate.
const STEPS: usize = 2_000_000;

pub(super) struct Resolver<'c> {
    collection: &'c Collection,
    /// By module.
    names: Vec<Names<'c>>,
    steps: Cell<usize>,
}

/// The names of a module.
#[derive(Default)]
struct Names<'c> {
    named: BTreeMap<&'c str, Named<'c>>,
    globs: Vec<&'c Import>,
}

/// What has one name in a module.
#[derive(Default)]
struct Named<'c> {
    targets: Vec<Target>,
    imports: Vec<&'c Import>,
}

impl<'c> Resolver<'c> {
    pub(super) fn new(collection: &'c Collection) -> Self {
        let names = (0..collection.modules.len()).map(|module| Names::of(collection, module)).collect();
        Self { collection, names, steps: Cell::new(STEPS) }
    }

    /// Whether names were left unresolved because there were too many.
    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// Consumes steps; whether any are left then.
    fn consume(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_sub(steps));
        !self.is_spent()
    }

    /// The meanings of a path in a module; empty if the path leads to no item of this crate.
    pub(super) fn path(&self, module: usize, path: &[String]) -> Vec<Target> {
        self.path_within(module, path, 16, false)
    }

    fn path_within(&self, module: usize, path: &[String], depth: usize, is_of_a_glob: bool) -> Vec<Target> {
        let Some((first, rest)) = path.split_first().filter(|_| depth > 0 && self.consume(1)) else {
            return Vec::new();
        };
        let start = match first.as_str() {
            "" => return Vec::new(),
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.collection.modules[module].parent.map(Target::Module).into_iter().collect(),
            name => self.name(module, name, depth, is_of_a_glob),
        };
        rest.iter().fold(start, |found, name| {
            let inside = found.into_iter().flat_map(|target| match target {
                Target::Module(module) if name == "super" => {
                    self.collection.modules[module].parent.map(Target::Module).into_iter().collect()
                }
                Target::Module(module) => self.name(module, name, depth, is_of_a_glob),
                // A variant, or a function of a type, which is not an item.
                Target::Definition(..) => Vec::new(),
            });
            inside.collect()
        })
    }

    /// The meanings of a name in a module. Where the module does not have the name itself, it has it from glob imports, unless
    /// the path `is_of_a_glob` import.
    fn name(&self, start: usize, name: &str, depth: usize, is_of_a_glob: bool) -> Vec<Target> {
        let (mut open, mut seen, mut found) = (vec![start], BTreeSet::from([start]), Vec::new());
        while let Some(module) = open.pop() {
            if !self.consume(1) {
                return Vec::new();
            }
            let is_of_a_glob = is_of_a_glob && module == start;
            let (here, before) = (&self.names[module], found.len());
            if let Some(Named { targets, imports }) = here.named.get(name) {
                found.extend(targets);
                for import in imports {
                    found.extend(self.path_within(module, &import.path, depth - 1, is_of_a_glob));
                }
            }
            if !self.consume(found.len() - before) {
                return Vec::new();
            }
            if found.len() == before && !is_of_a_glob {
                for glob in &here.globs {
                    for target in self.path_within(module, &glob.path, depth - 1, true) {
                        if let Target::Module(other) = target
                            && seen.insert(other)
                        {
                            open.push(other);
                        }
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

impl<'c> Names<'c> {
    fn of(collection: &'c Collection, module: usize) -> Self {
        let (here, mut names) = (&collection.modules[module], Self::default());
        for (number, definition) in here.definitions.iter().enumerate() {
            names.entry(&definition.name).targets.push(Target::Definition(module, number));
        }
        for child in &here.children {
            names.entry(&collection.modules[*child].name).targets.push(Target::Module(*child));
        }
        for import in &here.imports {
            match &import.name {
                // `use name;` imports another crate.
                Some(name) if import.path.len() > 1 || import.path[0] != *name => {
                    names.entry(name).imports.push(import)
                }
                Some(_) => {}
                None => names.globs.push(import),
            }
        }
        names
    }

    fn entry(&mut self, name: &'c str) -> &mut Named<'c> {
        self.named.entry(name).or_default()
    }
}
