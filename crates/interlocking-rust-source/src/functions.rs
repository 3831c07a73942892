//! The public functions of a file.

use std::collections::{BTreeMap, BTreeSet};

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Block, File, Ident, ImplItem, Item, Meta, Token, TraitItem, Type, UseTree, Visibility};

use crate::stubs::MarkerSyntax;
use crate::syntax::{is_identifier, read};
use crate::{ApiKind, PublicApi, SourceError, StubMarkers};

/// A function that other crates, or other files, can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicFunction {
    /// The function's name, with its modules within the file and, for a method, its type or trait:
    /// `BoundedStack::push`.
    pub name: String,
    /// The line in which the function begins, counted from 1.
    pub line: usize,
    /// The column in which the function begins, counted from 1.
    pub column: usize,
    /// Whether the body is a stub; `None` for a trait's method without a body.
    pub is_stub: Option<bool>,
}

/// Lists the public functions of a file: functions, methods of public types, methods of public traits.
///
/// Methods that implement a trait, and items that are compiled only for tests, are left out. A function in a private module
/// counts if the file re-exports anything from that module, and a method counts in whatever module its type gets it, unless the
/// file shows that other crates cannot name the type.
///
/// # Errors
///
/// [`SourceError`] if the file is not Rust.
pub fn public_functions(path: &str, text: &str, markers: &StubMarkers) -> Result<Vec<PublicFunction>, SourceError> {
    read(path, text, |file| {
        let mut found = Vec::new();
        let exported = exported_functions(path, file);
        Collector { markers: &markers.syntax(), exported, found: &mut found }.items(&file.items, "", true);
        found
    })
}

struct Collector<'a> {
    markers: &'a MarkerSyntax,
    /// As [`exported_functions`] gives them.
    exported: Option<BTreeMap<(usize, usize), String>>,
    found: &'a mut Vec<PublicFunction>,
}

