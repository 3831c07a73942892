//! Expressions: which functions they call, and their types.

use super::{NOT_AWAITED, PASSED_ON, Walk};
use crate::properties::names::{Kind, Meaning};
use crate::properties::outcomes::plain;
use crate::properties::ty::Ty;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Lit, Member, UnOp};

impl Visit<'_> for Walk<'_, '_> {
    // Expressions without a rule of their own below are visited in source order.
    fn visit_expr(&mut self, expression: &Expr) {
        self.expression(expression);
    }

    fn visit_block(&mut self, block: &syn::Block) {
        self.block(block);
    }

    fn visit_macro(&mut self, invocation: &syn::Macro) {
        self.invocation(invocation);
    }

    fn visit_lit(&mut self, literal: &Lit) {
        self.literal(literal);
    }

    fn visit_item(&mut self, _: &syn::Item) {}

    fn visit_pat(&mut self, _: &syn::Pat) {}
}

impl Walk<'_, '_> {
    /// Visits an expression and returns its type.
    pub(super) fn expression(&mut self, expression: &Expr) -> Ty {
        if !self.names.effort().enter() {
            return Ty::Unknown;
        }
        let ty = self.kind_of(expression);
        self.names.effort().leave();
        ty
    }

    fn kind_of(&mut self, expression: &Expr) -> Ty {
        match expression {
            Expr::Paren(inner) => self.expression(&inner.expr),
            Expr::Group(inner) => self.expression(&inner.expr),
            Expr::Reference(inner) => self.expression(&inner.expr),
            Expr::Unary(unary) => {
                let ty = self.expression(&unary.expr);
                if matches!(unary.op, UnOp::Deref(_)) || ty.is_plain() { ty } else { Ty::Unknown }
            }
            Expr::Path(path) => self.path(path),
            Expr::Call(call) => self.call(call, false),
            Expr::MethodCall(call) => self.method_call(call, false),
            Expr::Await(waiting) => self.awaited(&waiting.base),
            Expr::Async(later) => {
                self.doubtful(NOT_AWAITED, |walk| walk.block(&later.block));
                Ty::Unknown
            }
            Expr::Macro(invocation) => self.invocation(&invocation.mac),
            Expr::Closure(closure) => {
                let value = self.doubtful(PASSED_ON, |walk| walk.applied(closure, &[]));
                Ty::of("closure", value)
            }
            Expr::Struct(structure) => {
                visit::visit_expr_struct(self, structure);
                self.names.ty(self.module, &structure.path)
            }
            Expr::Block(inner) => self.block(&inner.block),
            Expr::If(branch) => self.branch(branch),
            Expr::While(repeat) if is_false(&repeat.cond) => Ty::Tuple(Vec::new()),
            Expr::While(repeat) => self.scoped(|walk| {
                walk.expression(&repeat.cond);
                walk.block(&repeat.body);
                Ty::Tuple(Vec::new())
            }),
            Expr::ForLoop(repeat) => {
                let (over, from) = self.calls_within(|walk| walk.expression(&repeat.expr));
                self.scoped(|walk| {
                    walk.bind(&repeat.pat, over.held(), &from);
                    walk.block(&repeat.body);
                });
                Ty::Tuple(Vec::new())
            }
            Expr::Let(condition) => {
                let (ty, from) = self.calls_within(|walk| walk.expression(&condition.expr));
                self.bind(&condition.pat, ty, &from);
                Ty::foreign("bool")
            }
            Expr::Match(choice) => self.choice(choice),
            Expr::Try(tried) => self.expression(&tried.expr).held(),
            Expr::Lit(literal) => {
                self.literal(&literal.lit);
                Ty::foreign("literal")
            }
            Expr::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(|element| self.value(element)).collect()),
            Expr::Array(array) => {
                let parts: Vec<Ty> = array.elems.iter().map(|element| self.value(element)).collect();
                Ty::of("Vec", parts.into_iter().next().unwrap_or(Ty::Unknown))
            }
            Expr::Repeat(repeat) => {
                let held = self.value(&repeat.expr);
                self.expression(&repeat.len);
                Ty::of("Vec", held)
            }
            Expr::Range(range) => {
                visit::visit_expr_range(self, range);
                Ty::foreign("Range")
            }
            Expr::Binary(binary) => {
                let (left, right) = (self.expression(&binary.left), self.expression(&binary.right));
                let is_plain = left.is_plain() && right.is_plain() || is_comparison(&binary.op);
                if is_plain { Ty::foreign("number") } else { Ty::Unknown }
            }
            Expr::Cast(cast) => {
                self.expression(&cast.expr);
                self.read(&cast.ty)
            }
            Expr::Index(index) => {
                let (ty, by) = (self.expression(&index.expr), self.expression(&index.index));
                if by == Ty::foreign("Range") { ty } else { ty.held() }
            }
            Expr::Field(field) => {
                let ty = self.expression(&field.base);
                self.field(&ty, &field.member)
            }
            other => {
                visit::visit_expr(self, other);
                Ty::Unknown
            }
        }
    }

    /// Visits an expression whose value is awaited, and returns the type of what it gives then.
    pub(super) fn awaited(&mut self, expression: &Expr) -> Ty {
        match expression {
            Expr::Paren(inner) => self.awaited(&inner.expr),
            Expr::Async(at_once) => self.block(&at_once.block),
            Expr::Call(call) => self.call(call, true),
            Expr::MethodCall(call) => self.method_call(call, true),
            other => self.expression(other),
        }
    }

    /// Visits an expression whose value is passed on. If the value is a function, other code may call it.
    pub(super) fn value(&mut self, expression: &Expr) -> Ty {
        let ty = self.expression(expression);
        if let Ty::Function(function) = &ty {
            self.record_doubt(function, PASSED_ON, expression.span());
        }
        ty
    }

    fn path(&mut self, path: &syn::ExprPath) -> Ty {
        if let (None, Some(name)) = (&path.qself, path.path.get_ident())
            && let Some(binding) = self.variable(&name.to_string()).cloned()
        {
            self.add_calls(&binding.from);
            if let Some(closure) = &binding.closure {
                self.doubtful(PASSED_ON, |walk| walk.closure(closure, &[]));
            }
            return binding.ty;
        }
        match self.function_of(path) {
            Some(function) => Ty::Function(function),
            None => match self.meaning(&path.path, Kind::Value) {
                Meaning::Function(routine) => {
                    self.doubtful(PASSED_ON, |walk| walk.routine(&routine, None, false));
                    Ty::Unknown
                }
                meaning => self.constant(&meaning),
            },
        }
    }

    /// The type of a path to a value that is not a function.
    pub(super) fn constant(&self, meaning: &Meaning) -> Ty {
        match meaning {
            // The type itself, or one of its variants. An associated constant is excluded, as it may be of any type.
            Meaning::Own(path) => match &path[..] {
                [.., name] if self.names.api.is_type(name) => Ty::Own(name.clone()),
                [.., owner, variant] if self.names.api.is_type(owner) && variant.contains(char::is_lowercase) => {
                    Ty::Own(owner.clone())
                }
                _ => Ty::Unknown,
            },
            Meaning::Outside(path) => match path.last().map(String::as_str) {
                Some("None") => Ty::foreign("Option"),
                Some(name) if path.len() > 1 && name.chars().all(|c| c.is_uppercase() || c == '_') => {
                    Ty::foreign("number")
                }
                _ => Ty::Unknown,
            },
            Meaning::Type(name) => Ty::Local(name.clone()),
            _ => Ty::Unknown,
        }
    }

    /// Visits an `if`. A block under `if false` is skipped.
    fn branch(&mut self, branch: &syn::ExprIf) -> Ty {
        let taken = self.scoped(|walk| {
            walk.expression(&branch.cond);
            if is_false(&branch.cond) { Ty::Unknown } else { walk.block(&branch.then_branch) }
        });
        let other = branch.else_branch.as_ref().map(|(_, otherwise)| self.expression(otherwise));
        if taken == Ty::Unknown { other.unwrap_or(taken) } else { taken }
    }

    fn choice(&mut self, choice: &syn::ExprMatch) -> Ty {
        let (ty, from) = self.calls_within(|walk| walk.expression(&choice.expr));
        let mut value = Ty::Unknown;
        for arm in &choice.arms {
            let of_arm = self.scoped(|walk| {
                walk.bind(&arm.pat, ty.clone(), &from);
                walk.expression(&arm.body)
            });
            if value == Ty::Unknown {
                value = of_arm;
            }
        }
        value
    }

    fn field(&self, ty: &Ty, member: &Member) -> Ty {
        match (ty, member) {
            (Ty::Tuple(parts), Member::Unnamed(index)) => {
                let part = usize::try_from(index.index).ok().and_then(|at| parts.get(at));
                part.cloned().unwrap_or(Ty::Unknown)
            }
            (Ty::Local(name), member) => self.names.field(name, member),
            _ => Ty::Unknown,
        }
    }

    fn literal(&mut self, literal: &Lit) {
        let tokens = quote::ToTokens::to_token_stream(literal);
        for token in tokens {
            if let proc_macro2::TokenTree::Literal(literal) = token {
                self.found.literals.insert(plain(&literal));
            }
        }
    }

    /// Like [`values`](Self::values), for the arguments of a function or a method of another crate. `block_on` awaits what it gets.
    pub(super) fn values_given<'e>(
        &mut self,
        callee: &str,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Vec<(Ty, BTreeSet<String>)> {
        if callee != "block_on" {
            return self.values(expressions);
        }
        expressions.into_iter().map(|expression| self.calls_within(|walk| walk.awaited(expression))).collect()
    }

    /// Visits arguments of a call, and returns their types and the functions from which their values come.
    pub(super) fn values<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Vec<(Ty, BTreeSet<String>)> {
        expressions.into_iter().map(|expression| self.calls_within(|walk| walk.value(expression))).collect()
    }
}

fn is_false(condition: &Expr) -> bool {
    matches!(condition, Expr::Lit(literal) if matches!(&literal.lit, Lit::Bool(value) if !value.value))
}

fn is_comparison(operator: &syn::BinOp) -> bool {
    use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(operator, And(_) | Eq(_) | Ge(_) | Gt(_) | Le(_) | Lt(_) | Ne(_) | Or(_))
}
