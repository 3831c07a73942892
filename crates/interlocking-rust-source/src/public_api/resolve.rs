//! Resolves paths within a crate.

use super::collect::Collection;
use std::cell::Cell;

/// What a path means. Compile-time conditions may give the same name to several targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Module(usize),
    /// A definition, by its module and its number there.
    Definition(usize, usize),
}

/// The most names that are looked up for one crate.
const STEPS: usize = 2_000_000;

pub(super) struct Resolver<'c> {
    collection: &'c Collection,
    steps: Cell<usize>,
}

impl<'c> Resolver<'c> {
    pub(super) fn new(collection: &'c Collection) -> Self {
        Self { collection, steps: Cell::new(STEPS) }
    }

    /// Whether names were left unresolved because there were too many.
    pub(super) fn is_spent(&self) -> bool {
        self.steps.get() == 0
    }

    /// The meanings of a path in a module; empty if the path leads to no item of this crate.
    pub(super) fn path(&self, module: usize, path: &[String]) -> Vec<Target> {
        self.path_within(module, path, 16, false)
    }

    fn path_within(&self, module: usize, path: &[String], depth: usize, is_of_a_glob: bool) -> Vec<Target> {
        let steps = self.steps.get().saturating_sub(1);
        self.steps.set(steps);
        let (Some((first, rest)), 1..) = (path.split_first(), depth.min(steps)) else { return Vec::new() };
        let start = match first.as_str() {
            "" => return Vec::new(),
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(module)],
            "super" => self.collection.modules[module].parent.map(Target::Module).into_iter().collect(),
            name => self.name(module, name, depth, is_of_a_glob, &mut Vec::new()),
        };
        rest.iter().fold(start, |found, name| {
            let inside = found.into_iter().flat_map(|target| match target {
                Target::Module(module) if name == "super" => {
                    self.collection.modules[module].parent.map(Target::Module).into_iter().collect()
                }
                Target::Module(module) => self.name(module, name, depth, is_of_a_glob, &mut Vec::new()),
                // A variant, or a function of a type, which is not an item.
                Target::Definition(..) => Vec::new(),
            });
            inside.collect()
        })
    }

    fn name(&self, module: usize, name: &str, depth: usize, is_of_a_glob: bool, seen: &mut Vec<usize>) -> Vec<Target> {
        let steps = self.steps.get().saturating_sub(1);
        self.steps.set(steps);
        if steps == 0 || seen.contains(&module) {
            return Vec::new();
        }
        seen.push(module);
        let here = &self.collection.modules[module];
        let defined = here.definitions.iter().enumerate().filter(|(_, definition)| definition.name == name);
        let mut found: Vec<Target> = defined.map(|(number, _)| Target::Definition(module, number)).collect();
        let children = here.children.iter().filter(|child| self.collection.modules[**child].name == name);
        found.extend(children.map(|child| Target::Module(*child)));
        for import in here.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            // `use name;` imports another crate.
            if import.path.len() > 1 || import.path[0] != name {
                found.extend(self.path_within(module, &import.path, depth - 1, is_of_a_glob));
            }
        }
        if found.is_empty() && !is_of_a_glob {
            for glob in here.imports.iter().filter(|import| import.name.is_none()) {
                for target in self.path_within(module, &glob.path, depth - 1, true) {
                    if let Target::Module(other) = target {
                        found.extend(self.name(other, name, depth, false, seen));
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}
