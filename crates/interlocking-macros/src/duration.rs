//! Durations in attributes: `"90s"`.

/// The milliseconds that `text` stands for.
///
/// # Errors
///
/// A message that says what is wrong with the text.
pub(crate) fn milliseconds(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(format!("`{text}` is no duration: write a whole number and a unit, `ms`, `s`, `m` or `h`")),
    };
    if number.is_empty() {
        return Err(format!("`{text}` has no number: write one before the unit, as in `90s`"));
    }
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => Err("a timeout of zero leaves the node no time at all".to_owned()),
        Some(total) => Ok(total),
        None => Err(format!("`{text}` is longer than fits 64 bits of milliseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn units_are_milliseconds_to_hours() {
        assert_eq!(milliseconds("250ms"), Ok(250));
        assert_eq!(milliseconds("90s"), Ok(90_000));
        assert_eq!(milliseconds("5 m"), Ok(300_000));
        assert_eq!(milliseconds("2h"), Ok(7_200_000));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "90",
            "s",
            "ninety s",
            "1.5h",
            "-1s",
            "0s",
            "1d",
            "1m30s",
            "99999999999999999999h",
            "9999999999999999h",
        ] {
            assert!(milliseconds(text).is_err(), "{text:?}");
        }
    }
}
