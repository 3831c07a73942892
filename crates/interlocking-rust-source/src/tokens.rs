//! Helpers that recognise what is at an index of a list of tokens.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The identifier at an index, without `r#`.
pub(crate) fn name_at(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at) {
        Some(TokenTree::Ident(name)) => {
            let name = name.to_string();
            Some(name.strip_prefix("r#").map(str::to_owned).unwrap_or(name))
        }
        _ => None,
    }
}

pub(crate) fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(found)) if found.as_char() == mark)
}

/// Whether there is a `::` at an index.
pub(crate) fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':')
}

/// Whether the token at an index is the name of a field or a method: it follows a dot that is not part of a range, and begins no
/// path. A macro can drop the dot before a path.
pub(crate) fn is_member(tokens: &[TokenTree], at: usize) -> bool {
    let is_after_dot = at >= 1 && is_mark(tokens.get(at - 1), '.') && !(at >= 2 && is_mark(tokens.get(at - 2), '.'));
    let has_type_arguments = is_mark(tokens.get(at + 3), '<');
    is_after_dot && (!is_separator(tokens, at + 1) || has_type_arguments)
}

/// The tokens of a stream, or of a group in it.
pub(crate) struct Level {
    pub(crate) tokens: Vec<TokenTree>,
    /// Whether the tokens are between the braces of a `use`, and continue its path.
    pub(crate) is_of_use: bool,
}

/// The tokens of a stream and of each group in it, as separate lists.
pub(crate) fn levels(stream: TokenStream) -> Vec<Level> {
    let (mut levels, mut waiting) = (Vec::new(), vec![(stream, false)]);
    while let Some((stream, is_of_use)) = waiting.pop() {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut in_use = false;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "use" => in_use = true,
                TokenTree::Punct(mark) if mark.as_char() == ';' => in_use = false,
                TokenTree::Group(group) => {
                    let continues = at == 0 || is_mark(tokens.get(at - 1), ':') || is_mark(tokens.get(at - 1), ',');
                    let follows_use = at > 0 && name_at(&tokens, at - 1).as_deref() == Some("use");
                    let is_brace = group.delimiter() == Delimiter::Brace;
                    let continues = is_brace && (is_of_use && continues || in_use && (continues || follows_use));
                    waiting.push((group.stream(), continues));
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        levels.push(Level { tokens, is_of_use });
    }
    levels
}
