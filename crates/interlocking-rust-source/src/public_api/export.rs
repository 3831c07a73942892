//! Determines which items of modules other crates can name.

use super::collect::Collection;
use super::item::{ApiItem, ApiKind};
use super::modules::{Import, Part};
use super::resolve::{Resolver, Target};
use super::{ApiError, MOST, PublicApi};
use std::collections::{BTreeMap, BTreeSet};

/// The public API of a crate.
pub(super) fn export(collection: &Collection, root: &str) -> Result<PublicApi, ApiError> {
    let resolver = Resolver::new(collection);
    let (items, paths, within, is_too_deep) = Default::default();
    let mut exporting = Exporting { collection, resolver, items, paths, within, is_too_deep };
    exporting.module(0, "");
    exporting.implementations();
    for (path, part) in &collection.free {
        exporting.put(path.clone(), part, "");
    }
    if exporting.is_full() || exporting.is_too_deep {
        return Err(ApiError::TooMany { path: root.to_owned() });
    }
    let mut items = exporting.items;
    let key = |item: &ApiItem| (item.path.clone(), item.kind, item.signature.clone());
    items.sort_by_cached_key(key);
    items.dedup_by(|one, other| key(one) == key(other));
    Ok(PublicApi { items })
}

fn definition(target: Target) -> Option<(usize, usize)> {
    match target {
        Target::Definition(module, number) => Some((module, number)),
        Target::Module(_) => None,
    }
}

struct Exporting<'c> {
    collection: &'c Collection,
    resolver: Resolver<'c>,
    items: Vec<ApiItem>,
    /// The paths under which other crates can name a definition.
    paths: BTreeMap<(usize, usize), BTreeSet<String>>,
    /// The modules that are being exported.
    within: BTreeSet<usize>,
    /// Whether modules were left out because they are re-exported through too many others.
    is_too_deep: bool,
}

/// The most modules that are exported within each other, nested and by glob imports.
const DEEPEST: usize = 4096;

impl Exporting<'_> {
    /// Whether nothing more is exported, as there is too much.
    fn is_full(&self) -> bool {
        self.items.len() >= MOST || self.resolver.is_spent()
    }

    fn put(&mut self, path: String, part: &Part, conditions: &str) {
        if self.items.len() < MOST {
            self.items.push(ApiItem {
                path,
                kind: part.kind,
                signature: format!("{conditions}{}", part.signature),
                file: part.place.file.clone(),
                line: part.place.line,
                column: part.place.column,
            });
        }
    }

    /// Exports everything public in a module, with paths that begin with `prefix`.
    fn module(&mut self, number: usize, prefix: &str) {
        if self.is_full() || self.within.contains(&number) {
            return;
        }
        if self.within.len() >= DEEPEST {
            self.is_too_deep = true;
            return;
        }
        self.within.insert(number);
        let here = &self.collection.modules[number];
        for (at, definition) in here.definitions.iter().enumerate().filter(|(_, definition)| definition.is_public) {
            self.definition((number, at), format!("{prefix}{}", definition.name), "");
        }
        for child in &here.children {
            if self.collection.modules[*child].is_public {
                self.named_module(*child, format!("{prefix}{}", self.collection.modules[*child].name), "");
            }
        }
        for import in here.imports.iter().filter(|import| import.is_public) {
            self.import(number, import, prefix);
        }
        self.within.remove(&number);
    }

    fn named_module(&mut self, number: usize, path: String, conditions: &str) {
        let module = &self.collection.modules[number];
        let name = path.rsplit("::").next().unwrap_or_default();
        let signature = format!("{}mod {name}", module.conditions);
        let part = Part { name: None, kind: ApiKind::Module, signature, place: module.place.clone() };
        self.put(path.clone(), &part, conditions);
        self.module(number, &format!("{path}::"));
    }

    fn definition(&mut self, (module, number): (usize, usize), path: String, conditions: &str) {
        for part in &self.collection.modules[module].definitions[number].parts {
            let path = part.name.as_ref().map_or_else(|| path.clone(), |name| format!("{path}::{name}"));
            self.put(path, part, conditions);
        }
        self.paths.entry((module, number)).or_default().insert(path);
    }

    fn import(&mut self, module: usize, import: &Import, prefix: &str) {
        let targets = self.resolver.path(module, &import.path);
        for target in &targets {
            if self.is_full() {
                return;
            }
            match (target, &import.name) {
                (Target::Module(number), None) => self.module(*number, prefix),
                (Target::Module(number), Some(name)) => {
                    self.named_module(*number, format!("{prefix}{name}"), &import.conditions);
                }
                (Target::Definition(module, number), Some(name)) => {
                    self.definition((*module, *number), format!("{prefix}{name}"), &import.conditions);
                }
                // All variants of an enum.
                (Target::Definition(..), None) => self.elsewhere(import, prefix),
            }
        }
        let is_given = |target: &Target| match target {
            Target::Module(number) => !self.collection.modules[*number].is_elsewhere,
            Target::Definition(..) => true,
        };
        if targets.is_empty() || !targets.iter().all(is_given) {
            self.elsewhere(import, prefix);
        }
    }

    /// Exports an import from another crate, or of something that is not an item by itself, by its path.
    fn elsewhere(&mut self, import: &Import, prefix: &str) {
        let name = import.name.as_deref().unwrap_or("*");
        let behind = if import.name.is_none() { "::*" } else { "" };
        let signature = format!("use {}{behind} as {name}", import.path.join("::"));
        let part = Part { name: None, kind: ApiKind::Import, signature, place: import.place.clone() };
        self.put(format!("{prefix}{name}"), &part, &import.conditions);
    }

    /// The definitions with type aliases replaced by the types of this crate for which they stand.
    fn meant(&self, definitions: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let (mut open, mut seen, mut meant) = (definitions, BTreeSet::new(), Vec::new());
        while let Some((module, number)) = open.pop() {
            if !seen.insert((module, number)) {
                continue;
            }
            match &self.collection.modules[module].definitions[number].stands_for {
                None => meant.push((module, number)),
                Some(path) => open.extend(self.resolver.path(module, path).into_iter().filter_map(definition)),
            }
        }
        meant
    }

    fn implementations(&mut self) {
        for block in &self.collection.implementations {
            let found = |path: &Option<Vec<String>>| -> Vec<(usize, usize)> {
                let targets = path.as_ref().map(|path| self.resolver.path(block.module, path)).unwrap_or_default();
                targets.into_iter().filter_map(definition).collect()
            };
            let (of, implemented) = (self.meant(found(&block.of)), found(&block.implemented));
            // Implementations of a trait that other crates cannot name do not count.
            if !implemented.is_empty() && !implemented.iter().any(|found| self.paths.contains_key(found)) {
                continue;
            }
            let paths: BTreeSet<String> = if of.is_empty() {
                // A type of another crate, or any type.
                BTreeSet::from([block.written.clone()])
            } else {
                of.iter().filter_map(|found| self.paths.get(found)).flatten().cloned().collect()
            };
            for path in paths {
                for part in &block.parts {
                    let path = part.name.as_ref().map_or_else(|| path.clone(), |name| format!("{path}::{name}"));
                    self.put(path, part, "");
                }
            }
        }
    }
}
