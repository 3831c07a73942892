//! The variants of approaches.

use crate::support::shipped;
use interlocking_envoy::{ApproachId, check_approaches};

/// `1`, `1_A`.
fn id(text: &str) -> ApproachId {
    let (number, variant) = text.split_once('_').map_or((text, None), |(number, letter)| (number, Some(letter)));
    ApproachId { number: number.parse().unwrap(), variant: variant.map(|letter| letter.parse().unwrap()) }
}

fn problems(approaches: &str) -> Vec<String> {
    check_approaches(approaches.split_whitespace().map(id)).iter().map(ToString::to_string).collect()
}

/// ENV-65: a number has either no letter or letters from A on, never both; a single variant has no
/// letter.
#[test]
fn a_number_stands_alone_or_has_letters() {
    for valid in ["", "1", "1 2 3", "1_A 1_B", "2_C 1 2_A 2_B", "3_B 7 3_A"] {
        assert_eq!(problems(valid), Vec::<String>::new(), "{valid}");
    }
    for (invalid, told) in [
        ("1 1_A 1_B", "approach 1 stands alone and has variants too: give all of them letters, or remove the variants"),
        ("1_A", "approach 1 has one variant only: leave its letter out, or add an alternative"),
        ("1_B 1_C", "the variants of approach 1 lack the letter A: letters begin with A and leave none out"),
        ("1_A 1_C", "the variants of approach 1 lack the letter B: letters begin with A and leave none out"),
        ("4_B", "the variants of approach 4 lack the letter A: letters begin with A and leave none out"),
        ("1 1", "approach 1 is there twice: give each alternative a letter of its own"),
        ("1_A 1_A", "approach 1_A is there twice: give each alternative a letter of its own"),
    ] {
        assert_eq!(problems(invalid), [told], "{invalid}");
    }
    assert_eq!(problems("2_A 1 1_A 3").len(), 2, "one of each number");
    for text in ["a", "AA", "", "1", "Ä"] {
        assert!(text.parse::<interlocking_envoy::Variant>().is_err(), "{text}");
    }
}

/// ENV-65: the protocol's examples of valid and invalid variants are right.
#[test]
fn the_protocols_examples_are_right() {
    for name in ["discovery", "bug-discovery"] {
        let text = shipped(name).steps.pop().unwrap().text;
        let example = |start: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(start)).unwrap();
            let line = line.split(" (").next().unwrap().replace("approach ", "").replace(" +", "");
            problems(&line)
        };
        assert_eq!(example("* INVALID: ").len(), 1);
        assert_eq!(example("* VALID: "), Vec::<String>::new());
        assert!(text.contains("* VALID: approach 1 (alone), or approach 1_A + 1_B (variants only)"));
        assert_eq!(problems("1_A 1_B"), Vec::<String>::new());
    }
}
