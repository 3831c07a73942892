//! Recognises Python functions that are still stubs.

use crate::{
    intelligence::Symbol,
    python_code::{Token, body_of, is_formatted},
};

/// Whether the body of a Python function is a stub: besides its docstring and comments, it only raises one of `markers`, such as
/// `NotImplementedError`, with or without arguments.
pub fn is_python_stub(text: &str, function: &Symbol, markers: &[String]) -> bool {
    let (first, last) = (function.position.line, *function.lines.end());
    let count = last.saturating_sub(first).saturating_add(1) as usize;
    let lines: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(count).collect();
    let text = lines.join("\n");
    let Some(body) = body_of(&text) else { return false };
    match &body[..] {
        [only] => markers.iter().any(|marker| raises(&only.tokens, marker)),
        _ => false,
    }
}

/// Whether a statement is `raise Marker` or `raise Marker("…")`.
fn raises(statement: &[Token<'_>], marker: &str) -> bool {
    let [Token::Code("raise"), raised @ ..] = statement else { return false };
    let end = raised.iter().position(|token| *token == Token::Code("(")).unwrap_or(raised.len());
    let (name, arguments) = raised.split_at(end);
    let name: String = name.iter().map(|token| if let Token::Code(code) = token { *code } else { "\"\"" }).collect();
    // Only one pair of parentheses is allowed, with no calls in it.
    name == marker
        && !arguments.iter().skip(1).any(|token| *token == Token::Code("("))
        && !arguments.windows(2).any(is_computed)
        && (arguments.is_empty() || arguments.ends_with(&[Token::Code(")")]))
}

/// Whether these tokens are a string with expressions.
fn is_computed(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [Token::Code(prefix), Token::Text(inside)] if is_formatted(prefix) && inside.contains('{'))
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
            "def f():\n    raise NotImplementedError(\"see #12\")\n",
            "def f():\n    raise NotImplementedError('push() is missing; later')  # push()\n",
            "def f():\n    raise NotImplementedError(\n        \"a long one\"\n    )\n",
            "def f(a='\\'', b=\"):\"):  # a: b\n    raise NotImplementedError\n",
            "def f(a=f\"{1}\"):\n    raise \\\n        NotImplementedError\n",
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
            "def f(a='\\'', b=''):\n    return 1  # '):\n    raise NotImplementedError\n",
            "def f(a=\"\",  # \"\n    ):\n    return 1  # \"):\n    raise NotImplementedError\n",
            "def f():\n    raise NotImplementedError(f\"{g()}\")\n",
            "def f():\n    f\"{g()}\"\n    raise NotImplementedError\n",
            "def f(a=f\"{\"'\"}\"): return 1  # '):\n    raise NotImplementedError\n",
            "def f():  # Later.\r    return 1\n    raise NotImplementedError\n",
            "def f():\n    \"one\"; g()\n    raise NotImplementedError\n",
            "def f():\n    \"\"\"Without an end\n    raise NotImplementedError\n",
            "def f(",
        ] {
            assert!(!is_stub(text), "{text}");
        }
    }
}
