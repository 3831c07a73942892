//! Trees written as YAML.

use expect_test::expect;
use interlocking_document::{Document, Source};
use proptest::prelude::*;
use serde_json::Value as Json;

fn written(json: &str) -> String {
    Document::json(Source::new("file", json)).unwrap().root().to_yaml()
}

#[test]
fn tables_and_lists_stand_in_blocks() {
    let json = r#"{"b": [["cargo", "test"], [], {"x": 1, "y": {"z": null}}], "a": "", "true": "yes it is", "text": "true",
        "number": "6.10", "colon": "a: b", "dash": "- a", "comment": "a #b", "lines": "a\nb: c\n", "texts": ["x\n- y", "-z"], "bare": "a\n\nb", "option": "--a", "empty": {}, "-1": -1.0,
        "long": ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"]}"#;
    expect![[r#"
        b:
          - [cargo, test]
          - []
          - x: 1
            y:
              z: null
        a: ""
        "true": yes it is
        text: "true"
        number: "6.10"
        colon: "a: b"
        dash: "- a"
        comment: "a #b"
        lines: |
          a
          b: c
        texts:
          - |-
            x
            - y
          - -z
        bare: "a\n\nb"
        option: --a
        empty: {}
        "-1": -1.0
        long:
          - aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
          - bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    "#]]
    .assert_eq(&written(json));
}

#[test]
fn what_stands_without_quotes_is_what_it_was() {
    let yaml = "a:\nb: ~\nc: [~, Null, -.5, -.inf, 0x1f, True]\nd: \"~\"\ne: \"\"\nf:\n  -\n  - g:\n";
    expect![[r#"
        a: null
        b: null
        c: [null, null, -.5, -.inf, 0x1f, True]
        d: "~"
        e: ""
        f:
          - null
          - g: null
    "#]]
    .assert_eq(&Document::yaml(Source::new("file", yaml)).unwrap().root().to_yaml());
}

fn json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~\n]{0,12}",
        "([a-z:#-][ -~]{0,3}\n){1,3}[a-z]?",
        prop::sample::select(vec![
            "null", "~", "1e3", "0x1f", "-", "---", "...", "? a", "a:", "{", "]", "&a", "*a", "!a", "% a", "@", "`"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has it", |number| number.is_finite()).prop_map(Json::from),
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(text.clone(), inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// A reader takes at most 1024 characters for a key, unless the key is marked explicitly.
#[test]
fn keys_of_any_length_are_read_as_keys() {
    for length in [999, 1000, 1001, 1022, 1030, 5000] {
        let key = "ü ".repeat(length / 3) + &"k".repeat(length % 3);
        let json = serde_json::json!({ "a": [{ &key: { &key: "v", "b": [[1, { "c": 2 }]] } }], &key: [] });
        let yaml = written(&json.to_string());
        let read = Document::yaml(Source::new("file", &yaml)).unwrap_or_else(|problems| panic!("{problems}\n{yaml}"));
        assert_eq!(read.root().to_json().unwrap(), json, "{yaml}");
    }
}

proptest! {
    /// Written text is read back as the same value.
    #[test]
    fn what_is_written_reads_as_the_same(json in json()) {
        let yaml = written(&json.to_string());
        let read = Document::yaml(Source::new("file", &yaml));
        let read = read.map_err(|problems| TestCaseError::fail(format!("{problems}\n{yaml}")))?;
        prop_assert_eq!(read.root().to_json().unwrap(), json, "{}", yaml);
        // And it is written in the same way again.
        prop_assert_eq!(read.root().to_yaml(), yaml);
    }
}
