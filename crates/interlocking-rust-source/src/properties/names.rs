//! Resolves names in a test file: its own items, its imports, and the crate under test.

mod resolve;

use super::api::Api;
use super::conditions::{asks_conditions, is_certain};
use super::effort::Effort;
use super::outcomes::words;
use super::ty::Ty;
use crate::functions::type_name;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::rc::Rc;
use syn::{Attribute, Block, File, ImplItem, Item, ItemStruct, Member, Path, Signature, Type, UseTree};

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

/// The namespace of a name: a type, a value and a macro may have the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    Type,
    Value,
    Macro,
}

/// The items of a module, or of a block.
#[derive(Default, Debug)]
struct Module {
    parent: Option<usize>,
    is_block: bool,
    /// The modules directly inside, in the file's order, without blocks.
    children: Vec<usize>,
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
    /// Whether the macros of another file have their names in this file, too: `#[macro_use] mod name;`.
    takes_macros: bool,
    /// The numbers of the blocks with items, by the positions of their braces.
    blocks: BTreeMap<(usize, usize), usize>,
    effort: Effort,
}

impl<'a> Names<'a> {
    pub(super) fn of(api: &'a Api, is_inside: bool, file: &File) -> Self {
        let (modules, methods, structures, macros, takes_macros, blocks, effort) = Default::default();
        let mut names = Self { api, is_inside, modules, methods, structures, macros, takes_macros, blocks, effort };
        names.module(&file.items, None, false);
        names
    }

    /// The number of a block with items, which is added when it is first met.
    pub(super) fn block(&mut self, brace: Span, items: &[Item], parent: usize) -> usize {
        let start = (brace.start().line, brace.start().column);
        if let Some(known) = self.blocks.get(&start) {
            return *known;
        }
        let number = self.module(items, Some(parent), true);
        self.blocks.insert(start, number);
        number
    }

    /// Adds a module or a block, and returns its number.
    fn module(&mut self, items: &[Item], parent: Option<usize>, is_block: bool) -> usize {
        let number = self.modules.len();
        self.modules.push(Module { parent, is_block, ..Module::default() });
        if let Some(parent) = parent.filter(|_| !is_block) {
            self.modules[parent].children.push(number);
        }
        for item in items {
            self.item(number, item);
        }
        number
    }

    /// The modules directly inside a module, in the file's order, without blocks.
    pub(super) fn modules_in(&self, module: usize) -> Vec<usize> {
        self.modules[module].children.clone()
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
                self.takes_macros |= inner.is_none() && takes_macros(&item.attrs);
                let meaning = inner.filter(|_| is_certain(&item.attrs)).map_or(Meaning::Unknown, Meaning::Module);
                self.define(module, Kind::Type, &item.ident, meaning);
            }
            Item::ExternCrate(item) if item.ident == self.api.package => self.takes_macros |= takes_macros(&item.attrs),
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

    /// The text of a macro's rules if the file defines it; nothing if another file of the same crate, or the crate under test, may
    /// define it.
    pub(super) fn rules_of_own_macro(&self, module: usize, path: &Path) -> Option<&str> {
        let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let is_elsewhere =
            || self.takes_macros || !matches!(self.meaning(module, path, Kind::Macro), Meaning::Outside(_));
        self.macros.get(&name).map(String::as_str).or_else(|| is_elsewhere().then_some(""))
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

fn takes_macros(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| words(attribute.to_token_stream()).iter().any(|word| word == "macro_use"))
}

impl Routine {
    fn new(module: usize, signature: &Signature, block: &Block, is_conditional: bool) -> Self {
        Self { module, signature: signature.clone(), block: block.clone(), is_conditional }
    }
}
