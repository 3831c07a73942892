//! Tells whether a change of a Python function is one of its code.

use crate::python_stub::string_at;

/// Whether the bodies of two versions of a Python function differ as code: in more than comments, formatting and
/// docstrings. Both texts begin with the line of `def`. What cannot be read counts as code.
pub fn is_other_python_body(one: &str, other: &str) -> bool {
    match (body_of(one), body_of(other)) {
        (Some(one), Some(other)) => one != other,
        _ => one != other,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name, a number or a character of an operator; before a string, its prefix.
    Code(&'a str),
    /// The contents of a string, whatever its quotes.
    Text(&'a str),
}

/// A line of code, in which the lines within brackets are joined.
#[derive(Debug, Default, PartialEq, Eq)]
struct Line<'a> {
    /// The characters before it; later how many blocks it is in.
    indent: usize,
    tokens: Vec<Token<'a>>,
}

/// The statements of a function, each with the number of blocks around it: without its signature, and without strings
/// that are whole statements, such as docstrings. `None` if a string does not end, or if its end is uncertain.
fn body_of(function: &str) -> Option<Vec<Line<'_>>> {
    let mut lines = lines_of(function)?.into_iter();
    let mut signature = lines.next()?;
    let mut depth = 0_u32;
    let colon = signature.tokens.iter().position(|token| {
        deepen(&mut depth, token);
        depth == 0 && *token == Token::Code(":")
    })?;
    let mut blocks = vec![signature.indent];
    let mut body = vec![Line { indent: 0, tokens: signature.tokens.split_off(colon + 1) }];
    for line in lines {
        blocks.retain(|indent| *indent < line.indent);
        body.push(Line { indent: blocks.len(), tokens: line.tokens });
        blocks.push(line.indent);
    }
    let statements = body.into_iter().flat_map(|Line { indent, tokens }| {
        let mut statements = vec![Line { indent, tokens: Vec::new() }];
        for token in tokens {
            match (token, statements.last_mut()) {
                (Token::Code(";"), _) => statements.push(Line { indent, tokens: Vec::new() }),
                (token, Some(statement)) => statement.tokens.push(token),
                (_, None) => {}
            }
        }
        statements
    });
    Some(statements.filter(|statement| !is_documentation(&statement.tokens)).collect())
}

fn lines_of(text: &str) -> Option<Vec<Line<'_>>> {
    // For Python, a carriage return alone ends a line, too.
    if text.split("\r\n").any(|part| part.contains('\r')) {
        return None;
    }
    let (mut lines, mut line, mut depth, mut rest) = (Vec::new(), Line::default(), 0, text);
    while let Some(next) = rest.chars().next() {
        let mut length = next.len_utf8();
        match next {
            '#' => length = rest.find('\n').unwrap_or(rest.len()),
            '\\' => length = rest.find('\n').map_or(rest.len(), |end| end + 1),
            '\n' if depth == 0 => lines.push(std::mem::take(&mut line)),
            _ if next.is_whitespace() => line.indent += usize::from(line.tokens.is_empty()),
            '"' | '\'' => {
                let (inside, after) = string_at(rest)?;
                let before = &text[..text.len() - rest.len()];
                let prefix = &before[before.trim_end_matches(|it: char| it.is_ascii_alphabetic()).len()..];
                // The string may end elsewhere: strings can be inside of the expressions that it contains.
                if prefix.contains(['f', 'F', 't', 'T']) && inside.matches('{').count() != inside.matches('}').count() {
                    return None;
                }
                line.tokens.push(Token::Text(inside));
                length = rest.len() - after.len();
            }
            _ => {
                let is_of_name = |it: char| it == '_' || it.is_alphanumeric();
                if is_of_name(next) {
                    length = rest.find(|it| !is_of_name(it)).unwrap_or(rest.len());
                }
                let token = Token::Code(&rest[..length]);
                deepen(&mut depth, &token);
                line.tokens.push(token);
            }
        }
        rest = &rest[length..];
    }
    lines.push(line);
    lines.retain(|line| !line.tokens.is_empty());
    Some(lines)
}

fn deepen(depth: &mut u32, token: &Token<'_>) {
    match token {
        Token::Code("(" | "[" | "{") => *depth += 1,
        Token::Code(")" | "]" | "}") => *depth = depth.saturating_sub(1),
        _ => {}
    }
}

/// Whether a statement does nothing: it is empty, or consists of strings without expressions.
fn is_documentation(statement: &[Token<'_>]) -> bool {
    statement.iter().all(|token| matches!(token, Token::Text(_) | Token::Code("r" | "R" | "u" | "U")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "def push(self, value: int = 1) -> bool:  # Adds one.\n    \"\"\"Adds a value.\n\n    if full: no\n    \"\"\"\n    \
         if len(self.items) >= self.limit:\n        raise ValueError(f\"{value} is one too many\")\n    self.items.append('a')\n    \
         return True\n";

    #[track_caller]
    fn with(find: &str, replacement: &str) -> bool {
        assert_eq!(BEFORE.matches(find).count(), 1, "{find}");
        is_other_python_body(BEFORE, &BEFORE.replacen(find, replacement, 1))
    }

    /// TC-25
    #[test]
    fn other_code_is_a_change() {
        for (find, replacement) in [
            (">=", ">"),
            ("True", "False"),
            ("'a'", "'b'"),
            ("    self.items.append('a')\n", ""),
            ("    return True", "        return True"),
            ("{value} is", "{self} is"),
            ("if len(self.items) >= self.limit:\n        raise", "if False: raise"),
        ] {
            assert!(with(find, replacement), "{find} → {replacement}");
        }
        // A whole statement can be a call, and a string in the next line can belong to the statement.
        assert!(is_other_python_body("def f():\n    f'{g()}'\n", "def f():\n    f'{h()}'\n"));
        assert!(is_other_python_body("def f():\n    x = \\\n    'a'\n", "def f():\n    x = \\\n    'b'\n"));
        // What is not known to be a comment is code.
        assert!(is_other_python_body("def f():  # One.\r    return 1\n", "def f():  # One.\r    return 2\n"));
        let quotes = "def f():\n    return f\"{\"#\"}\"  # One.\n";
        assert!(is_other_python_body(quotes, &quotes.replace("One", "Two")));
    }

    /// TC-25
    #[test]
    fn words_and_formatting_are_none() {
        for (find, replacement) in [
            ("Adds a value", "Removes a value"),
            ("# Adds one.", "# Adds two."),
            ("if full: no", "if empty: no"),
            ("value: int = 1", "value: int = 2"),
            (">=", "  >=  "),
            ("    return True\n", "\n    # The end.\n    return True;\n"),
            ("\"\"\"Adds", "r\"\"\"Adds"),
            ("\n        raise", "\n            raise"),
        ] {
            assert!(!with(find, replacement), "{find} → {replacement}");
        }
        assert!(!is_other_python_body("def f(): return g(1, 2)\n", "def f(): return g(\n  1,\n  2)\n"));
        assert!(!is_other_python_body("def f():\r\n    return 1  # One.\r\n", "def f():\r\n    return 1\r\n"));
        assert!(!is_other_python_body("def f():\n    return 'a'\n", "def f():\n    return \"a\"\n"));
    }
}
