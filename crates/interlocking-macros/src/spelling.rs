//! Types spelled as an author would write them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// Spells tokens as `Vec<Draft>`, where their own text would be `Vec < Draft >`.
pub(crate) fn of(tokens: impl ToTokens) -> String {
    let mut text = String::new();
    write(tokens.to_token_stream(), &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut after = After::Nothing;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                if matches!(after, After::Separator | After::Lifetime)
                    || (after == After::Word && group.delimiter() == Delimiter::Brace)
                {
                    text.push(' ');
                }
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
                after = After::Word;
            }
            TokenTree::Punct(punct) => {
                let symbol = punct.as_char();
                let spaced = matches!(symbol, '+' | '=') || (symbol == '-' && punct.spacing() == Spacing::Joint);
                let opens = matches!(symbol, '&' | '*' | '\'' | '<' | ':' | '!');
                if spaced
                    || (after == After::Separator && opens)
                    || (matches!(after, After::Word | After::Lifetime) && matches!(symbol, '\'' | '*'))
                {
                    text.push(' ');
                }
                text.push(symbol);
                after = match symbol {
                    ',' | ';' | '+' | '=' => After::Separator,
                    '>' if text.ends_with("->") => After::Separator,
                    '>' => After::Word,
                    _ => After::Nothing,
                };
            }
            word => {
                if after != After::Nothing {
                    text.push(' ');
                }
                let of_lifetime = text.ends_with('\'');
                text.push_str(&word.to_string());
                after = if of_lifetime { After::Lifetime } else { After::Word };
            }
        }
    }
}

/// What comes before the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Word,
    /// The name of a lifetime.
    Lifetime,
    Separator,
}

#[cfg(test)]
mod tests {
    #[test]
    fn types_are_spelled_as_people_do() {
        for spelled in [
            "Draft",
            "Vec<Draft>",
            "std::collections::BTreeMap<String, Vec<(u8, [u64; 4])>>",
            "::core::option::Option<&'static str>",
            "&'a mut T",
            "&'a [u8]",
            "Pair<'a, &'a (u8, u8)>",
            "Result<(), Box<dyn Error + Send + Sync>>",
            "<A as B>::C",
            "fn(u8, u8) -> bool",
            "Box<dyn Iterator<Item = u8>>",
            "Prompt<'_>",
        ] {
            let tokens: proc_macro2::TokenStream = spelled.parse().unwrap();
            assert_eq!(super::of(tokens), spelled);
        }
    }
}
