//! Calls of methods: which method is called, by the type of the receiver, and the type that it returns.

use super::{Scope, Walk};
use crate::properties::names::{Kind, Meaning, Routine};
use crate::properties::ty::Ty;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ExprMethodCall};

impl Walk<'_, '_> {
    pub(super) fn method_call(&mut self, call: &ExprMethodCall, is_awaited: bool) -> Ty {
        let name = call.method.to_string();
        let receiver = self.expression(&call.receiver);
        self.record_call_position(call.method.span());
        self.on(&receiver, &name, call, is_awaited)
    }

    fn on(&mut self, receiver: &Ty, name: &str, call: &ExprMethodCall, is_awaited: bool) -> Ty {
        match receiver {
            Ty::Own(owner) => {
                if let Some(function) = self.names.api.method(owner, name) {
                    self.values(&call.args);
                    return self.call_of(&function, call.method.span(), is_awaited);
                }
                if let Some(found) = self.routine_on(owner, receiver, name, call, is_awaited) {
                    return found;
                }
                self.values(&call.args);
                self.record_possible_trait_calls(name, call);
                if is_same(name) { receiver.clone() } else { Ty::Unknown }
            }
            Ty::Local(owner) => match self.routine_on(owner, receiver, name, call, is_awaited) {
                Some(found) => found,
                None => {
                    self.values(&call.args);
                    self.record_possible_trait_calls(name, call);
                    if is_same(name) { receiver.clone() } else { Ty::Unknown }
                }
            },
            Ty::Foreign(pointer, held) if matches!(pointer.as_str(), "Box" | "Rc" | "Arc") && held.len() == 1 => {
                self.on(&held[0], name, call, is_awaited)
            }
            Ty::Foreign(..) => self.on_foreign(receiver, name, call),
            Ty::Tuple(_) => {
                self.values(&call.args);
                if is_same(name) { receiver.clone() } else { Ty::Unknown }
            }
            Ty::Function(_) | Ty::Unknown => {
                self.values_given(name, &call.args);
                let why = format!("what `{name}` is called on cannot be seen; write its type with `let`");
                self.record_possible_calls(&self.names.api.methods_named(name), &why, call.method.span());
                Ty::Unknown
            }
        }
    }

    fn record_possible_trait_calls(&mut self, name: &str, call: &ExprMethodCall) {
        let why = "what it is called on is not seen to have that trait";
        self.record_possible_calls(&self.names.api.of_traits(name), why, call.method.span());
    }

    /// Visits a method that the test file itself defines.
    fn routine_on(
        &mut self,
        owner: &str,
        receiver: &Ty,
        name: &str,
        call: &ExprMethodCall,
        is_awaited: bool,
    ) -> Option<Ty> {
        let routine = self.names.method(owner, name)?;
        self.values(&call.args);
        match routine {
            Some(routine) => Some(self.routine(&routine, Some(receiver.clone()), is_awaited)),
            None => {
                let why = "the file has several functions of that name";
                self.record_possible_calls(&self.names.api.methods_named(name), why, call.method.span());
                Some(Ty::Unknown)
            }
        }
    }

