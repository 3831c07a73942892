//! The names of the generated items: the module of markers and the markers, and their visibility.

use crate::ast::{GraphModel, Node, Place, Slot};
use interlocking_core::naming::snake_case;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericArgument, Ident, Path, PathArguments, Type, Visibility};

/// The module's name for a struct: snake case, raw if that is a keyword.
pub(crate) fn module(graph: &Ident) -> Ident {
    let name = snake_case(&graph.unraw().to_string());
    // `gen` is a keyword since edition 2024, which syn does not know.
    let is_keyword = syn::parse_str::<Ident>(&name).is_err() || name == "gen";
    let is_plain = !is_keyword || matches!(name.as_str(), "crate" | "self" | "super");
    if is_plain { Ident::new(&name, graph.span()) } else { Ident::new_raw(&name, graph.span()) }
}

/// The marker of a join's slot: `desk_spell`.
pub(crate) fn slot_marker(join: &Node<'_>, slot: &Slot) -> Ident {
    format_ident!("{}_{}", join.name, slot.name(), span = slot.name.span())
}

/// The name of a place's marker.
pub(crate) fn marker(graph: &GraphModel<'_>, place: Place) -> Ident {
    match place {
        Place::Exit => Ident::new(crate::ast::EXIT, Span::call_site()),
        Place::Node(node) => graph.nodes[node].ident.clone(),
        Place::Slot(join, slot) => slot_marker(&graph.nodes[join], &graph.nodes[join].slots()[slot]),
    }
}

/// The path of a type, also in parentheses or in the invisible group that a macro makes for a fragment, `$kind:ty`.
fn path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(found) => Some(&found.path),
        Type::Paren(inner) => path(&inner.elem),
        Type::Group(inner) => path(&inner.elem),
        _ => None,
    }
}

/// The last name in a path: `Newsroom` of `crate::news::Newsroom`.
pub(crate) fn last_name(ty: &Type) -> Option<String> {
    path(ty)?.segments.last().map(|segment| segment.ident.unraw().to_string())
}

/// Whether a type is spelled with the name alone: `Newsroom`, which in the scope of the struct `Newsroom` is that struct.
/// `other::Newsroom` may be another.
pub(crate) fn is_name(ty: &Type, name: &Ident) -> bool {
    path(ty).and_then(Path::get_ident).is_some_and(|found| found.unraw() == name.unraw())
}

/// Whether two types are spelled alike, as far as both are: `news::Review` and `crate::news::Review`, or `Review`.
pub(crate) fn are_alike(one: &Type, other: &Type) -> bool {
    let (Some(one), Some(other)) = (path(one), path(other)) else { return false };
    let names = |path: &Path| path.segments.iter().rev().map(|segment| segment.ident.unraw()).collect::<Vec<_>>();
    names(one).iter().zip(&names(other)).all(|(one, other)| one == other)
}

/// The first type in a path's angle brackets: `review::Review` in `GraphNode<review::Review>`.
pub(crate) fn argument(ty: &Type) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &path(ty)?.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    }
}

/// Whether a path ends without angle brackets: `LLMNode`.
pub(crate) fn has_no_arguments(ty: &Type) -> bool {
    path(ty).and_then(|path| path.segments.last()).is_some_and(|last| last.arguments.is_none())
}

/// The visibility that means one module deeper what `visibility` means here.
pub(crate) fn one_module_deeper(visibility: &Visibility) -> TokenStream {
    let Visibility::Restricted(restricted) = visibility else {
        return match visibility {
            Visibility::Inherited => quote!(pub(super)),
            _ => quote!(#visibility),
        };
    };
    let path = &restricted.path;
    match path.segments.first().map(|segment| segment.ident.to_string()).as_deref() {
        Some("self") if path.segments.len() == 1 => quote!(pub(super)),
        Some("self") => {
            let rest = path.segments.iter().skip(1);
            quote!(pub(in super #(::#rest)*))
        }
        Some("super") => quote!(pub(in super::#path)),
        _ => quote!(#visibility),
    }
}

#[cfg(test)]
mod tests {
    use super::{are_alike, argument, has_no_arguments, is_name, last_name, module, one_module_deeper};
    use proc_macro2::{Delimiter, Group, TokenTree};
    use syn::{Type, parse_str};

    #[test]
    fn a_module_named_like_a_keyword_is_raw() {
        assert_eq!(module(&parse_str("HTTPServer").unwrap()).to_string(), "http_server");
        assert_eq!(module(&parse_str("Match").unwrap()).to_string(), "r#match");
        assert_eq!(module(&parse_str("Gen").unwrap()).to_string(), "r#gen");
        assert_eq!(module(&parse_str("Crate").unwrap()).to_string(), "crate");
    }

    #[test]
    fn a_path_may_stand_in_parentheses_or_in_the_group_of_a_macros_fragment() {
        let wraps: [fn(&str) -> Type; 3] = [
            |ty| parse_str(ty).unwrap(),
            |ty| parse_str(&format!("({ty})")).unwrap(),
            |ty| syn::parse2(TokenTree::from(Group::new(Delimiter::None, ty.parse().unwrap())).into()).unwrap(),
        ];
        for wrap in wraps {
            assert_eq!(last_name(&wrap("crate::news::Newsroom")).as_deref(), Some("Newsroom"));
            let held = wrap("GraphNode<review::Review>");
            assert_eq!(argument(&held).and_then(last_name).as_deref(), Some("Review"));
            assert!(is_name(&wrap("Review"), &parse_str("Review").unwrap()));
            for (one, other, alike) in [
                ("review::Review", "Review", true),
                ("review::Review", "crate::review::Review", true),
                ("review::Review", "handlers::Review", false),
                ("review::Review", "Verdict", false),
            ] {
                assert_eq!(are_alike(&wrap(one), &wrap(other)), alike, "{one} and {other}");
            }
            assert!(has_no_arguments(&wrap("LLMNode")) && !has_no_arguments(&wrap("LLMNode<Write>")));
        }
        assert_eq!(last_name(&parse_str("&Newsroom").unwrap()), None);
    }

    #[test]
    fn a_marker_is_as_visible_as_its_field() {
        for (field, marker) in [
            ("", "pub (super)"),
            ("pub", "pub"),
            ("pub(crate)", "pub (crate)"),
            ("pub(self)", "pub (super)"),
            ("pub(super)", "pub (in super :: super)"),
            ("pub(in super::super)", "pub (in super :: super :: super)"),
            ("pub(in crate::news)", "pub (in crate :: news)"),
        ] {
            assert_eq!(one_module_deeper(&parse_str(field).unwrap()).to_string(), marker);
        }
    }
}
