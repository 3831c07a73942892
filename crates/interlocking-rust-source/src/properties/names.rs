//! Resolves names in a test file: its own items, its imports, and the crate under test.

use super::api::Api;
use super::conditions::{asks_conditions, is_certain};
use super::effort::Effort;
use super::ty::Ty;
use crate::functions::type_name;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::{Block, File, ImplItem, Item, ItemStruct, Member, Path, Signature, Type, UseTree};

/// What a name or a path means.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// An item of the crate under test, by its path in the crate.
    Own(Vec<String>),
    /// An item of another crate.
    Outside(Vec<String>),
    Module(usize),
    Function(Rc<Routine>),
    /// A type of the file.
    Type(String),
    Alias(Rc<Type>, usize),
    Unknown,
}

/// A function of the test file.
#[derive(Debug)]
pub(super) struct Routine {
    pub(super) module: usize,
    pub(super) signature: Signature,
    pub(super) block: Block,
    /// Whether a compile-time condition decides what is compiled of the function.
    pub(super) is_conditional: bool,
}

/// The namespace of a name: a type and a value may have the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Type,
    Value,
}

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

/// The items of a module, or of a block.
#[derive(Default, Debug)]
struct Module {
    parent: Option<usize>,
    is_block: bool,
    /// The items by kind and name. Two items of the same kind and name are `Unknown`: a compile-time condition decides between
    /// them.
    items: BTreeMap<(Kind, String), Meaning>,
    imports: BTreeMap<String, Option<Vec<String>>>,
    globs: Vec<Vec<String>>,
}

/// All names of a test file.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) api: &'a Api,
    /// Whether the file is part of the crate under test, instead of a separate test program.
    is_inside: bool,
    modules: Vec<Module>,
    /// The methods that the file defines, by type and name; `None` if several have the name.
    methods: BTreeMap<(String, String), Option<Rc<Routine>>>,
    /// The structs that the file defines; `None` if several have the name.
    structures: BTreeMap<String, Option<(Rc<ItemStruct>, usize)>>,
    /// The macros that the file defines, with the texts of their rules.
    macros: BTreeMap<String, String>,
    effort: Effort,
}

impl<'a> Names<'a> {
    pub(super) fn of(api: &'a Api, is_inside: bool, file: &File) -> Self {
        let (modules, methods, structures, macros, effort) = Default::default();
        let mut names = Self { api, is_inside, modules, methods, structures, macros, effort };
        names.module(&file.items, None, false);
        names
    }

    /// Adds a module or a block, and returns its number.
    pub(super) fn module(&mut self, items: &[Item], parent: Option<usize>, is_block: bool) -> usize {
        let number = self.modules.len();
        self.modules.push(Module { parent, is_block, ..Module::default() });
        for item in items {
            self.item(number, item);
        }
        number
    }

    /// The modules directly inside a module, in the file's order, without blocks.
    pub(super) fn modules_in(&self, module: usize) -> Vec<usize> {
        let is_inner = |number: &usize| {
            let inner = &self.modules[*number];
            inner.parent == Some(module) && !inner.is_block
        };
        (0..self.modules.len()).filter(is_inner).collect()
    }

