//! Distinguishes a stub from an implementation.

use syn::{Block, Expr, Local, Macro, Pat, Stmt};

/// The markers of stubs (TC-05): Rust expressions of which the body of a stub consists.
///
/// They are checked when they are parsed, and kept as text because syntax trees cannot be sent between threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StubMarkers(Vec<String>);

/// The markers as syntax, for checking one file.
pub(crate) struct MarkerSyntax(Vec<Expr>);

/// A configured marker is not Rust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the stub marker `{marker}` is not a Rust expression: {reason}; write it as it stands in a body, such as `todo!()`"
)]
pub struct UnreadableMarker {
    /// The marker as configured.
    pub marker: String,
    /// What the parser objects to.
    pub reason: String,
}

impl Default for StubMarkers {
    /// `todo!()` and `unimplemented!()`.
    fn default() -> Self {
        Self(vec!["todo!()".to_owned(), "unimplemented!()".to_owned()])
    }
}

impl StubMarkers {
    /// Parses markers as they are written in a body. A macro without arguments (`todo!()`) means that macro with any arguments;
    /// any other expression means itself.
    ///
    /// # Errors
    ///
    /// [`UnreadableMarker`] for the first marker that is not a Rust expression.
    pub fn parse<'a>(markers: impl IntoIterator<Item = &'a str>) -> Result<Self, UnreadableMarker> {
        let check = |marker: &str| match syn::parse_str::<Expr>(marker) {
            Ok(_) => Ok(marker.to_owned()),
            Err(error) => Err(UnreadableMarker { marker: marker.to_owned(), reason: error.to_string() }),
        };
        Ok(Self(markers.into_iter().map(check).collect::<Result<_, _>>()?))
    }

    /// The markers as configured.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The markers as syntax.
    pub(crate) fn syntax(&self) -> MarkerSyntax {
        // All markers parse, as they were checked before.
        MarkerSyntax(self.0.iter().filter_map(|marker| syn::parse_str(marker).ok()).collect())
    }
}

impl MarkerSyntax {
    /// Whether a marker is a macro of this name.
    pub(crate) fn names_macro(&self, name: &str) -> bool {
        let is_named = |marker: &Macro| marker.path.segments.last().is_some_and(|last| last.ident == name);
        self.0.iter().any(|marker| matches!(marker, Expr::Macro(marker) if is_named(&marker.mac)))
    }

    /// Whether a body is a stub: it consists of a marker, possibly after statements that only silence warnings about unused
    /// arguments (`let _ = (a, b);`).
    pub(crate) fn is_stub(&self, body: &Block) -> bool {
        let mut statements = body.stmts.iter().skip_while(|statement| only_silences(statement));
        match (statements.next(), statements.next()) {
            (Some(Stmt::Expr(expression, _)), None) => self.marks(expression),
            (Some(Stmt::Macro(statement)), None) => self.marks_macro(&statement.mac),
            _ => false,
        }
    }

    fn marks(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Macro(expression) => self.marks_macro(&expression.mac),
            Expr::Return(expression) => expression.expr.as_deref().is_some_and(|returned| self.marks(returned)),
            Expr::Block(block) if block.label.is_none() => self.is_stub(&block.block),
            other => self.0.iter().any(|marker| marker == other),
        }
    }

    fn marks_macro(&self, found: &Macro) -> bool {
        self.0.iter().any(|marker| {
            let Expr::Macro(marker) = marker else {
                return false;
            };
            let marker = &marker.mac;
            let same_name = match (marker.path.segments.last(), found.path.segments.last()) {
                (Some(wanted), Some(given)) => wanted.ident == given.ident,
                _ => false,
            };
            same_name && (marker.tokens.is_empty() || marker.tokens.to_string() == found.tokens.to_string())
        })
    }
}

/// Whether a statement is `let _ = value;` and evaluating the value has no effect.
fn only_silences(statement: &Stmt) -> bool {
    let Stmt::Local(Local { pat: Pat::Wild(_), init: Some(init), .. }) = statement else {
        return false;
    };
    init.diverge.is_none() && does_nothing(&init.expr)
}

fn does_nothing(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Field(field) => does_nothing(&field.base),
        Expr::Reference(reference) => does_nothing(&reference.expr),
        Expr::Paren(inner) => does_nothing(&inner.expr),
        Expr::Tuple(tuple) => tuple.elems.iter().all(does_nothing),
        _ => false,
    }
}
