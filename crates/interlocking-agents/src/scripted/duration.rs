//! Durations in the notation of scripts.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A whole number and a unit: `300ms`, `2s`, `5m`, `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delay(pub(crate) Duration);

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse(&text).map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "{text:?} is not a duration: write a whole number and ms, s, m or h, like \"300ms\""
            ))
        })
    }
}

/// Deserializes an optional field of settings, for `deserialize_with`.
pub(crate) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<Delay>::deserialize(deserializer).map(|delay| delay.map(|Delay(duration)| duration))
}

fn parse(text: &str) -> Option<Duration> {
    let unit_at = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(*factor)?))
}

/// The shortest exact spelling, in the same notation.
pub(crate) fn shown(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let (unit, factor) = UNITS
        .into_iter()
        .rev()
        .find(|(_, factor)| milliseconds > 0 && milliseconds.is_multiple_of(u128::from(*factor)))
        .unwrap_or(UNITS[0]);
    format!("{}{unit}", milliseconds / u128::from(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_whole_number_and_a_unit() {
        for (text, milliseconds) in [("0ms", 0), ("300ms", 300), ("2s", 2_000), ("5m", 300_000), ("1h", 3_600_000)] {
            assert_eq!(parse(text), Some(Duration::from_millis(milliseconds)), "{text}");
            assert_eq!(shown(Duration::from_millis(milliseconds)), text);
        }
        for bad in ["", "300", "ms", "1.5s", "-1s", "1 s", "1d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(shown(Duration::from_millis(90_000)), "90s");
    }
}
