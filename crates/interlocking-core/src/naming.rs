//! The rule by which the derive makes the names of modules and labels from the names of types and variants.

/// `Newsroom` → `newsroom`, `HTTPServer` → `http_server`, `V3` → `v3`.
#[must_use]
pub fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                let ends_capitals =
                    before.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
                before.is_lowercase() || before.is_ascii_digit() || ends_capitals
            });
        if starts_word {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn the_words_of_a_name_are_found() {
        for (camel, snake) in [
            ("Newsroom", "newsroom"),
            ("NewsRoom", "news_room"),
            ("HTTPServer", "http_server"),
            ("Server2", "server2"),
            ("ABTest", "ab_test"),
            ("V3", "v3"),
            ("V3Loop", "v3_loop"),
            ("ScoutAndWave", "scout_and_wave"),
            ("already_snake", "already_snake"),
        ] {
            assert_eq!(snake_case(camel), snake);
        }
    }
}
