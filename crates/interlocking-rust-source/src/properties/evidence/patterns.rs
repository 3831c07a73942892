//! The names that patterns bind.

use super::{Binding, Walk};
use crate::properties::ty::Ty;
use std::collections::BTreeSet;
use syn::Pat;

impl Walk<'_, '_> {
    pub(super) fn remember(&mut self, name: &str, ty: Ty, from: &BTreeSet<String>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), Binding { ty, from: from.clone(), closure: None });
        }
    }

    /// Binds the names of a pattern to the parts of a value of type `ty` that comes from the functions `from`.
    pub(super) fn bind(&mut self, pattern: &Pat, ty: Ty, from: &BTreeSet<String>) {
        match pattern {
            Pat::Ident(name) => {
                if let Some((_, inner)) = &name.subpat {
                    self.bind(inner, ty.clone(), from);
                }
                self.remember(&name.ident.to_string(), ty, from);
            }
            Pat::Type(typed) => {
                let annotated = self.read(&typed.ty);
                self.bind(&typed.pat, if annotated == Ty::Unknown { ty } else { annotated }, from);
            }
            Pat::Paren(inner) => self.bind(&inner.pat, ty, from),
            Pat::Reference(inner) => self.bind(&inner.pat, ty, from),
            Pat::Guard(inner) => {
                self.bind(&inner.pat, ty, from);
                self.expression(&inner.guard);
            }
            Pat::Tuple(tuple) => {
                let has_rest = tuple.elems.iter().any(|element| matches!(element, Pat::Rest(_)));
                for (at, element) in tuple.elems.iter().enumerate() {
                    let part = match &ty {
                        Ty::Tuple(parts) if !has_rest => parts.get(at).cloned(),
                        _ => None,
                    };
                    self.bind(element, part.unwrap_or(Ty::Unknown), from);
                }
            }
            Pat::TupleStruct(tuple) => {
                let variant = tuple.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                let part = match (&ty, variant.as_str()) {
                    (Ty::Foreign(name, parts), "Some" | "Ok") if matches!(name.as_str(), "Option" | "Result") => {
                        parts.first().cloned()
                    }
                    (Ty::Foreign(name, parts), "Err") if name == "Result" => parts.get(1).cloned(),
                    _ => None,
                };
                for element in &tuple.elems {
                    self.bind(element, part.clone().unwrap_or(Ty::Unknown), from);
                }
            }
            Pat::Slice(slice) => {
                for element in &slice.elems {
                    self.bind(element, ty.held(), from);
                }
            }
            Pat::Struct(structure) => {
                for field in &structure.fields {
                    self.bind(&field.pat, Ty::Unknown, from);
                }
            }
            Pat::Or(either) => {
                for case in &either.cases {
                    self.bind(case, ty.clone(), from);
                }
            }
            _ => {}
        }
    }
}