impl Collector<'_> {
    fn items(&mut self, items: &[Item], prefix: &str, is_reachable: bool) {
        let visibilities = type_visibilities(items);
        let reexported = reexported_modules(items);
        for item in items {
            match item {
                Item::Fn(item)
                    if is_public(&item.vis)
                        && !for_tests(&item.attrs)
                        && (is_reachable || self.is_exported(&item.sig.ident)) =>
                {
                    self.function(prefix, &item.sig.ident, item.sig.span(), Some(&item.block));
                }
                Item::Impl(item) if item.trait_.is_none() && !for_tests(&item.attrs) => {
                    let Some(owner) = type_name(&item.self_ty) else {
                        continue;
                    };
                    // A type of another file may be public, so its methods count.
                    if visibilities.get(&owner) == Some(&false) {
                        continue;
                    }
                    let is_here = is_reachable || visibilities.contains_key(&owner);
                    let prefix = format!("{prefix}{owner}::");
                    for member in &item.items {
                        if let ImplItem::Fn(method) = member
                            && is_public(&method.vis)
                            && !for_tests(&method.attrs)
                            && (is_reachable || self.is_exported(&method.sig.ident))
                        {
                            let of_type = self.type_path(&method.sig.ident).filter(|_| !is_here);
                            let prefix = of_type.as_ref().unwrap_or(&prefix);
                            self.function(prefix, &method.sig.ident, method.sig.span(), Some(&method.block));
                        }
                    }
                }
                Item::Trait(item) if is_public(&item.vis) && !for_tests(&item.attrs) => {
                    let prefix = format!("{prefix}{}::", item.ident);
                    for member in &item.items {
                        if let TraitItem::Fn(method) = member
                            && !for_tests(&method.attrs)
                            && (is_reachable || self.is_exported(&method.sig.ident))
                        {
                            let body = method.default.as_ref();
                            self.function(&prefix, &method.sig.ident, method.sig.span(), body);
                        }
                    }
                }
                Item::Mod(item) if !for_tests(&item.attrs) => {
                    let name = item.ident.to_string();
                    let is_reachable = is_reachable && (is_public(&item.vis) || reexported.contains(&name));
                    if let Some((_, items)) = &item.content {
                        self.items(items, &format!("{prefix}{name}::"), is_reachable);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether other crates can name a function, whatever modules it is in.
    fn is_exported(&self, name: &Ident) -> bool {
        self.exported.as_ref().is_none_or(|exported| exported.contains_key(&position(name)))
    }

    /// The public path of the type that has a method, ready to be followed by a name; `None` if the file does not define the type.
    fn type_path(&self, method: &Ident) -> Option<String> {
        let path = self.exported.as_ref()?.get(&position(method))?.strip_suffix(&method.to_string())?;
        path.split("::").all(|name| name.is_empty() || is_identifier(name)).then(|| path.to_owned())
    }

    fn function(&mut self, prefix: &str, name: &Ident, span: proc_macro2::Span, body: Option<&Block>) {
        self.found.push(PublicFunction {
            name: format!("{prefix}{name}"),
            line: span.start().line,
            column: span.start().column + 1,
            is_stub: body.map(|body| self.markers.is_stub(body)),
        });
    }
}

/// The public paths of the functions that other crates can name, by the positions of their names; `None` if there are too many.
fn exported_functions(path: &str, file: &File) -> Option<BTreeMap<(usize, usize), String>> {
    let api = PublicApi::of_syntax(path, file).ok()?;
    let functions = api.items.into_iter().filter(|item| item.kind == ApiKind::Function);
    Some(functions.map(|item| ((item.line, item.column), item.path)).collect())
}

fn position(name: &Ident) -> (usize, usize) {
    let start = name.span().start();
    (start.line, start.column + 1)
}

/// The types that these items define, and whether each is public.
fn type_visibilities(items: &[Item]) -> BTreeMap<String, bool> {
    let mut types = BTreeMap::new();
    for item in items {
        let (name, visibility) = match item {
            Item::Struct(item) => (&item.ident, &item.vis),
            Item::Enum(item) => (&item.ident, &item.vis),
            Item::Union(item) => (&item.ident, &item.vis),
            _ => continue,
        };
        types.insert(name.to_string(), is_public(visibility));
    }
    types
}

/// The modules from which these items publicly re-export something.
fn reexported_modules(items: &[Item]) -> BTreeSet<String> {
    fn collect(tree: &UseTree, modules: &mut BTreeSet<String>) {
        match tree {
            UseTree::Path(path) if path.ident == "self" || path.ident == "crate" => {
                collect(&path.tree, modules);
            }
            UseTree::Path(path) => {
                modules.insert(path.ident.to_string());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, modules)),
            UseTree::Name(_) | UseTree::Rename(_) | UseTree::Glob(_) => {}
        }
    }
    let mut modules = BTreeSet::new();
    for item in items {
        if let Item::Use(item) = item
            && is_public(&item.vis)
        {
            collect(&item.tree, &mut modules);
        }
    }
    modules
}

pub(crate) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Whether an item is compiled only for tests: it has `#[test]`, or a `cfg` that requires `test`.
pub(crate) fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => {
            list.path.is_ident("cfg") && list.parse_args().is_ok_and(|condition| wants_test(&condition))
        }
        Meta::NameValue(_) => false,
    })
}

fn wants_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else { return condition.path().is_ident("test") };
    let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return false };
    if list.path.is_ident("all") {
        parts.iter().any(wants_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(wants_test)
    }
}

pub(crate) fn type_name(r#type: &Type) -> Option<String> {
    match r#type {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Type::Group(group) => type_name(&group.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        _ => None,
    }
}

/// The function that a name means: the function with exactly this name, or the only one that it can mean.
pub fn resolve_name<'n>(functions: impl Iterator<Item = &'n str>, name: &str) -> Option<&'n str> {
    let mut fitting: Vec<&str> = functions.filter(|function| named_by(function, name)).collect();
    if fitting.contains(&name) {
        fitting.retain(|function| *function == name);
    }
    match fitting[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// Whether two names can mean the same function: equal, or one is the other without its leading modules or
/// type (`push` and `BoundedStack::push`, but not `Queue::push` and `BoundedStack::push`).
fn named_by(function: &str, name: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|front| front.is_empty() || front.ends_with("::"))
    };
    ends_with(function, name) || ends_with(name, function)
}
