//! Recognises Python functions that are still stubs.

use crate::intelligence::Symbol;

/// Whether the body of a Python function is a stub: besides its docstring and comments, it only raises one of `markers`, such as
/// `NotImplementedError`, with or without arguments.
pub fn is_python_stub(text: &str, function: &Symbol, markers: &[String]) -> bool {
    let (first, last) = (function.position.line, *function.lines.end());
    let count = last.saturating_sub(first).saturating_add(1) as usize;
    let lines: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(count).collect();
    // For Python, a carriage return alone ends a line, too.
    let code = Some(lines.join("\n")).filter(|text| !text.contains('\r')).and_then(|text| code_of(&text));
    let Some(body) = code.as_deref().and_then(after_signature) else { return false };
    let statements: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match statements[..] {
        [only] => markers.iter().any(|marker| raises(only, marker)),
        [documentation, only] if is_documentation(documentation) => markers.iter().any(|marker| raises(only, marker)),
        _ => false,
    }
}

/// The code of a text, a statement a line: without comments, with `""` for each string, and with the lines within brackets
/// joined. `None` if a string does not end, or contains expressions: these are code, too.
fn code_of(text: &str) -> Option<String> {
    let (mut code, mut depth, mut rest) = (String::new(), 0_u32, text);
    while let Some(next) = rest.chars().next() {
        match next {
            '#' => {
                rest = rest.trim_start_matches(|it| it != '\n');
                continue;
            }
            '"' | '\'' => {
                let (inside, after) = string_at(rest)?;
                let prefix = code.trim_end_matches(|it: char| it.is_ascii_alphabetic()).len();
                if inside.contains('{') && code[prefix..].contains(['f', 'F', 't', 'T']) {
                    return None;
                }
                code.push_str("\"\"");
                rest = after;
                continue;
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        code.push(if next == '\n' && depth > 0 { ' ' } else { next });
        rest = &rest[next.len_utf8()..];
    }
    Some(code)
}

/// The contents of the string at the beginning of a text, and the text after it.
pub(crate) fn string_at(text: &str) -> Option<(&str, &str)> {
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| text.starts_with(quotes))?;
    let inside = &text[quotes.len()..];
    let mut is_escaped = false;
    for (at, character) in inside.char_indices() {
        match character {
            // This holds in raw strings, too.
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quotes.len() == 1 => return None,
            _ if inside[at..].starts_with(quotes) => return Some((&inside[..at], &inside[at + quotes.len()..])),
            _ => {}
        }
    }
    None
}

/// The code after the colon that ends a signature.
fn after_signature(code: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return code.get(at + 1..),
            _ => {}
        }
    }
    None
}

/// Whether a statement is a string.
fn is_documentation(statement: &str) -> bool {
    statement.trim_start_matches(['r', 'R', 'u', 'U']) == "\"\""
}

/// Whether a statement is `raise Marker` or `raise Marker("…")`.
fn raises(statement: &str, marker: &str) -> bool {
    let Some(arguments) = statement.strip_prefix("raise ").and_then(|raised| raised.trim().strip_prefix(marker)) else {
        return false;
    };
    // Only one pair of parentheses is allowed, with no calls in it. The contents of strings are not here.
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
            "def f():\n    raise NotImplementedError(\"see #12\")\n",
            "def f():\n    raise NotImplementedError('push() is missing; later')  # push()\n",
            "def f():\n    raise NotImplementedError(\n        \"a long one\"\n    )\n",
            "def f(a='\\'', b=\"):\"):  # a: b\n    raise NotImplementedError\n",
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
