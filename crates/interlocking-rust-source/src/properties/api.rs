//! The types, traits and functions of a crate's implementation file that its tests can use.

use super::ty::Ty;
use crate::SourceError;
use crate::functions::{is_public, resolve_name, type_name};
use crate::syntax::read;
use std::collections::{BTreeMap, BTreeSet};
use syn::{ImplItem, Item, ReturnType, Signature, TraitItem};

/// The functions of an implementation file, and its types and traits, by which method calls in tests are resolved.
#[derive(Debug, Default)]
pub(super) struct Api {
    /// The name by which integration tests import the crate.
    pub(super) package: String,
    /// The functions by name, with the type or trait (`BoundedStack::push`), and the type of a call; `None` if two functions have
    /// the name.
    functions: BTreeMap<String, Option<Ty>>,
    /// The functions that are `async`: a call runs nothing of them until it is awaited.
    asynchronous: BTreeSet<String>,
    types: BTreeSet<String>,
    traits: BTreeSet<String>,
    /// Pairs of a type and a trait that it implements.
    implemented: BTreeSet<(String, String)>,
}

impl Api {
    pub(super) fn of(package: &str, path: &str, text: &str) -> Result<Self, SourceError> {
        read(path, text, |file| {
            let mut api = Self { package: package.to_owned(), ..Self::default() };
            api.types(&file.items);
            api.functions(&file.items);
            api
        })
    }

    fn types(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(item) => _ = self.types.insert(item.ident.to_string()),
                Item::Enum(item) => _ = self.types.insert(item.ident.to_string()),
                Item::Union(item) => _ = self.types.insert(item.ident.to_string()),
                Item::Trait(item) => _ = self.traits.insert(item.ident.to_string()),
                Item::Mod(item) => self.types(item.content.as_ref().map_or(&[], |(_, items)| items)),
                _ => {}
            }
        }
    }

    fn functions(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(item) if is_public(&item.vis) => self.function("", &item.sig),
                Item::Impl(item) => {
                    let Some(owner) = type_name(&item.self_ty) else { continue };
                    if let Some((path, _)) = &item.trait_ {
                        let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                        self.implemented.insert((owner, name));
                        continue;
                    }
                    for member in &item.items {
                        if let ImplItem::Fn(method) = member
                            && is_public(&method.vis)
                        {
                            self.function(&owner, &method.sig);
                        }
                    }
                }
                Item::Trait(item) => {
                    for member in &item.items {
                        if let TraitItem::Fn(method) = member {
                            self.function(&item.ident.to_string(), &method.sig);
                        }
                    }
                }
                Item::Mod(item) => self.functions(item.content.as_ref().map_or(&[], |(_, items)| items)),
                _ => {}
            }
        }
    }

    fn function(&mut self, owner: &str, signature: &Signature) {
        let name = signature.ident.to_string();
        let named = |path: &syn::Path| match path.segments.last().map(|last| last.ident.to_string()) {
            Some(name) if name == "Self" && self.types.contains(owner) => Ty::Own(owner.to_owned()),
            // A type called `Result` is assumed to be an alias whose first parameter is the success type.
            Some(name) if self.types.contains(&name) && name != "Result" => Ty::Own(name),
            Some(name) => Ty::named(&name),
            None => Ty::Unknown,
        };
        let gives = match &signature.output {
            ReturnType::Default => Ty::Tuple(Vec::new()),
            ReturnType::Type(_, ty) => Ty::read(ty, &named),
        };
        let key = if owner.is_empty() { name } else { format!("{owner}::{name}") };
        if signature.asyncness.is_some() {
            self.asynchronous.insert(key.clone());
        }
        self.functions.entry(key).and_modify(|known| *known = None).or_insert(Some(gives));
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    /// Whether there is a type, trait or function of this name that tests can import.
    pub(super) fn offers(&self, name: &str) -> bool {
        self.types.contains(name) || self.traits.contains(name) || self.functions.contains_key(name)
    }

    /// The function that a path within the crate means.
    pub(super) fn function_at(&self, path: &[String]) -> Option<String> {
        let (name, before) = path.split_last()?;
        match before.last() {
            Some(owner) if self.types.contains(owner) => self.method(owner, name),
            Some(owner) if self.traits.contains(owner) => Some(format!("{owner}::{name}")).filter(|key| self.has(key)),
            _ => Some(name.clone()).filter(|key| self.has(key)),
        }
    }

    /// The function that a method call on a value of a type of the crate means.
    pub(super) fn method(&self, owner: &str, name: &str) -> Option<String> {
        let own = format!("{owner}::{name}");
        if self.has(&own) {
            return Some(own);
        }
        let of = self.implemented.iter().filter(|(implementer, _)| implementer == owner);
        of.map(|(_, implemented)| format!("{implemented}::{name}")).find(|key| self.has(key))
    }

    fn has(&self, key: &str) -> bool {
        self.functions.contains_key(key)
    }

    pub(super) fn is_async(&self, key: &str) -> bool {
        self.asynchronous.contains(key)
    }

    /// The type that a call of a function returns.
    pub(super) fn gives(&self, key: &str) -> Ty {
        self.functions.get(key).cloned().flatten().unwrap_or(Ty::Unknown)
    }

    /// The names of all functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Every function with this name, whatever its type or trait.
    pub(super) fn ending_in(&self, name: &str) -> Vec<String> {
        self.functions
            .keys()
            .filter(|key| key.rsplit_once("::").map_or(key.as_str(), |(_, own)| own) == name)
            .cloned()
            .collect()
    }

    /// Every method of this name.
    pub(super) fn methods_named(&self, name: &str) -> Vec<String> {
        self.ending_in(name).into_iter().filter(|key| key.contains("::")).collect()
    }

    /// Every method of this name that a trait declares.
    pub(super) fn of_traits(&self, name: &str) -> Vec<String> {
        let of_a_trait = |key: &String| key.rsplit_once("::").is_some_and(|(owner, _)| self.traits.contains(owner));
        self.ending_in(name).into_iter().filter(of_a_trait).collect()
    }

    /// The function that a name in the contract means; `None` if there is not exactly one.
    pub(super) fn meant_by(&self, name: &str) -> Option<&str> {
        let meant = resolve_name(self.functions.keys().map(String::as_str), name)?;
        self.functions.get(meant)?.as_ref().map(|_| meant)
    }
}
