//! Collects modules from the syntax of a file.

mod implementations;
mod imports;

use super::item::ApiKind;
use super::modules::{Definition, Implementation, Module, Part, Place};
use super::signature::{bounds, conditions, derived, function, generics, shape, shown};
use crate::functions::{for_tests, is_public};
use crate::normal::text_of;
use implementations::path_of;
use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Field, Fields, File, ForeignItem, Ident, Item, ItemMacro, ItemMod, TraitItem, Visibility};

/// The modules that have been read.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// The modules. The first is the crate's root.
    pub(super) modules: Vec<Module>,
    pub(super) implementations: Vec<Implementation>,
    /// Items that are exported whatever module they are in, with their paths: exported macros, calls of macros, unknown syntax.
    pub(super) free: Vec<(String, Part)>,
}

impl Collection {
    pub(super) fn of(path: &str, file: &File) -> Self {
        let mut collection = Self::default();
        collection.modules.push(Module { is_public: true, ..Module::default() });
        let mut reading = Reading { file: path, collection: &mut collection, module: 0 };
        reading.items(&file.items, &conditions("", &file.attrs));
        collection
    }
}

struct Reading<'c> {
    file: &'c str,
    collection: &'c mut Collection,
    module: usize,
}

impl Reading<'_> {
    fn items(&mut self, items: &[Item], around: &str) {
        for item in items {
            self.item(item, around);
        }
    }

    fn item(&mut self, item: &Item, around: &str) {
        match item {
            Item::Fn(item) if !for_tests(&item.attrs) => {
                let signature = format!("{}{}", conditions(around, &item.attrs), function(&item.sig));
                self.define(&item.sig.ident, &item.vis, ApiKind::Function, signature, Vec::new());
                self.implementations_in(|search| search.visit_item_fn(item));
            }
            Item::Const(item) if !for_tests(&item.attrs) => {
                let signature = format!("{}const {}: {}", conditions(around, &item.attrs), item.ident, shown(&item.ty));
                self.define(&item.ident, &item.vis, ApiKind::Constant, signature, Vec::new());
                self.implementations_in(|search| search.visit_item_const(item));
            }
            Item::Static(item) if !for_tests(&item.attrs) => {
                let conditions = conditions(around, &item.attrs);
                let mutability = shown(&item.mutability);
                let space = if mutability.is_empty() { "" } else { " " };
                let signature = format!("{conditions}static {mutability}{space}{}: {}", item.ident, shown(&item.ty));
                self.define(&item.ident, &item.vis, ApiKind::Constant, signature, Vec::new());
                self.implementations_in(|search| search.visit_item_static(item));
            }
            Item::Struct(item) if !for_tests(&item.attrs) => {
                let ((parameters, bounds), own) = (generics(&item.generics), conditions(around, &item.attrs));
                let shape = shape(&item.fields, &is_public);
                let signature = format!("{own}struct {}{parameters}{bounds}{shape}", item.ident);
                let fields = match &item.fields {
                    Fields::Named(fields) => self.fields(fields.named.iter().filter(|field| is_public(&field.vis))),
                    _ => Vec::new(),
                };
                let mut parts = self.derived(&item.attrs, &item.ident, &own);
                parts.extend(fields);
                self.define(&item.ident, &item.vis, ApiKind::Type, signature, parts);
                self.implementations_in(|search| search.visit_item_struct(item));
            }
            Item::Union(item) if !for_tests(&item.attrs) => {
                let ((parameters, bounds), own) = (generics(&item.generics), conditions(around, &item.attrs));
                let signature = format!("{own}union {}{parameters}{bounds}", item.ident);
                let fields = self.fields(item.fields.named.iter().filter(|field| is_public(&field.vis)));
                let mut parts = self.derived(&item.attrs, &item.ident, &own);
                parts.extend(fields);
                self.define(&item.ident, &item.vis, ApiKind::Type, signature, parts);
                self.implementations_in(|search| search.visit_item_union(item));
            }
            Item::Enum(item) if !for_tests(&item.attrs) => {
                let ((parameters, bounds), own) = (generics(&item.generics), conditions(around, &item.attrs));
                let signature = format!("{own}enum {}{parameters}{bounds}", item.ident);
                let mut parts = self.derived(&item.attrs, &item.ident, &own);
                for variant in &item.variants {
                    let mut signature = format!("{}{}", conditions("", &variant.attrs), variant.ident);
                    match &variant.fields {
                        Fields::Unit => {}
                        Fields::Unnamed(_) => {
                            signature.push_str(shape(&variant.fields, &|_| true).trim_end_matches(';'));
                        }
                        Fields::Named(fields) => {
                            let each = fields.named.iter().map(|field| {
                                format!("{}{}: {}", conditions("", &field.attrs), shown(&field.ident), shown(&field.ty))
                            });
                            let sorted: BTreeSet<String> = each.collect();
                            let sorted: Vec<String> = sorted.into_iter().collect();
                            signature.push_str(&format!(" {{ {} }}", sorted.join(", ")));
                        }
                    }
                    if let Some((_, value)) = &variant.discriminant {
                        signature.push_str(&format!(" = {}", shown(value)));
                    }
                    parts.push(self.part(Some(&variant.ident), ApiKind::Variant, signature, variant.ident.span()));
                }
                self.define(&item.ident, &item.vis, ApiKind::Type, signature, parts);
                self.implementations_in(|search| search.visit_item_enum(item));
            }
            Item::Type(item) if !for_tests(&item.attrs) => {
                let (parameters, bounds) = generics(&item.generics);
                let own = conditions(around, &item.attrs);
                let signature = format!("{own}type {}{parameters} = {}{bounds}", item.ident, shown(&item.ty));
                self.define(&item.ident, &item.vis, ApiKind::Type, signature, Vec::new());
                let definition = self.collection.modules[self.module].definitions.last_mut();
                definition.into_iter().for_each(|definition| definition.stands_for = path_of(&item.ty));
                self.implementations_in(|search| search.visit_item_type(item));
            }
            Item::TraitAlias(item) if !for_tests(&item.attrs) => {
                let ((parameters, where_), own) = (generics(&item.generics), conditions(around, &item.attrs));
                let signature = format!("{own}trait {}{parameters} ={}{where_}", item.ident, bounds(&item.bounds));
                self.define(&item.ident, &item.vis, ApiKind::Trait, signature, Vec::new());
            }
            Item::Trait(item) if !for_tests(&item.attrs) => {
                let ((parameters, where_), own) = (generics(&item.generics), conditions(around, &item.attrs));
                let unsafety = item.unsafety.map_or("", |_| "unsafe ");
                let supertraits = bounds(&item.supertraits);
                let signature = format!("{own}{unsafety}trait {}{parameters}{supertraits}{where_}", item.ident);
                let parts = item.items.iter().filter_map(|member| self.of_trait(member)).collect();
                self.define(&item.ident, &item.vis, ApiKind::Trait, signature, parts);
                self.implementations_in(|search| search.visit_item_trait(item));
            }
            Item::Impl(item) if !for_tests(&item.attrs) => self.implementation(item, around),
            Item::Mod(item) if !for_tests(&item.attrs) => self.inner(item, around),
            Item::Use(item) if !for_tests(&item.attrs) => {
                let mut path = Vec::new();
                if item.leading_colon.is_some() {
                    path.push(String::new());
                }
                let own = conditions(around, &item.attrs);
                self.import(&mut path, &item.tree, is_public(&item.vis), &own);
            }
            Item::ExternCrate(item) if !for_tests(&item.attrs) => {
                let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                let own = conditions(around, &item.attrs);
                let path = vec![String::new(), item.ident.to_string()];
                self.bind(Some(name), path, is_public(&item.vis), &own, name.span());
            }
            Item::ForeignMod(item) if !for_tests(&item.attrs) => {
                let around = format!("{}{} ", conditions(around, &item.attrs), shown(&item.abi));
                for member in &item.items {
                    self.foreign(member, &around);
                }
            }
            Item::Macro(item) if !for_tests(&item.attrs) => self.macro_item(item, around),
            Item::Verbatim(tokens) => self.unknown(tokens),
            _ => {}
        }
    }

    fn place(&self, at: Span) -> Place {
        let start = at.start();
        Place { file: self.file.to_owned(), line: start.line, column: start.column + 1 }
    }

    fn part(&self, name: Option<&Ident>, kind: ApiKind, signature: String, at: Span) -> Part {
        Part { name: name.map(ToString::to_string), kind, signature, place: self.place(at) }
    }

    fn define(&mut self, name: &Ident, visibility: &Visibility, kind: ApiKind, signature: String, parts: Vec<Part>) {
        let mut all = vec![self.part(None, kind, signature, name.span())];
        all.extend(parts);
        let (name, is_public) = (name.to_string(), is_public(visibility));
        let definition = Definition { name, is_public, stands_for: None, parts: all };
        self.collection.modules[self.module].definitions.push(definition);
    }

    fn fields<'a>(&self, fields: impl Iterator<Item = &'a Field>) -> Vec<Part> {
        let part = |field: &Field| {
            let signature = format!("{}{}: {}", conditions("", &field.attrs), shown(&field.ident), shown(&field.ty));
            self.part(field.ident.as_ref(), ApiKind::Field, signature, field.span())
        };
        fields.map(part).collect()
    }

    fn derived(&self, attributes: &[Attribute], name: &Ident, around: &str) -> Vec<Part> {
        let part = |derived: String| {
            let signature = format!("{around}impl {derived} for {name}");
            self.part(None, ApiKind::Implementation, signature, name.span())
        };
        derived(attributes).into_iter().map(part).collect()
    }

    fn of_trait(&mut self, member: &TraitItem) -> Option<Part> {
        match member {
            TraitItem::Fn(method) => {
                let given = method.default.as_ref().map_or("", |_| " { provided }");
                let signature = format!("{}{}{given}", conditions("", &method.attrs), function(&method.sig));
                Some(self.part(Some(&method.sig.ident), ApiKind::Function, signature, method.sig.ident.span()))
            }
            TraitItem::Const(constant) => {
                let given = constant.default.as_ref().map_or("", |_| " = provided");
                let own = conditions("", &constant.attrs);
                let signature = format!("{own}const {}: {}{given}", constant.ident, shown(&constant.ty));
                Some(self.part(Some(&constant.ident), ApiKind::Constant, signature, constant.ident.span()))
            }
            TraitItem::Type(ty) => {
                let (parameters, where_) = generics(&ty.generics);
                let given = ty.default.as_ref().map_or(String::new(), |(_, given)| format!(" = {}", shown(given)));
                let own = conditions("", &ty.attrs);
                let signature = format!("{own}type {}{parameters}{}{where_}{given}", ty.ident, bounds(&ty.bounds));
                Some(self.part(Some(&ty.ident), ApiKind::Type, signature, ty.ident.span()))
            }
            TraitItem::Macro(called) => {
                self.called(&called.mac, "");
                None
            }
            other => {
                self.unknown(&quote::ToTokens::to_token_stream(other));
                None
            }
        }
    }

    fn inner(&mut self, item: &ItemMod, around: &str) {
        let own = conditions(around, &item.attrs);
        let number = self.collection.modules.len();
        self.collection.modules.push(Module {
            name: item.ident.to_string(),
            is_public: is_public(&item.vis),
            parent: Some(self.module),
            conditions: own.clone(),
            place: self.place(item.ident.span()),
            is_elsewhere: item.content.is_none(),
            ..Module::default()
        });
        self.collection.modules[self.module].children.push(number);
        if let Some((_, items)) = &item.content {
            let outer = std::mem::replace(&mut self.module, number);
            self.items(items, &own);
            self.module = outer;
        }
    }

    fn foreign(&mut self, member: &ForeignItem, around: &str) {
        match member {
            ForeignItem::Fn(item) => {
                let signature = format!("{}{}", conditions(around, &item.attrs), function(&item.sig));
                self.define(&item.sig.ident, &item.vis, ApiKind::Function, signature, Vec::new());
            }
            ForeignItem::Static(item) => {
                let signature =
                    format!("{}static {}: {}", conditions(around, &item.attrs), item.ident, shown(&item.ty));
                self.define(&item.ident, &item.vis, ApiKind::Constant, signature, Vec::new());
            }
            ForeignItem::Type(item) => {
                let signature = format!("{}type {}", conditions(around, &item.attrs), item.ident);
                self.define(&item.ident, &item.vis, ApiKind::Type, signature, Vec::new());
            }
            ForeignItem::Macro(called) => self.called(&called.mac, around),
            other => self.unknown(&quote::ToTokens::to_token_stream(other)),
        }
    }

    fn macro_item(&mut self, item: &ItemMacro, around: &str) {
        let own = conditions(around, &item.attrs);
        let Some(name) = &item.ident else { return self.called(&item.mac, &own) };
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
            let signature = format!("{own}macro_rules! {name} {{ {} }}", matchers(item.mac.tokens.clone()).join("; "));
            let part = self.part(Some(name), ApiKind::Macro, signature, name.span());
            self.collection.free.push((format!("{name}!"), part));
        }
    }

    /// Records a call of a macro. Its expansion is unknown, so all its tokens count.
    fn called(&mut self, called: &syn::Macro, around: &str) {
        const WITHOUT_ITEMS: [&str; 2] = ["thread_local", "compile_error"];
        if WITHOUT_ITEMS.iter().any(|name| called.path.is_ident(name)) {
            return;
        }
        let path = format!("{}{}!", self.path(), shown(&called.path));
        let signature = format!("{around}{}! {{ {} }}", shown(&called.path), text_of(called.tokens.clone()));
        let part = self.part(None, ApiKind::Macro, signature, called.path.span());
        self.collection.free.push((path, part));
    }

    fn unknown(&mut self, tokens: &TokenStream) {
        let part = self.part(None, ApiKind::Unknown, text_of(tokens.clone()), tokens.span());
        let path = format!("{}{{unknown syntax}}", self.path());
        self.collection.free.push((path, part));
    }

    /// The module's path, ready to be followed by a name.
    fn path(&self) -> String {
        let (mut path, mut at) = (String::new(), self.module);
        while let Some(parent) = self.collection.modules[at].parent {
            path = format!("{}::{path}", self.collection.modules[at].name);
            at = parent;
        }
        path
    }
}

/// The matchers of a macro's rules, without their expansions.
fn matchers(tokens: TokenStream) -> Vec<String> {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let rules = all.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ';'));
    rules.filter_map(|rule| Some(text_of(rule.first()?.clone().into()))).collect()
}