    fn item(&mut self, module: usize, item: &Item) {
        match item {
            Item::Fn(item) => {
                let routine = Routine::new(module, &item.sig, &item.block, asks_conditions(&item.to_token_stream()));
                let meaning =
                    if is_certain(&item.attrs) { Meaning::Function(Rc::new(routine)) } else { Meaning::Unknown };
                self.define(module, Kind::Value, &item.sig.ident, meaning);
            }
            Item::Const(item) => self.define(module, Kind::Value, &item.ident, Meaning::Unknown),
            Item::Static(item) => self.define(module, Kind::Value, &item.ident, Meaning::Unknown),
            Item::Struct(item) => {
                self.structures
                    .entry(item.ident.to_string())
                    .and_modify(|known| *known = None)
                    .or_insert_with(|| Some((Rc::new(item.clone()), module)));
                let meaning = Meaning::Type(item.ident.to_string());
                self.define(module, Kind::Type, &item.ident, meaning.clone());
                self.define(module, Kind::Value, &item.ident, meaning);
            }
            Item::Enum(item) => self.define(module, Kind::Type, &item.ident, Meaning::Type(item.ident.to_string())),
            Item::Union(item) => self.define(module, Kind::Type, &item.ident, Meaning::Type(item.ident.to_string())),
            Item::Trait(item) => self.define(module, Kind::Type, &item.ident, Meaning::Unknown),
            Item::Type(item) => {
                let alias = Meaning::Alias(Rc::new((*item.ty).clone()), module);
                self.define(
                    module,
                    Kind::Type,
                    &item.ident,
                    if is_certain(&item.attrs) { alias } else { Meaning::Unknown },
                );
            }
            Item::Mod(item) => {
                let inner = item.content.as_ref().map(|(_, items)| self.module(items, Some(module), false));
                let meaning = inner.filter(|_| is_certain(&item.attrs)).map_or(Meaning::Unknown, Meaning::Module);
                self.define(module, Kind::Type, &item.ident, meaning);
            }
            Item::Use(item) => {
                let mut path = Vec::new();
                if item.leading_colon.is_some() {
                    path.push(String::new());
                }
                self.import(module, &mut path, &item.tree, is_certain(&item.attrs));
            }
            Item::Impl(item) => {
                let owner = type_name(&item.self_ty).unwrap_or_default();
                let is_conditional = asks_conditions(&item.to_token_stream());
                for member in &item.items {
                    let ImplItem::Fn(method) = member else { continue };
                    let routine = Routine::new(module, &method.sig, &method.block, is_conditional);
                    self.methods
                        .entry((owner.clone(), method.sig.ident.to_string()))
                        .and_modify(|known| *known = None)
                        .or_insert(Some(Rc::new(routine)));
                }
            }
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.macros.entry(name.to_string()).or_default().push_str(&item.mac.tokens.to_string());
                }
            }
            _ => {}
        }
    }

    fn define(&mut self, module: usize, kind: Kind, name: &syn::Ident, meaning: Meaning) {
        let items = &mut self.modules[module].items;
        items.entry((kind, name.to_string())).and_modify(|known| *known = Meaning::Unknown).or_insert(meaning);
    }

    fn import(&mut self, module: usize, path: &mut Vec<String>, tree: &UseTree, is_certain: bool) {
        let depth = path.len();
        let mut bind = |name: String, path: Vec<String>| {
            let imports = &mut self.modules[module].imports;
            imports.entry(name).and_modify(|known| *known = None).or_insert(is_certain.then_some(path));
        };
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(module, path, &inner.tree, is_certain);
            }
            UseTree::Name(name) if name.ident == "self" => bind(path.last().cloned().unwrap_or_default(), path.clone()),
            UseTree::Name(name) => bind(name.ident.to_string(), [&path[..], &[name.ident.to_string()]].concat()),
            UseTree::Rename(renamed) if renamed.ident == "self" => bind(renamed.rename.to_string(), path.clone()),
            UseTree::Rename(renamed) => {
                bind(renamed.rename.to_string(), [&path[..], &[renamed.ident.to_string()]].concat());
            }
            UseTree::Glob(_) => self.modules[module].globs.push(path.clone()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(module, path, tree, is_certain);
                }
            }
        }
        path.truncate(depth);
    }

    /// The meaning of a path in a module.
    pub(super) fn meaning(&self, module: usize, path: &Path, kind: Kind) -> Meaning {
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
            let found = self.inside(module, name, kind, way, &mut Vec::new());
            match (found, self.modules[module].is_block, self.modules[module].parent) {
                (Some(found), ..) => return Some(found),
                (None, true, Some(parent)) => module = parent,
                _ => return None,
            }
        }
    }

    /// The meaning of a name in a module. `seen` are the modules already searched through glob imports.
    fn inside(&self, module: usize, name: &str, kind: Kind, way: Way, seen: &mut Vec<usize>) -> Option<Meaning> {
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
        if way.is_of_a_glob || seen.contains(&module) {
            return None;
        }
        seen.push(module);
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
                let found = self.inside(module, next, kind_of_next, way.further(), &mut Vec::new());
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

    /// The method that the file defines for a type: `None` if there is none, `Some(None)` if there are several of the name.
    pub(super) fn method(&self, owner: &str, name: &str) -> Option<Option<Rc<Routine>>> {
        self.methods.get(&(owner.to_owned(), name.to_owned())).cloned()
    }

    /// The type of a field of a struct that the file defines.
    pub(super) fn field(&self, owner: &str, member: &Member) -> Ty {
        let Some(Some((structure, module))) = self.structures.get(owner) else { return Ty::Unknown };
        let found = structure.fields.iter().enumerate().find(|(at, field)| match (member, &field.ident) {
            (Member::Named(name), Some(own)) => name == own,
            (Member::Unnamed(index), None) => usize::try_from(index.index) == Ok(*at),
            _ => false,
        });
        found.map_or(Ty::Unknown, |(_, field)| Ty::read(&field.ty, &|path| self.ty(*module, path)))
    }

    /// The text of the rules of a macro that the file defines.
    pub(super) fn macro_text(&self, name: &str) -> Option<&str> {
        self.macros.get(name).map(String::as_str)
    }

    /// The type that a path means, without its arguments.
    pub(super) fn ty(&self, module: usize, path: &Path) -> Ty {
        self.effort.deeper(|| self.ty_of(module, path)).unwrap_or(Ty::Unknown)
    }

    /// The limits of the work for this file.
    pub(super) fn effort(&self) -> &Effort {
        &self.effort
    }

    fn ty_of(&self, module: usize, path: &Path) -> Ty {
        match self.meaning(module, path, Kind::Type) {
            Meaning::Own(path) => match path.last() {
                Some(name) if self.api.is_type(name) => Ty::Own(name.clone()),
                _ => Ty::Unknown,
            },
            Meaning::Outside(path) => path.last().map_or(Ty::Unknown, |name| match Ty::named(name) {
                // A type of another crate, so it is not one of the crate under test.
                Ty::Unknown if path.len() > 1 => Ty::foreign(name),
                known => known,
            }),
            Meaning::Type(name) => Ty::Local(name),
            Meaning::Alias(ty, module) => Ty::read(&ty, &|path| self.ty(module, path)),
            Meaning::Module(_) | Meaning::Function(_) | Meaning::Unknown => Ty::Unknown,
        }
    }
}

impl Routine {
    fn new(module: usize, signature: &Signature, block: &Block, is_conditional: bool) -> Self {
        Self { module, signature: signature.clone(), block: block.clone(), is_conditional }
    }
}

/// The meaning of a name that the file does not define: a name of the standard library or of another crate, if it is spelt like
/// one. Another name with a capital letter is an unknown type, such as a type parameter.
fn by_spelling(path: &[String]) -> Meaning {
    let is_capital = path[0].starts_with(|first: char| first.is_uppercase());
    if is_capital && Ty::named(&path[0]) == Ty::Unknown { Meaning::Unknown } else { Meaning::Outside(path.to_vec()) }
}
