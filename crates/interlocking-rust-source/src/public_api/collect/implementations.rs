//! Collects `impl` blocks, also those within bodies.

use super::Reading;
use crate::functions::{for_tests, is_public};
use crate::public_api::ApiKind;
use crate::public_api::modules::{Implementation, Module};
use crate::public_api::signature::{conditions, function, generics, shown};
use syn::visit::Visit;
use syn::{ImplItem, ItemImpl, ItemMod, Path, Type};

impl Reading<'_> {
    pub(super) fn implementation(&mut self, item: &ItemImpl, around: &str) {
        let (parameters, where_) = generics(&item.generics);
        let (own, written) = (conditions(around, &item.attrs), shown(&item.self_ty));
        let mut parts = Vec::new();
        if let Some((implemented, _)) = &item.trait_ {
            let unsafety = item.unsafety.map_or("", |_| "unsafe ");
            let negative = item.modifiers.polarity.map_or("", |_| "!");
            let head = format!("{own}{unsafety}impl{parameters}");
            let mut signature = format!("{head} {negative}{} for {written}{where_}", shown(implemented));
            let mut types: Vec<String> = Vec::new();
            for member in &item.items {
                match member {
                    ImplItem::Type(ty) => types.push(format!("{} = {}", ty.ident, shown(&ty.ty))),
                    ImplItem::Macro(called) => self.called(&called.mac, &own),
                    _ => {}
                }
            }
            types.sort();
            if !types.is_empty() {
                signature.push_str(&format!(" {{ {} }}", types.join(", ")));
            }
            parts.push(self.part(None, ApiKind::Implementation, signature, item.impl_token.span));
        } else {
            // The `impl` header of a generic type is part of the signature of each of its functions.
            let is_plain = parameters.is_empty() && where_.is_empty() && !written.contains('<');
            let of = if is_plain { String::new() } else { format!("impl{parameters} {written}{where_}: ") };
            for member in &item.items {
                match member {
                    ImplItem::Fn(method) if is_public(&method.vis) && !for_tests(&method.attrs) => {
                        let signature = format!("{}{of}{}", conditions(&own, &method.attrs), function(&method.sig));
                        let name = &method.sig.ident;
                        parts.push(self.part(Some(name), ApiKind::Function, signature, name.span()));
                    }
                    ImplItem::Const(constant) if is_public(&constant.vis) => {
                        let own = conditions(&own, &constant.attrs);
                        let signature = format!("{own}{of}const {}: {}", constant.ident, shown(&constant.ty));
                        parts.push(self.part(
                            Some(&constant.ident),
                            ApiKind::Constant,
                            signature,
                            constant.ident.span(),
                        ));
                    }
                    ImplItem::Type(ty) if is_public(&ty.vis) => {
                        let signature = format!("{own}{of}type {} = {}", ty.ident, shown(&ty.ty));
                        parts.push(self.part(Some(&ty.ident), ApiKind::Type, signature, ty.ident.span()));
                    }
                    ImplItem::Macro(called) => self.called(&called.mac, &own),
                    ImplItem::Verbatim(tokens) => self.unknown(tokens),
                    _ => {}
                }
            }
        }
        let of = path_of(&item.self_ty);
        let implemented = item.trait_.as_ref().map(|(implemented, _)| names_of(implemented));
        let module = self.module;
        self.collection.implementations.push(Implementation { module, of, written, implemented, parts });
        self.implementations_in(|search| item.items.iter().for_each(|member| search.visit_impl_item(member)));
    }

    /// Collects the `impl` blocks in bodies, as they may give methods to types outside of the bodies.
    pub(super) fn implementations_in<'a>(&mut self, look: impl FnOnce(&mut Bodies<'a>)) {
        let mut bodies = Bodies { found: Vec::new(), modules: Vec::new() };
        look(&mut bodies);
        for found in bodies.found {
            self.implementation(found, "");
        }
        for found in bodies.modules {
            self.hidden_module(found);
        }
    }

    /// Collects a module in a body. Code outside of the body cannot name the module.
    fn hidden_module(&mut self, item: &ItemMod) {
        let Some((_, items)) = &item.content else { return };
        let number = self.collection.modules.len();
        let (name, parent) = (item.ident.to_string(), Some(self.module));
        self.collection.modules.push(Module { name, parent, ..Module::default() });
        let outer = std::mem::replace(&mut self.module, number);
        self.items(items, "");
        self.module = outer;
    }
}

/// Finds `impl` blocks and modules within bodies and other expressions.
pub(super) struct Bodies<'a> {
    found: Vec<&'a ItemImpl>,
    modules: Vec<&'a ItemMod>,
}

impl<'a> Visit<'a> for Bodies<'a> {
    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !for_tests(&item.attrs) {
            self.found.push(item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !for_tests(&item.attrs) {
            self.modules.push(item);
        }
    }
}

/// The path of a type, if the type is a path.
pub(super) fn path_of(ty: &Type) -> Option<Vec<String>> {
    match ty {
        Type::Path(ty) if ty.qself.is_none() => Some(names_of(&ty.path)),
        Type::Paren(inner) => path_of(&inner.elem),
        _ => None,
    }
}

fn names_of(path: &Path) -> Vec<String> {
    let names = path.segments.iter().map(|segment| segment.ident.to_string());
    path.leading_colon.map(|_| String::new()).into_iter().chain(names).collect()
}
