//! Finds the mutants of a body.

use super::bodies::Body;
use super::{Edit, MAX_MUTANTS, Mutant, MutationKind};
use proc_macro2::Span;
use std::mem;
use std::ops::Range;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprCall, ExprConst, ExprIf, ExprLit, ExprMatch, ExprMethodCall,
    ExprRange, ExprRepeat, ExprUnary, ExprWhile, GenericArgument, Item, Lit, Macro, Pat, RangeLimits, Stmt, Token,
    Type, UnOp,
};

/// The longest text that a mutant removes or inserts, in bytes.
const LONGEST: usize = 2000;

/// Adds the mutants of a body.
pub(super) fn mutants_of(path: &str, text: &str, body: &Body<'_>, found: &mut Vec<Mutant>) {
    let mut search = Search { path, text, body, found, block_start: 0, is_conditional: false };
    search.visit_block(body.block);
}

struct Search<'a> {
    path: &'a str,
    text: &'a str,
    body: &'a Body<'a>,
    found: &'a mut Vec<Mutant>,
    /// The byte offset at which the innermost block begins.
    block_start: usize,
    /// Whether the statement has a `cfg`, outside of the blocks in it.
    is_conditional: bool,
}

impl Search<'_> {
    fn place(&self, span: Span) -> Range<usize> {
        self.body.place(span)
    }

    fn text_at(&self, place: Range<usize>) -> &str {
        self.text.get(place).unwrap_or_default()
    }

    /// The byte range between two offsets, without surrounding whitespace.
    fn between(&self, start: usize, end: usize) -> Range<usize> {
        let text = self.text_at(start..end);
        let begin = start + (text.len() - text.trim_start().len());
        begin..begin + text.trim().len()
    }

    fn add(&mut self, kind: MutationKind, place: Range<usize>, replacement: &str) {
        // Collects up to twice the maximum, as the list is sorted before it is cut.
        let is_small = place.len() <= LONGEST && replacement.len() <= LONGEST;
        if !is_small || self.found.len() >= 2 * MAX_MUTANTS {
            return;
        }
        let Some(original) = self.text.get(place.clone()).filter(|original| *original != replacement) else { return };
        let edit = Edit {
            path: self.path.to_owned(),
            function: self.body.name.clone(),
            // Filled in when all mutants are found.
            line: 1,
            column: 1,
            original: original.to_owned(),
            replacement: replacement.to_owned(),
            range: place,
            block_start: self.block_start,
        };
        self.found.push(Mutant { kind, edit });
    }

    /// Negates a condition that lies between two offsets.
    fn flip(&mut self, condition: &Expr, start: usize, end: usize) {
        let place = self.between(start, end);
        if place.len() > LONGEST {
            return;
        }
        let text = self.text_at(place.clone());
        if !has_let(condition) && !has_own_flip(condition) && !text.contains("//") {
            let flipped = format!("!({text})");
            self.add(MutationKind::ConditionFlip, place, &flipped);
        }
    }

    fn swap(&mut self, arguments: &Punctuated<Expr, Token![,]>, brackets: proc_macro2::extra::DelimSpan) {
        let (mut start, end) = (self.place(brackets.open()).end, self.place(brackets.close()).start);
        let mut places = Vec::with_capacity(arguments.len());
        for pair in arguments.pairs() {
            let comma = pair.punct().map(|comma| self.place(comma.span));
            places.push(self.between(start, comma.as_ref().map_or(end, |comma| comma.start)));
            start = comma.map_or(end, |comma| comma.end);
        }
        for pair in places.windows(2) {
            let (first, second) = (pair[0].clone(), pair[1].clone());
            if second.end - first.start > LONGEST {
                continue;
            }
            let (one, other) = (self.text_at(first.clone()), self.text_at(second.clone()));
            // A line comment would comment out what follows it.
            if one != other && !one.contains("//") && !other.contains("//") {
                let swapped = format!("{other}{}{one}", self.text_at(first.end..second.start));
                self.add(MutationKind::SwappedArguments, first.start..second.end, &swapped);
            }
        }
    }

    /// Removes a statement that only checks something.
    fn check(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Expr(Expr::If(check), _) if check.else_branch.is_none() && leaves(&check.then_branch) => {
                let start = self.place(check.if_token.span).start;
                let end = self.place(check.then_branch.brace_token.span.close()).end;
                self.add(MutationKind::RemovedCheck, start..end, "");
            }
            Stmt::Macro(called) if called.semi_token.is_some() && is_assertion(&called.mac) => {
                if let Some(name) = called.mac.path.segments.first() {
                    let start = self.place(name.ident.span()).start;
                    let end = self.place(called.mac.delimiter.span().close()).end;
                    // The semicolon is kept.
                    self.add(MutationKind::RemovedCheck, start..end, "");
                }
            }
            Stmt::Expr(Expr::Try(tried), Some(semicolon)) => {
                if let Some(first) = first_span(&tried.expr) {
                    let place = self.place(first).start..self.place(semicolon.span).start;
                    if place.len() > LONGEST {
                        return;
                    }
                    let text = self.text_at(place.clone());
                    let unchecked = format!("let _ = {}", text.trim_end().trim_end_matches('?'));
                    self.add(MutationKind::RemovedCheck, place, &unchecked);
                }
            }
            _ => {}
        }
    }
}

