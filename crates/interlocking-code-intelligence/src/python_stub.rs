//! Recognises Python functions that are still stubs.

use crate::intelligence::Symbol;

/// Whether the body of a Python function is a stub: besides its docstring and comments, it only raises one of `markers`, such as
/// `NotImplementedError`, with or without arguments.
pub fn is_python_stub(text: &str, function: &Symbol, markers: &[String]) -> bool {
    let (first, last) = (function.position.line, *function.lines.end());
    let count = last.saturating_sub(first).saturating_add(1) as usize;
    let lines: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(count).collect();
    let Some(body) = after_signature(&lines.join("\n")).map(str::to_owned) else { return false };
    let mut statements = without_documentation(&body).lines().map(without_comment).filter(|line| !line.is_empty());
    match (statements.next(), statements.next()) {
        (Some(only), None) => markers.iter().any(|marker| raises(only, marker)),
        _ => false,
    }
}

/// The text after the colon that ends a signature.
fn after_signature(text: &str) -> Option<&str> {
    let (mut depth, mut quote) = (0_u32, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => return text.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// A body without its docstring, if it has one; empty if the docstring is not closed.
fn without_documentation(body: &str) -> &str {
    let body = skip_comments(body);
    let text = body.trim_start_matches(['r', 'R', 'u', 'U']);
    for quotes in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inside) = text.strip_prefix(quotes) {
            return inside.split_once(quotes).map_or("", |(_, after)| after);
        }
    }
    body
}

fn skip_comments(body: &str) -> &str {
    let mut left = body.trim_start();
    while left.starts_with('#') {
        left = left.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    left
}

fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(before, _)| before).trim()
}

/// Whether a statement is `raise Marker` or `raise Marker("…")`.
fn raises(statement: &str, marker: &str) -> bool {
    let Some(arguments) = statement.strip_prefix("raise ").and_then(|raised| raised.trim().strip_prefix(marker)) else {
        return false;
    };
    // Only one pair of parentheses is allowed, with no calls in it.
    let inside = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    arguments.is_empty() || inside.is_some_and(|inside| !inside.contains(['(', ')', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intelligence::{Position, SymbolKind};

    fn is_stub(text: &str) -> bool {
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let position = Position { line: 1, column: 5 };
        let function = Symbol { name: "f".to_owned(), kind: SymbolKind::Function, position, lines: 1..=lines };
        is_python_stub(text, &function, &["NotImplementedError".to_owned()])
    }

    /// TC-05, TC-25
    #[test]
    fn a_body_that_only_raises_is_a_stub() {
        for text in [
            "def f(): raise NotImplementedError",
            "def f(self, a: dict[str, int] = {'a:': 1}) -> \"list[int]\":\n    raise NotImplementedError\n",
            "def f(\n    a: int,\n) -> int:\n    \"\"\"Gives one.\n\n    raise ValueError\n    \"\"\"\n    raise NotImplementedError(\"later\")  # TODO\n",
            "def f():\n    # Not yet.\n    r'''One.'''\n    # Later.\n    raise NotImplementedError()\n",
        ] {
            assert!(is_stub(text), "{text}");
        }
    }

    #[test]
    fn a_body_that_does_something_is_none() {
        for text in [
            "def f(): return 1",
            "def f():\n    pass\n",
            "def f():\n    \"\"\"raise NotImplementedError\"\"\"\n",
            "def f():\n    x = 1\n    raise NotImplementedError\n",
            "def f():\n    raise NotImplementedErrorOfMine\n",
            "def f():\n    raise NotImplementedError(g())\n",
            "def f():\n    raise NotImplementedError; g()\n",
            "def f():\n    return 1\n    raise NotImplementedError\n",
            "def f():\n    \"\"\"Without an end\n    raise NotImplementedError\n",
            "def f(",
        ] {
            assert!(!is_stub(text), "{text}");
        }
    }
}
