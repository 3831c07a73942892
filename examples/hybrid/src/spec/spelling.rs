//! How a field may be spelt.

/// The other spellings of `implPath`: `impl_path`, and `specImplPath` where the protocol's original names have the prefix `spec`.
pub(super) fn spellings(name: &str, prefix: &str) -> Vec<String> {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    let mut spellings = vec![snake];
    if let (false, Some(first)) = (prefix.is_empty(), name.get(..1)) {
        spellings.push(format!("{prefix}{}{}", first.to_ascii_uppercase(), &name[1..]));
    }
    spellings
}
