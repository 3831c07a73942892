//! Finds the file of a module.

use syn::{Attribute, Expr, Meta};

/// The path of an attribute `#[path = "other.rs"]`.
pub(super) fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(given) if given.path.is_ident("path") => match &given.value {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

pub(super) fn directory_of(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(directory, _)| directory.to_owned())
}

/// Joins two paths and resolves `..` and `.`.
pub(super) fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
