//! The names of runs.

use interlocking_core::run_id::RunId;

#[test]
fn a_run_id_is_a_safe_word() {
    for good in ["a", "run-7", &"x".repeat(64)] {
        assert_eq!(good.parse::<RunId>().unwrap().as_str(), good);
        assert_eq!(RunId::new(good), good.parse());
    }
    for bad in ["", "-a", "a-", "A", "a/b", "..", "a b", "ä", "a\n", &"x".repeat(65)] {
        assert!(bad.parse::<RunId>().is_err(), "{bad:?}");
        assert_eq!(RunId::new(bad).unwrap_err(), bad.parse::<RunId>().unwrap_err());
    }
    assert_eq!(
        "../x".parse::<RunId>().unwrap_err().to_string(),
        r#""../x" is not a run id: only lower-case letters, digits and hyphens are allowed"#
    );
}