    fn on_foreign(&mut self, receiver: &Ty, name: &str, call: &ExprMethodCall) -> Ty {
        if receiver.passes_methods_on() {
            let why = "what it is called on may pass it on to what it holds";
            self.record_possible_calls(&self.names.api.methods_named(name), why, call.method.span());
        } else {
            self.record_possible_trait_calls(name, call);
        }
        let Ty::Foreign(kind, _) = receiver else { return Ty::Unknown };
        let held = if kind == "Strategy" || kind == "Range" { receiver.drawn() } else { receiver.held() };
        let given = self.arguments_of(call, &held);
        let first = || given.first().cloned().unwrap_or(Ty::Unknown);
        let closure_value = || first().held();
        match (kind.as_str(), name) {
            (_, "collect") => call.turbofish.as_ref().map_or(Ty::Unknown, |written| {
                let ty = written.args.iter().find_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(self.read(ty)),
                    _ => None,
                });
                ty.unwrap_or(Ty::Unknown)
            }),
            ("Strategy" | "Range" | "literal", "prop_map") => Ty::of("Strategy", closure_value()),
            ("Strategy" | "Range", "prop_flat_map") => Ty::of("Strategy", closure_value().drawn()),
            ("Strategy" | "Range", "boxed" | "prop_filter" | "prop_shuffle" | "no_shrink") => Ty::of("Strategy", held),
            ("Option" | "Result", "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else") => held,
            (
                "Option" | "Result",
                "ok" | "as_ref" | "as_mut" | "ok_or" | "ok_or_else" | "take" | "cloned" | "copied",
            ) => Ty::of(if matches!(name, "ok_or" | "ok_or_else") { "Result" } else { "Option" }, held),
            ("Result", "unwrap_err" | "expect_err") => match receiver {
                Ty::Foreign(_, parts) => parts.get(1).cloned().unwrap_or(Ty::Unknown),
                _ => Ty::Unknown,
            },
            ("Result", "map_err") => Ty::of("Result", held),
            ("Option" | "Result" | "Iter" | "Range", "map") => {
                Ty::of(if kind == "Range" { "Iter" } else { kind }, closure_value())
            }
            ("Option" | "Result", "and_then") | ("Iter" | "Range", "filter_map" | "flat_map") => {
                Ty::of(if kind == "Range" { "Iter" } else { kind }, closure_value().held())
            }
            (
                _,
                "next" | "last" | "first" | "get" | "pop" | "nth" | "last_mut" | "first_mut" | "get_mut" | "next_back"
                | "pop_front" | "pop_back" | "front" | "back" | "find" | "min" | "max" | "peek",
            ) => Ty::of("Option", held),
            (_, "enumerate") => Ty::of("Iter", Ty::Tuple(vec![Ty::foreign("number"), held])),
            (_, "zip") => Ty::of("Iter", Ty::Tuple(vec![held, first().held()])),
            (_, "windows" | "chunks" | "chunks_exact") => Ty::of("Iter", Ty::of("Vec", held)),
            (
                _,
                "iter" | "iter_mut" | "into_iter" | "drain" | "rev" | "take" | "skip" | "step_by" | "chain" | "cycle"
                | "peekable" | "by_ref" | "inspect" | "filter" | "take_while" | "skip_while" | "copied" | "cloned",
            ) => Ty::of("Iter", held),
            (_, name) if is_same(name) => receiver.clone(),
            // Neither receiver nor arguments hold a type of the crate, so the result holds none.
            _ if receiver.is_plain() && given.iter().all(Ty::is_plain) && !makes_anything(name) => Ty::foreign("plain"),
            _ => Ty::Unknown,
        }
    }

    /// Visits a call's arguments and returns their types. If the method is one of [`CALLING`], a function or closure among the
    /// arguments is called with what the receiver holds.
    fn arguments_of(&mut self, call: &ExprMethodCall, held: &Ty) -> Vec<Ty> {
        if call.method == "block_on" {
            return call.args.iter().map(|argument| self.awaited(argument)).collect();
        }
        let calls_it = CALLING.iter().any(|name| call.method == name);
        call.args
            .iter()
            .map(|argument| match self.function_given(argument).filter(|_| calls_it) {
                Some(given) => Ty::of("closure", self.given(&given, held, argument)),
                None => self.value(argument),
            })
            .collect()
    }

    fn function_given(&self, argument: &Expr) -> Option<Given> {
        match argument {
            Expr::Closure(closure) => Some(Given::Closure(Box::new(closure.clone()))),
            Expr::Path(path) => {
                let variable = path.path.get_ident().and_then(|name| self.variable(&name.to_string()));
                match (variable, self.function_of(path), self.meaning(&path.path, Kind::Value)) {
                    (Some(binding), ..) => binding.closure.clone().map(Given::Bound),
                    (None, Some(function), _) => Some(Given::Own(function)),
                    (None, None, Meaning::Function(routine)) => Some(Given::Routine(routine)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn given(&mut self, given: &Given, held: &Ty, argument: &Expr) -> Ty {
        match given {
            Given::Closure(closure) => self.applied(closure, std::slice::from_ref(held)),
            Given::Bound(closure) => self.closure(closure, std::slice::from_ref(held)),
            Given::Routine(routine) => self.routine(routine, None, false),
            Given::Own(function) => self.call_of(function, argument.span(), false),
        }
    }
}

/// A function that is passed to a method.
enum Given {
    Closure(Box<ExprClosure>),
    Bound(Rc<(ExprClosure, Vec<Scope>)>),
    Routine(Rc<Routine>),
    Own(String),
}

/// Methods of the standard library and of strategies that call the function that is passed to them, once there is a value to call
/// it with.
const CALLING: [&str; 40] = [
    "all",
    "and_then",
    "any",
    "filter",
    "filter_map",
    "find",
    "find_map",
    "flat_map",
    "fold",
    "for_each",
    "inspect",
    "is_none_or",
    "is_ok_and",
    "is_some_and",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "map_while",
    "max_by_key",
    "min_by_key",
    "or_else",
    "partition",
    "position",
    "prop_filter",
    "prop_filter_map",
    "prop_flat_map",
    "prop_map",
    "reduce",
    "retain",
    "scan",
    "skip_while",
    "sort_by",
    "sort_by_key",
    "take_while",
    "try_fold",
    "try_for_each",
    "unwrap_or_else",
    "update",
    "then",
];

/// Methods that return their receiver, or a copy of it.
fn is_same(name: &str) -> bool {
    matches!(
        name,
        "clone" | "to_owned" | "as_ref" | "as_mut" | "borrow" | "borrow_mut" | "by_ref" | "to_vec" | "as_slice"
    )
}

/// Methods whose result type the caller chooses.
fn makes_anything(name: &str) -> bool {
    matches!(name, "into" | "try_into" | "parse" | "sum" | "product" | "fold" | "collect" | "map" | "and_then" | "then")
}
