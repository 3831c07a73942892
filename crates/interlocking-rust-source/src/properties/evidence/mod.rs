//! Determines from a property's text which functions of the implementation it calls, and what it compares.
//!
//! The walk visits the property and the functions of its file that it calls, and tracks the types of values as far as the text
//! shows them: by constructors, signatures, annotations and strategies. A call counts only if it certainly calls a function of
//! the implementation. Otherwise the reason for the doubt is kept.

mod calls;
mod expressions;
mod macros;
mod methods;
mod patterns;

use super::conditions::asks_conditions;
use super::names::{Kind, Meaning, Names, Routine};
use super::outcomes::Assertion;
use super::ty::Ty;
use crate::proptest::{Drawn, ProptestFunction};
use crate::symbols::Columns;
use proc_macro2::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use syn::{Block, Expr, ExprClosure, FnArg, Item, ItemFn, ReturnType, Stmt};

/// What was found in a property.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// The functions of the implementation that the property calls.
    pub(super) calls: BTreeSet<String>,
    /// The functions that it may call, each with the reason for the doubt.
    pub(super) doubts: BTreeMap<String, String>,
    /// The positions of the names of all calls that run as far as the text shows: line and column, both counted from 1.
    pub(super) live_calls: BTreeSet<(usize, usize)>,
    /// What the property compares.
    pub(super) assertions: BTreeSet<Assertion>,
    /// The literals in the property's code.
    pub(super) literals: BTreeSet<String>,
}

impl Evidence {
    /// Converts columns in characters to columns in bytes.
    pub(super) fn columns_in_bytes(&mut self, columns: &mut Columns<'_>) {
        let in_bytes = |&(line, column): &(usize, usize)| (line, columns.in_bytes(line, column - 1));
        self.live_calls = self.live_calls.iter().map(in_bytes).collect();
    }
}

/// What a variable holds.
#[derive(Clone)]
struct Binding {
    ty: Ty,
    /// The functions of the implementation from which the value comes.
    from: BTreeSet<String>,
    /// A closure with its captured scopes, visited once it is called or passed on.
    closure: Option<Rc<(ExprClosure, Vec<Scope>)>>,
}

type Scope = BTreeMap<String, Binding>;

/// The walk through one property.
pub(super) struct Walk<'w, 'a> {
    names: &'w mut Names<'a>,
    module: usize,
    scopes: Vec<Scope>,
    found: Evidence,
    /// The calls within each of the enclosing expressions, outermost first.
    within: Vec<BTreeSet<String>>,
    /// Why calls at this point are doubtful, if they are.
    doubt: Option<&'static str>,
    /// The calls of the visited functions and closures of the file, by their address and whether there was doubt.
    visited: BTreeMap<(usize, bool), BTreeSet<String>>,
}

const CONDITIONAL: &str = "what is compiled there depends on a condition";
const TOO_MUCH: &str = "the file is too long or too tangled to be followed to its end; write it more plainly";
const NOT_AWAITED: &str = "it is in `async` code there, and that this is awaited cannot be seen";
const PASSED_ON: &str = "it is passed on there, and who calls it cannot be seen";

impl<'w, 'a> Walk<'w, 'a> {
    fn new(names: &'w mut Names<'a>, module: usize, is_conditional: bool) -> Self {
        Self {
            names,
            module,
            scopes: vec![Scope::new()],
            found: Evidence::default(),
            within: Vec::new(),
            doubt: is_conditional.then_some(CONDITIONAL),
            visited: BTreeMap::new(),
        }
    }

    /// The evidence of a test function.
    pub(super) fn test(names: &'w mut Names<'a>, module: usize, test: &ItemFn) -> Evidence {
        let mut walk = Self::new(names, module, asks_conditions(&quote::ToTokens::to_token_stream(test)));
        walk.arguments(&test.sig, None);
        walk.block(&test.block);
        walk.end()
    }

    /// The evidence of a function inside `proptest!`.
    pub(super) fn proptest(names: &'w mut Names<'a>, module: usize, test: &ProptestFunction) -> Evidence {
        let mut walk = Self::new(names, module, asks_conditions(&test.tokens()));
        let mut drawn = Vec::new();
        for (pattern, source) in &test.arguments {
            let ty = match source {
                Drawn::From(strategy) => walk.value(strategy).drawn(),
                Drawn::Any(ty) => walk.read(ty),
            };
            drawn.push((pattern, ty));
        }
        for (pattern, ty) in drawn {
            walk.bind(pattern, ty, &BTreeSet::new());
        }
        walk.block(&test.body);
        walk.end()
    }

