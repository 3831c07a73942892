//! What types implement, also within bodies.

use super::Reading;
use crate::functions::{for_tests, is_public};
use crate::public_api::ApiKind;
use crate::public_api::modules::Implementation;
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
            // Of a generic type, what it is of belongs to each of its functions.
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
        let of = match &*item.self_ty {
            Type::Path(ty) if ty.qself.is_none() => Some(path_of(&ty.path)),
            _ => None,
        };
        let implemented = item.trait_.as_ref().map(|(implemented, _)| path_of(implemented));
        let module = self.module;
        self.collection.implementations.push(Implementation { module, of, written, implemented, parts });
        for member in &item.items {
            if let ImplItem::Fn(method) = member {
                self.implementations_in(|search| search.visit_block(&method.block));
            }
        }
    }

    /// A body may give methods to a type that is outside of it.
    pub(super) fn implementations_in<'a>(&mut self, look: impl FnOnce(&mut Bodies<'a>)) {
        let mut bodies = Bodies { found: Vec::new() };
        look(&mut bodies);
        for found in bodies.found {
            self.implementation(found, "");
        }
    }
}

/// Looks for implementations within bodies.
pub(super) struct Bodies<'a> {
    found: Vec<&'a ItemImpl>,
}

impl<'a> Visit<'a> for Bodies<'a> {
    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        self.found.push(item);
    }

    fn visit_item_mod(&mut self, _: &'a ItemMod) {}
}

fn path_of(path: &Path) -> Vec<String> {
    let names = path.segments.iter().map(|segment| segment.ident.to_string());
    path.leading_colon.map(|_| String::new()).into_iter().chain(names).collect()
}
