//! Normalises code to a text that is equal if only the formatting differs.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Arm, Attribute, Block, Expr, ExprClosure, PatOr, Stmt};

/// Operators of more than one character.
const OPERATORS: [&str; 25] = [
    "<<=", ">>=", "...", "..=", "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "::", "..", "+=", "-=", "*=", "/=",
    "%=", "^=", "&=", "|=", "<<", ">>", "<-",
];

/// The tokens as a text: without comments and trailing commas, and with spaces only where they are needed.
pub(crate) fn text_of(tokens: TokenStream) -> String {
    let mut text = Text::default();
    text.tokens(tokens);
    text.written
}

#[derive(Default)]
struct Text {
    written: String,
    /// The last piece that was written: a word, an operator or a closing bracket; `None` after an opening bracket.
    last: Option<String>,
}

impl Text {
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.group(group, follows_a_name(&tokens, at)),
                TokenTree::Ident(name) => self.piece(&name.to_string()),
                TokenTree::Literal(literal) => self.piece(&literal.to_string()),
                TokenTree::Punct(_) => {
                    let mut run = String::new();
                    while let Some(TokenTree::Punct(mark)) = tokens.get(at) {
                        run.push(mark.as_char());
                        at += 1;
                        if mark.spacing() == Spacing::Alone {
                            break;
                        }
                    }
                    // A comma before the closing `>` has no meaning.
                    let closes = matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == '>');
                    self.operators(if closes { run.trim_end_matches(',') } else { &run });
                    continue;
                }
            }
            at += 1;
        }
    }

    fn group(&mut self, group: &Group, is_of_a_name: bool) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let may_be_a_tuple = group.delimiter() == Delimiter::Parenthesis && !is_of_a_name;
        let inside = group.stream();
        let inside = if may_be_a_tuple && is_one_with_a_comma(&inside) { inside } else { without_last_comma(inside) };
        let needs_space = open == "{" || matches!(self.last.as_deref(), Some("," | "->" | "=" | ":" | "=>" | "+"));
        self.written.push_str(if needs_space && !self.written.is_empty() { " " } else { "" });
        self.written.push_str(open);
        self.last = None;
        self.tokens(inside);
        self.written.push_str(close);
        self.last = Some(close.to_owned());
    }

    /// Splits punctuation into operators as the compiler does, the longest first.
    fn operators(&mut self, mut marks: &str) {
        while !marks.is_empty() {
            let longest =
                OPERATORS.iter().find(|operator| marks.starts_with(**operator)).map_or(1, |operator| operator.len());
            self.piece(&marks[..longest]);
            marks = &marks[longest..];
        }
    }

    fn piece(&mut self, piece: &str) {
        let is_word =
            |text: &str| !text.ends_with(|last: char| last.is_ascii_punctuation() && !matches!(last, '_' | '"' | '\''));
        let needs_space = match self.last.as_deref() {
            None | Some("") => false,
            Some("'") => false,
            Some("," | ";" | ":" | "->" | "=>" | "=" | "+") => true,
            Some(")" | "]" | "}" | ">") if is_word(piece) => true,
            Some(last) if is_word(last) && is_word(piece) => true,
            Some(last) if is_word(last) => matches!(piece, "->" | "=>" | "=" | "+" | "'"),
            Some(")" | "]" | "}" | ">") if matches!(piece, "->" | "=>" | "=" | "+") => true,
            // Without a space, the two would become another operator.
            Some(last) if !is_word(piece) && piece != ">" => {
                let both = format!("{last}{piece}");
                OPERATORS.iter().any(|operator| operator.len() > last.len() && both.starts_with(*operator))
            }
            Some(_) => false,
        };
        self.written.push_str(if needs_space { " " } else { "" });
        self.written.push_str(piece);
        self.last = Some(piece.to_owned());
    }
}

/// Whether a group contains the arguments of the name before it.
fn follows_a_name(tokens: &[TokenTree], at: usize) -> bool {
    const BEFORE_A_VALUE: [&str; 14] =
        ["as", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "mut", "return", "while"];
    match at.checked_sub(1).map(|before| &tokens[before]) {
        Some(TokenTree::Ident(name)) => !BEFORE_A_VALUE.iter().any(|word| name == word),
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Brace,
        Some(TokenTree::Punct(mark)) => {
            let is_arrow = at >= 2
                && matches!(&tokens[at - 2], TokenTree::Punct(before) if before.spacing() == Spacing::Joint && matches!(before.as_char(), '-' | '='));
            mark.as_char() == '!' || mark.as_char() == '>' && !is_arrow
        }
        _ => false,
    }
}

/// Whether a group is `(value,)`.
fn is_one_with_a_comma(inside: &TokenStream) -> bool {
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    inside.clone().into_iter().filter(is_comma).count() == 1
}

fn without_last_comma(inside: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = inside.into_iter().collect();
    if matches!(tokens.last(), Some(TokenTree::Punct(mark)) if mark.as_char() == ',') {
        tokens.pop();
    }
    tokens.into_iter().collect()
}

/// A body independent of its formatting: without documentation and lints, and without parentheses, braces and semicolons that
/// make no difference.
pub(crate) fn plain_block(block: &Block) -> Block {
    let mut block = block.clone();
    Plain.visit_block_mut(&mut block);
    block
}

/// Like [`plain_block`], for an expression.
pub(crate) fn plain_expression(expression: &Expr) -> Expr {
    let mut expression = expression.clone();
    Plain.visit_expr_mut(&mut expression);
    expression
}

/// Whether an attribute changes neither what is compiled nor what can use it.
pub(crate) fn is_remark(attribute: &Attribute) -> bool {
    const REMARKS: [&str; 14] = [
        "allow",
        "cold",
        "deny",
        "deprecated",
        "diagnostic",
        "doc",
        "expect",
        "forbid",
        "inline",
        "must_use",
        "rustfmt",
        "track_caller",
        "warn",
        "clippy",
    ];
    attribute.path().segments.first().is_some_and(|first| REMARKS.iter().any(|remark| first.ident == remark))
}

struct Plain;

impl VisitMut for Plain {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|attribute| !is_remark(attribute));
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        // Parentheses are written again where they are needed.
        while let Expr::Paren(inner) = expression {
            *expression = std::mem::replace(&mut inner.expr, Expr::PLACEHOLDER);
        }
        visit_mut::visit_expr_mut(self, expression);
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        visit_mut::visit_arm_mut(self, arm);
        arm.comma = None;
        without_braces(&mut arm.body);
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        visit_mut::visit_expr_closure_mut(self, closure);
        // A closure with a return type must have braces.
        if matches!(closure.output, syn::ReturnType::Default) {
            without_braces(&mut closure.body);
        }
    }

    fn visit_pat_or_mut(&mut self, either: &mut PatOr) {
        visit_mut::visit_pat_or_mut(self, either);
        either.leading_vert = None;
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        if let Some(Stmt::Expr(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_), semicolon)) =
            block.stmts.last_mut()
        {
            *semicolon = None;
        }
    }
}

/// Replaces `{ value }` by `value`.
fn without_braces(body: &mut Expr) {
    let Expr::Block(block) = body else { return };
    if let (None, true, [Stmt::Expr(value, None)]) = (&block.label, block.attrs.is_empty(), &mut block.block.stmts[..])
    {
        *body = std::mem::replace(value, Expr::PLACEHOLDER);
    }
}
