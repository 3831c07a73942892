//! Reads Python functions as statements of tokens.

/// A part of a statement, without the blanks around it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A name, a number or a character of an operator; before a string, its prefix.
    Code(&'a str),
    /// The contents of a string, whatever its quotes.
    Text(&'a str),
}

/// A line of code, in which the lines within brackets are joined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The characters before it; later how many blocks it is in.
    pub(crate) indent: usize,
    pub(crate) tokens: Vec<Token<'a>>,
}

/// The statements of a function, each with the number of blocks around it: without its signature, and without strings
/// that are whole statements, such as docstrings. `None` if a string does not end, or if its end is uncertain.
pub(crate) fn body_of(function: &str) -> Option<Vec<Line<'_>>> {
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
                if is_formatted(prefix) && !is_whole(inside) {
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

/// Whether a string with this prefix can contain expressions.
pub(crate) fn is_formatted(prefix: &str) -> bool {
    prefix.contains(['f', 'F', 't', 'T'])
}

/// Whether a string with expressions ends after these contents. There may be strings inside of its expressions, and the end
/// of one of these is not the end.
fn is_whole(inside: &str) -> bool {
    let (mut depth, mut characters) = (0_u32, inside.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '{' | '}' if depth == 0 && characters.next_if_eq(&character).is_some() => {}
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => return false,
            '"' | '\'' if depth > 0 => return false,
            _ => {}
        }
    }
    depth == 0
}

/// The contents of the string at the beginning of a text, and the text after it.
fn string_at(text: &str) -> Option<(&str, &str)> {
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