impl<'b> Visit<'b> for Search<'_> {
    fn visit_block(&mut self, block: &'b Block) {
        let start = self.place(block.brace_token.span.open()).end;
        let outer = (mem::replace(&mut self.block_start, start), mem::take(&mut self.is_conditional));
        visit::visit_block(self, block);
        (self.block_start, self.is_conditional) = outer;
    }

    fn visit_stmt(&mut self, statement: &'b Stmt) {
        let (so_far, outer) = (self.found.len(), mem::take(&mut self.is_conditional));
        self.check(statement);
        visit::visit_stmt(self, statement);
        if self.is_conditional {
            let block = self.block_start;
            let in_blocks: Vec<_> =
                self.found.drain(so_far..).filter(|mutant| mutant.edit.block_start != block).collect();
            self.found.extend(in_blocks);
        }
        self.is_conditional = outer;
    }

    fn visit_attribute(&mut self, attribute: &'b Attribute) {
        self.is_conditional |= attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr");
    }

    fn visit_expr_binary(&mut self, binary: &'b ExprBinary) {
        let is_of_let = matches!(binary.op, BinOp::And(_)) && (has_let(&binary.left) || has_let(&binary.right));
        if let Some((kind, other)) = other_operator(&binary.op)
            && !is_of_let
        {
            let place = self.place(binary.op.span());
            self.add(kind, place, other);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'b ExprUnary) {
        let kind = match unary.op {
            UnOp::Not(_) => Some(MutationKind::ConditionFlip),
            UnOp::Neg(_) => Some(MutationKind::ChangedOperator),
            _ => None,
        };
        if let Some(kind) = kind {
            let place = self.place(unary.op.span());
            self.add(kind, place, "");
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_range(&mut self, range: &'b ExprRange) {
        if range.end.is_some() {
            let other = match range.limits {
                RangeLimits::HalfOpen(_) => "..=",
                RangeLimits::Closed(_) => "..",
            };
            let place = self.place(range.limits.span());
            self.add(MutationKind::Boundary, place, other);
        }
        visit::visit_expr_range(self, range);
    }

    fn visit_expr_lit(&mut self, literal: &'b ExprLit) {
        match &literal.lit {
            Lit::Bool(value) => {
                let place = self.place(value.span);
                self.add(MutationKind::ConditionFlip, place, if value.value { "false" } else { "true" });
            }
            Lit::Int(number) => {
                if let Some(next) = number.base10_parse::<u128>().ok().and_then(|number| number.checked_add(1)) {
                    let place = self.place(number.span());
                    self.add(MutationKind::OffByOne, place, &format!("{next}{}", number.suffix()));
                }
            }
            _ => {}
        }
        visit::visit_expr_lit(self, literal);
    }

    fn visit_expr_call(&mut self, call: &'b ExprCall) {
        self.swap(&call.args, call.paren_token.span);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'b ExprMethodCall) {
        self.swap(&call.args, call.paren_token.span);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_if(&mut self, branch: &'b ExprIf) {
        let then = self.place(branch.then_branch.brace_token.span.join());
        let start = self.place(branch.if_token.span).end;
        self.flip(&branch.cond, start, then.start);
        if let Some((_, otherwise)) = &branch.else_branch
            && let Expr::Block(otherwise) = &**otherwise
        {
            let other = self.place(otherwise.block.brace_token.span.join());
            if other.len() <= LONGEST {
                let replacement = self.text_at(other).to_owned();
                self.add(MutationKind::WrongBranch, then, &replacement);
            }
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_while(&mut self, repeated: &'b ExprWhile) {
        let start = self.place(repeated.while_token.span).end;
        let end = self.place(repeated.body.brace_token.span.open()).start;
        self.flip(&repeated.cond, start, end);
        visit::visit_expr_while(self, repeated);
    }

    fn visit_expr_match(&mut self, choice: &'b ExprMatch) {
        let end = self.place(choice.brace_token.span.close()).start;
        let bodies: Vec<_> = choice.arms.iter().map(|arm| body_of(self, arm)).collect();
        let last = bodies.len().saturating_sub(1);
        let bodies: Vec<_> = bodies
            .into_iter()
            .enumerate()
            .map(|(at, (start, stop))| {
                stop.or((at == last).then_some(end)).map(|stop| self.between(start, stop)).filter(|body| {
                    let is_small = body.len() <= LONGEST;
                    is_small && !self.text_at(body.clone()).contains("//")
                })
            })
            .collect();
        for (at, arms) in choice.arms.windows(2).enumerate() {
            if let [Some(body), Some(other)] = &bodies[at..at + 2]
                && !uses_names_of(&arms[1])
            {
                let replacement = self.text_at(other.clone()).to_owned();
                self.add(MutationKind::WrongBranch, body.clone(), &replacement);
            }
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_arm(&mut self, arm: &'b Arm) {
        if let Pat::Guard(guarded) = &arm.pat {
            let (start, end) = (self.place(guarded.if_token.span).end, self.place(arm.fat_arrow_token.spans[0]).start);
            self.flip(&guarded.guard, start, end);
        }
        visit::visit_arm(self, arm);
    }

    // Lengths, types and patterns are not mutated, nor is code that does not belong to this function.
    fn visit_expr_repeat(&mut self, repeated: &'b ExprRepeat) {
        self.visit_expr(&repeated.expr);
    }
    fn visit_expr_const(&mut self, _: &'b ExprConst) {}
    fn visit_type(&mut self, _: &'b Type) {}
    fn visit_generic_argument(&mut self, _: &'b GenericArgument) {}
    fn visit_pat(&mut self, pattern: &'b Pat) {
        if let Pat::Guard(guarded) = pattern {
            self.visit_expr(&guarded.guard);
        }
    }
    fn visit_macro(&mut self, _: &'b Macro) {}
    fn visit_item(&mut self, _: &'b Item) {}
}

/// The offset at which an arm's body begins, and the one at which it ends, if the arm shows that.
fn body_of(search: &Search<'_>, arm: &Arm) -> (usize, Option<usize>) {
    let start = search.place(arm.fat_arrow_token.spans[1]).end;
    let end = match (&arm.comma, &*arm.body) {
        (Some(comma), _) => Some(search.place(comma.span).start),
        (None, Expr::Block(block)) => Some(search.place(block.block.brace_token.span.close()).end),
        (None, _) => None,
    };
    (start, end)
}

fn other_operator(operator: &BinOp) -> Option<(MutationKind, &'static str)> {
    use MutationKind::{Boundary, ChangedOperator, ConditionFlip};
    Some(match operator {
        BinOp::Lt(_) => (Boundary, "<="),
        BinOp::Le(_) => (Boundary, "<"),
        BinOp::Gt(_) => (Boundary, ">="),
        BinOp::Ge(_) => (Boundary, ">"),
        BinOp::Eq(_) => (ConditionFlip, "!="),
        BinOp::Ne(_) => (ConditionFlip, "=="),
        BinOp::Add(_) => (ChangedOperator, "-"),
        BinOp::Sub(_) => (ChangedOperator, "+"),
        BinOp::Mul(_) => (ChangedOperator, "/"),
        BinOp::Div(_) | BinOp::Rem(_) => (ChangedOperator, "*"),
        BinOp::And(_) => (ChangedOperator, "||"),
        BinOp::Or(_) => (ChangedOperator, "&&"),
        BinOp::BitAnd(_) | BinOp::BitXor(_) => (ChangedOperator, "|"),
        BinOp::BitOr(_) => (ChangedOperator, "&"),
        BinOp::Shl(_) => (ChangedOperator, ">>"),
        BinOp::Shr(_) => (ChangedOperator, "<<"),
        BinOp::AddAssign(_) => (ChangedOperator, "-="),
        BinOp::SubAssign(_) => (ChangedOperator, "+="),
        BinOp::MulAssign(_) => (ChangedOperator, "/="),
        BinOp::DivAssign(_) | BinOp::RemAssign(_) => (ChangedOperator, "*="),
        BinOp::BitAndAssign(_) | BinOp::BitXorAssign(_) => (ChangedOperator, "|="),
        BinOp::BitOrAssign(_) => (ChangedOperator, "&="),
        BinOp::ShlAssign(_) => (ChangedOperator, ">>="),
        BinOp::ShrAssign(_) => (ChangedOperator, "<<="),
        _ => return None,
    })
}

/// Whether a condition contains `let`, and so cannot be negated.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => has_let(&both.left) || has_let(&both.right),
        _ => false,
    }
}

/// Whether another mutant already negates the condition by changing its operator or literal.
fn has_own_flip(condition: &Expr) -> bool {
    match condition {
        Expr::Binary(compared) => matches!(compared.op, BinOp::Eq(_) | BinOp::Ne(_)),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Not(_)),
        Expr::Lit(literal) => matches!(literal.lit, Lit::Bool(_)),
        _ => false,
    }
}

/// Whether a block ends by leaving the function or a loop.
fn leaves(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), _)) => true,
        Some(Stmt::Expr(Expr::Macro(called), _)) => ends_all(&called.mac),
        Some(Stmt::Macro(called)) => ends_all(&called.mac),
        _ => false,
    }
}

fn ends_all(called: &Macro) -> bool {
    called.path.segments.last().is_some_and(|name| ["bail", "panic", "unreachable"].iter().any(|end| name.ident == end))
}

fn is_assertion(called: &Macro) -> bool {
    const ASSERTIONS: [&str; 7] =
        ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "ensure"];
    called.path.segments.last().is_some_and(|name| ASSERTIONS.iter().any(|assertion| name.ident == assertion))
}

/// The first span of an expression, for kinds of expressions in which it is easily found.
fn first_span(expression: &Expr) -> Option<Span> {
    match expression {
        Expr::Await(inner) => first_span(&inner.base),
        Expr::Call(inner) => first_span(&inner.func),
        Expr::Field(inner) => first_span(&inner.base),
        Expr::MethodCall(inner) => first_span(&inner.receiver),
        Expr::Try(inner) => first_span(&inner.expr),
        Expr::Paren(inner) => Some(inner.paren_token.span.open()),
        Expr::Path(path) if path.qself.is_none() && path.path.leading_colon.is_none() => {
            path.path.segments.first().map(|first| first.ident.span())
        }
        _ => None,
    }
}

/// Whether an arm's body uses a name that its pattern binds, and so cannot be used in another arm.
fn uses_names_of(arm: &Arm) -> bool {
    struct Names(Vec<String>);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
            self.0.push(pattern.ident.to_string());
            visit::visit_pat_ident(self, pattern);
        }
        fn visit_macro(&mut self, _: &Macro) {
            // A macro's arguments can contain any pattern and use any name.
            self.0.push(String::new());
        }
    }
    struct Uses<'n>(&'n [String], bool);
    impl Visit<'_> for Uses<'_> {
        fn visit_ident(&mut self, name: &proc_macro2::Ident) {
            self.1 |= self.0.iter().any(|made| name == made);
        }
        fn visit_macro(&mut self, _: &Macro) {
            self.1 = true;
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(&arm.pat);
    // Only variables matter; names of constants and variants begin with a capital letter.
    names.0.retain(|name| !name.starts_with(char::is_uppercase));
    if names.0.is_empty() {
        return false;
    }
    let mut uses = Uses(&names.0, false);
    uses.visit_expr(&arm.body);
    uses.1
}
