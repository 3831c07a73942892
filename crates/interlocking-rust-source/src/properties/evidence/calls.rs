//! Calls by path: which function is called, and the type that it returns.

use super::{NOT_AWAITED, Walk};
use crate::properties::names::{Kind, Meaning};
use crate::properties::ty::{Ty, arguments};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprPath};

impl Walk<'_, '_> {
    /// The function of the implementation that a path means.
    pub(super) fn function_of(&self, path: &ExprPath) -> Option<String> {
        if let Some(qualified) = &path.qself {
            let Ty::Own(owner) = self.read(&qualified.ty) else { return None };
            let name = path.path.segments.last()?.ident.to_string();
            return self.names.api.method(&owner, &name);
        }
        match self.meaning(&path.path, Kind::Value) {
            Meaning::Own(path) => self.names.api.function_at(&path),
            _ => None,
        }
    }

    pub(super) fn call(&mut self, call: &ExprCall, is_awaited: bool) -> Ty {
        let given = self.values_given(self.callee_outside(call).as_str(), &call.args);
        let Expr::Path(path) = unwrapped(&call.func) else {
            return match unwrapped(&call.func) {
                Expr::Closure(closure) => {
                    self.applied(closure, &given.into_iter().map(|(ty, _)| ty).collect::<Vec<_>>())
                }
                callee => match self.expression(callee) {
                    Ty::Function(function) => self.call_of(&function, call.span(), is_awaited),
                    _ => Ty::Unknown,
                },
            };
        };
        if let Some(last) = path.path.segments.last() {
            self.record_call_position(last.ident.span());
        }
        let types: Vec<Ty> = given.iter().map(|(ty, _)| ty.clone()).collect();
        if let (None, Some(name)) = (&path.qself, path.path.get_ident())
            && let Some(binding) = self.variable(&name.to_string()).cloned()
        {
            self.add_calls(&binding.from);
            return match (&binding.closure, binding.ty) {
                (Some(closure), _) => self.closure(closure, &types),
                (None, Ty::Function(function)) => self.call_of(&function, call.span(), is_awaited),
                _ => Ty::Unknown,
            };
        }
        if let Some(function) = self.function_of(path) {
            return self.call_of(&function, call.span(), is_awaited);
        }
        let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        match self.meaning(&path.path, Kind::Value) {
            Meaning::Function(routine) => {
                let receiver = types.first().cloned();
                self.routine(&routine, receiver, is_awaited)
            }
            Meaning::Outside(_) if path.qself.is_none() => self.call_outside(path, &types),
            Meaning::Own(_) => self.own_value(path, &last),
            meaning @ Meaning::Type(_) => self.constant(&meaning),
            _ => {
                self.record_possible_calls(
                    &self.names.api.ending_in(&last),
                    "what is called there cannot be seen",
                    call.span(),
                );
                Ty::Unknown
            }
        }
    }

    /// The name of the called function, if it is one of another crate.
    fn callee_outside(&self, call: &ExprCall) -> String {
        let Expr::Path(path) = unwrapped(&call.func) else { return String::new() };
        match self.meaning(&path.path, Kind::Value) {
            Meaning::Outside(mut names) => names.pop().unwrap_or_default(),
            _ => String::new(),
        }
    }

    pub(super) fn call_of(&mut self, function: &str, at: proc_macro2::Span, is_awaited: bool) -> Ty {
        if self.names.api.is_async(function) && !is_awaited {
            self.record_doubt(function, NOT_AWAITED, at);
        } else {
            self.record_call(function, at);
        }
        self.names.api.gives(function)
    }

    /// The type of a path within the crate that is not one of its public functions: a constructor, or a trait's function.
    fn own_value(&self, path: &ExprPath, last: &str) -> Ty {
        let meaning = self.meaning(&path.path, Kind::Value);
        match (&meaning, last) {
            (Meaning::Own(names), "default" | "from" | "clone") => match &names[..] {
                [.., owner, _] if self.names.api.is_type(owner) => Ty::Own(owner.clone()),
                _ => Ty::Unknown,
            },
            _ => self.constant(&meaning),
        }
    }

    /// The type of a call to a function of another crate whose result may hold its arguments.
    fn call_outside(&self, path: &ExprPath, given: &[Ty]) -> Ty {
        let Meaning::Outside(names) = self.meaning(&path.path, Kind::Value) else { return Ty::Unknown };
        let first = || given.first().cloned().unwrap_or(Ty::Unknown);
        let (last, owner) = (names.last().map_or("", String::as_str), names.iter().rev().nth(1).map(String::as_str));
        match (owner, last) {
            (_, "Some") => Ty::of("Option", first()),
            (_, "Ok") => Ty::of("Result", first()),
            (_, "Err") => Ty::Foreign("Result".to_owned(), vec![Ty::Unknown, first()]),
            (Some("Box" | "Rc" | "Arc" | "RefCell" | "Cell" | "Mutex"), "new") => {
                Ty::of(owner.unwrap_or_default(), first())
            }
            (_, "Just") => Ty::of("Strategy", first()),
            (_, "any") => {
                let drawn = arguments(&path.path, &|path| self.names.ty(self.module, path)).into_iter().next();
                Ty::of("Strategy", drawn.unwrap_or(Ty::Unknown))
            }
            (Some("collection"), "vec") => Ty::of("Strategy", Ty::of("Vec", first().drawn())),
            (Some("option"), "of") => Ty::of("Strategy", Ty::of("Option", first().drawn())),
            (Some("mem"), "take" | "replace") | (Some("hint"), "black_box") | (None, "black_box") => first(),
            (Some(owner), _) => match Ty::named(owner) {
                // `Vec::new()`, `u8::try_from(x)`: the result is of the type, or contains it.
                Ty::Foreign(name, _) => Ty::Foreign(name, path_arguments(self, path)),
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }
}

fn unwrapped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => unwrapped(&inner.expr),
        Expr::Group(inner) => unwrapped(&inner.expr),
        other => other,
    }
}

/// The type arguments of a path like `Vec::<T>::new`.
fn path_arguments(walk: &Walk<'_, '_>, path: &ExprPath) -> Vec<Ty> {
    let mut owner = path.path.clone();
    owner.segments.pop();
    arguments(&owner, &|path| walk.names.ty(walk.module, path))
}