    fn end(mut self) -> Evidence {
        if self.names.effort().is_exhausted() {
            for function in self.names.api.names() {
                self.found.doubts.entry(function.to_owned()).or_insert_with(|| TOO_MUCH.to_owned());
            }
        }
        self.found.doubts.retain(|function, _| !self.found.calls.contains(function));
        self.found
    }

    /// Records the position of a call of any function.
    fn record_call_position(&mut self, name: Span) {
        if self.doubt.is_none() {
            let start = name.start();
            self.found.live_calls.insert((start.line, start.column + 1));
        }
    }

    /// Records a call of a function of the implementation.
    fn record_call(&mut self, function: &str, at: Span) {
        if let Some(why) = self.doubt {
            return self.record_doubt(function, why, at);
        }
        self.found.calls.insert(function.to_owned());
        for within in &mut self.within {
            within.insert(function.to_owned());
        }
    }

    fn record_doubt(&mut self, function: &str, why: &str, at: Span) {
        let why = format!("line {}: {why}", at.start().line);
        self.found.doubts.entry(function.to_owned()).or_insert(why);
    }

    /// Records a call that may call any of these functions.
    fn record_possible_calls(&mut self, functions: &[String], why: &str, at: Span) {
        for function in functions {
            self.record_doubt(function, why, at);
        }
    }

    /// Runs part of the walk, and also returns the functions that are called in it.
    fn calls_within<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> (T, BTreeSet<String>) {
        self.within.push(BTreeSet::new());
        let seen = look(self);
        (seen, self.within.pop().unwrap_or_default())
    }

    fn add_calls(&mut self, functions: &BTreeSet<String>) {
        for within in &mut self.within {
            within.extend(functions.iter().cloned());
        }
    }

    /// Visits code that may run or not.
    fn doubtful<T>(&mut self, why: &'static str, look: impl FnOnce(&mut Self) -> T) -> T {
        let doubt = self.doubt;
        self.doubt = doubt.or(Some(why));
        let seen = look(self);
        self.doubt = doubt;
        seen
    }

