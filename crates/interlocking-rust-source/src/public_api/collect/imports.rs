//! Collects the imports of a module, with their names.

use super::Reading;
use crate::public_api::modules::Import;
use proc_macro2::Span;
use syn::{Ident, UseTree};

impl Reading<'_> {
    pub(super) fn import(&mut self, path: &mut Vec<String>, tree: &UseTree, is_public: bool, own: &str) {
        let depth = path.len();
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(path, &inner.tree, is_public, own);
            }
            UseTree::Name(name) if name.ident == "self" => {
                let last = path.last().map(|last| Ident::new(last, name.ident.span()));
                self.bind(last.as_ref(), path.clone(), is_public, own, name.ident.span());
            }
            UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.bind(Some(&name.ident), path.clone(), is_public, own, name.ident.span());
            }
            UseTree::Rename(renamed) => {
                if renamed.ident != "self" {
                    path.push(renamed.ident.to_string());
                }
                self.bind(Some(&renamed.rename), path.clone(), is_public, own, renamed.rename.span());
            }
            UseTree::Glob(glob) => self.bind(None, path.clone(), is_public, own, glob.star_token.spans[0]),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(path, tree, is_public, own);
                }
            }
        }
        path.truncate(depth);
    }

    pub(super) fn bind(&mut self, name: Option<&Ident>, path: Vec<String>, is_public: bool, own: &str, at: Span) {
        // `use path as _;` has no name.
        if name.is_some_and(|name| name == "_") {
            return;
        }
        let (name, conditions, place) = (name.map(ToString::to_string), own.to_owned(), self.place(at));
        self.collection.modules[self.module].imports.push(Import { name, path, is_public, conditions, place });
    }
}
