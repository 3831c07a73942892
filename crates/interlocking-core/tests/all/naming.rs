//! Names of types as names of modules.

use interlocking_core::naming::snake_case;

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