    /// Runs part of the walk in a new scope.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Scope::new());
        let done = inside(self);
        self.scopes.pop();
        done
    }

    fn variable(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn read(&self, ty: &syn::Type) -> Ty {
        Ty::read(ty, &|path| self.names.ty(self.module, path))
    }

    /// Visits a block and returns the type of its value.
    fn block(&mut self, block: &Block) -> Ty {
        let items: Vec<Item> = block.stmts.iter().filter_map(item_of).cloned().collect();
        let outer = self.module;
        if !items.is_empty() {
            self.module = self.names.block(block.brace_token.span.open(), &items, outer);
        }
        let value = self.scoped(|walk| walk.statements(&block.stmts));
        self.module = outer;
        value
    }

    fn statements(&mut self, statements: &[Stmt]) -> Ty {
        let mut value = Ty::Tuple(Vec::new());
        for statement in statements {
            value = Ty::Tuple(Vec::new());
            match statement {
                Stmt::Local(local) => self.local(local),
                Stmt::Expr(expression, semicolon) => {
                    let ty = self.expression(expression);
                    if semicolon.is_none() {
                        value = ty;
                    }
                    if leaves(expression) {
                        break;
                    }
                }
                Stmt::Macro(statement) => {
                    value = self.invocation(&statement.mac);
                    if panics(&statement.mac) {
                        break;
                    }
                }
                Stmt::Item(_) => {}
            }
        }
        value
    }

    fn local(&mut self, local: &syn::Local) {
        let annotated = match &local.pat {
            syn::Pat::Type(pattern) => Some(self.read(&pattern.ty)),
            _ => None,
        };
        let Some(init) = &local.init else {
            return self.bind(&local.pat, annotated.unwrap_or(Ty::Unknown), &BTreeSet::new());
        };
        if let Expr::Closure(closure) = &*init.expr {
            let known: usize = self.scopes.iter().map(Scope::len).sum();
            let kept = self.names.effort().consume(known).then(|| Rc::new((closure.clone(), self.scopes.clone())));
            let binding = Binding { ty: Ty::Unknown, from: BTreeSet::new(), closure: kept };
            let pattern = match &local.pat {
                syn::Pat::Type(pattern) => &*pattern.pat,
                pattern => pattern,
            };
            if let (syn::Pat::Ident(name), Some(scope)) = (pattern, self.scopes.last_mut()) {
                scope.insert(name.ident.to_string(), binding);
            }
            return;
        }
        let (ty, from) = self.calls_within(|walk| walk.expression(&init.expr));
        if let Some((_, otherwise)) = &init.diverge {
            self.expression(otherwise);
        }
        // If the annotation leaves types open, the type of the value is used.
        let ty = annotated.filter(|ty| *ty != Ty::Unknown && !holds_unknown(ty)).unwrap_or(ty);
        self.bind(&local.pat, ty, &from);
    }

    /// Visits a function of the file that is called here, and returns the type of its result.
    fn routine(&mut self, routine: &Rc<Routine>, receiver: Option<Ty>, is_awaited: bool) -> Ty {
        let outer = std::mem::replace(&mut self.module, routine.module);
        let gives = match &routine.signature.output {
            ReturnType::Default => Ty::Tuple(Vec::new()),
            ReturnType::Type(_, ty) => self.read(ty),
        };
        let is_left = routine.signature.asyncness.is_some() && !is_awaited;
        let doubt = routine.is_conditional.then_some(CONDITIONAL).or(is_left.then_some(NOT_AWAITED));
        let doubt = self.doubt.or(doubt);
        let doubt = std::mem::replace(&mut self.doubt, doubt);
        self.visit_once(Rc::as_ptr(routine).addr(), |walk| {
            let scopes = std::mem::replace(&mut walk.scopes, vec![Scope::new()]);
            walk.arguments(&routine.signature, receiver);
            walk.block(&routine.block);
            walk.scopes = scopes;
        });
        self.doubt = doubt;
        self.module = outer;
        gives
    }

    fn arguments(&mut self, signature: &syn::Signature, receiver: Option<Ty>) {
        for argument in &signature.inputs {
            match argument {
                FnArg::Typed(argument) => {
                    let ty = self.read(&argument.ty);
                    self.bind(&argument.pat, ty, &BTreeSet::new());
                }
                FnArg::Receiver(_) => self.remember("self", receiver.clone().unwrap_or(Ty::Unknown), &BTreeSet::new()),
            }
        }
    }

    /// Visits a closure that is bound to a name.
    fn closure(&mut self, closure: &Rc<(ExprClosure, Vec<Scope>)>, arguments: &[Ty]) -> Ty {
        let mut gives = Ty::Unknown;
        let (arguments, bound) = (arguments.to_vec(), closure.clone());
        self.visit_once(Rc::as_ptr(closure).addr(), |walk| {
            let known: usize = bound.1.iter().map(Scope::len).sum();
            if !walk.names.effort().consume(known) {
                return;
            }
            let scopes = std::mem::replace(&mut walk.scopes, bound.1.clone());
            gives = walk.applied(&bound.0, &arguments);
            walk.scopes = scopes;
        });
        gives
    }

    /// Visits a closure in the current scope, and returns the type of its result.
    fn applied(&mut self, closure: &ExprClosure, arguments: &[Ty]) -> Ty {
        let doubt = self.doubt;
        self.doubt = doubt.or(closure.asyncness.map(|_| NOT_AWAITED));
        let value = self.scoped(|walk| {
            for (at, pattern) in closure.inputs.iter().enumerate() {
                walk.bind(pattern, arguments.get(at).cloned().unwrap_or(Ty::Unknown), &BTreeSet::new());
            }
            let value = walk.expression(&closure.body);
            match &closure.output {
                ReturnType::Type(_, ty) => walk.read(ty),
                ReturnType::Default => value,
            }
        });
        self.doubt = doubt;
        value
    }

    /// Visits the function or closure at an address once. Later calls only add the functions that were called there.
    fn visit_once(&mut self, address: usize, look: impl FnOnce(&mut Self)) {
        let key = (address, self.doubt.is_some());
        if let Some(called) = self.visited.get(&key).cloned() {
            return self.add_calls(&called);
        }
        self.visited.insert(key, BTreeSet::new());
        let ((), called) = self.calls_within(look);
        self.visited.insert(key, called);
    }

    fn meaning(&self, path: &syn::Path, kind: Kind) -> Meaning {
        self.names.meaning(self.module, path, kind)
    }
}

fn item_of(statement: &Stmt) -> Option<&Item> {
    match statement {
        Stmt::Item(item) => Some(item),
        _ => None,
    }
}

/// Whether code after this expression is unreachable.
fn leaves(expression: &Expr) -> bool {
    match expression {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Macro(invocation) => panics(&invocation.mac),
        _ => false,
    }
}

fn panics(invocation: &syn::Macro) -> bool {
    ["panic", "todo", "unimplemented", "unreachable"].iter().any(|name| invocation.path.is_ident(name))
}

fn holds_unknown(ty: &Ty) -> bool {
    match ty {
        Ty::Foreign(_, inside) | Ty::Tuple(inside) => inside.iter().any(|ty| *ty == Ty::Unknown || holds_unknown(ty)),
        _ => false,
    }
}
