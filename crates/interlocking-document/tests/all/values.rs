//! The same values in every language.

use std::collections::BTreeMap;

use interlocking_document::{Document, Field, Position, Problems, Source, Value};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    text: String,
    small: u8,
    negative: i64,
    large: u64,
    float: f64,
    whole_float: f64,
    truth: bool,
    nothing: Option<String>,
    list: Vec<(u8, String)>,
    table: BTreeMap<String, Vec<String>>,
    variants: Vec<Variant>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Variant {
    Unit,
    Newtype(u8),
    Tuple(u8, String),
    Struct { a: Option<u8> },
}

const TOML: &str = r#"
text = "ü"
small = 0xff
negative = -1
large = 18446744073709551615
float = 1.5
whole_float = 2
truth = true
list = [[1, "1"]]
variants = ["unit", { newtype = 1 }, { tuple = [1, "x"] }, { struct = { a = 3 } }]
[table]
a = ["b"]
"#;

const JSON: &str = r#"{"text": "\u00fc", "small": 255, "negative": -1, "large": 18446744073709551615, "float": 15e-1,
  "whole_float": 2, "truth": true, "nothing": null, "list": [[1, "1"]], "table": {"a": ["b"]},
  "variants": ["unit", {"newtype": 1}, {"tuple": [1, "x"]}, {"struct": {"a": 3}}]}"#;

const YAML: &str = "
text: ü
small: 0xff
negative: -1
large: 18446744073709551615
float: 1.5
whole_float: 2
truth: true
nothing: ~
list:
  - [1, 1]
table:
  a:
    - b
variants: [unit, newtype: 1, tuple: [1, x], struct: {a: 3}]
";

fn all(root: Field<'_>, problems: &mut Problems) -> Option<All> {
    root.read(problems)
}

#[test]
fn every_language_says_the_same() {
    let expected = All {
        text: "ü".to_owned(),
        small: 255,
        negative: -1,
        large: u64::MAX,
        float: 1.5,
        whole_float: 2.0,
        truth: true,
        nothing: None,
        list: vec![(1, "1".to_owned())],
        table: BTreeMap::from([("a".to_owned(), vec!["b".to_owned()])]),
        variants: vec![
            Variant::Unit,
            Variant::Newtype(1),
            Variant::Tuple(1, "x".to_owned()),
            Variant::Struct { a: Some(3) },
        ],
    };
    assert_eq!(Document::toml(Source::new("a", TOML)).unwrap().read(all).unwrap(), expected);
    assert_eq!(Document::json(Source::new("a", JSON)).unwrap().read(all).unwrap(), expected);
    assert_eq!(Document::yaml(Source::new("a", YAML)).unwrap().read(all).unwrap(), expected);
}

/// An unquoted text is read as the requested type: as a number for one reader, as the same characters
/// for another.
#[test]
fn yaml_without_quotes_is_what_is_asked_for() {
    let read = |text: &str| Document::yaml(Source::new("a", text)).unwrap();
    let text = |text: &str| read(text).read(|root, problems| root.read::<String>(problems)).ok();
    for word in ["6.10", "0123", "1e400", "true", "yes", "2026-11-23", "0x1"] {
        assert_eq!(text(word).as_deref(), Some(word));
    }
    assert_eq!((text("~"), text("''").as_deref(), text("'~'").as_deref()), (None, Some(""), Some("~")));
    let number = |text: &str| read(text).read(|root, problems| root.read::<i64>(problems)).ok();
    assert_eq!(
        ["12", "+12", "-0x1", "0o17", "'12'", "1_0", "--1"].map(number),
        [Some(12), Some(12), None, Some(15), None, None, None]
    );
    let float = |text: &str| read(text).read(|root, problems| root.read::<f64>(problems)).ok();
    assert_eq!(
        ["1.5", ".5", "1e3", "inf", "nan", ".inf"].map(float),
        [Some(1.5), Some(0.5), Some(1000.0), None, None, Some(f64::INFINITY)]
    );
    let json = |text: &str| read(text).root().to_json().unwrap().to_string();
    assert_eq!(json("[6.5, a, '6', true, ~, {a: 7}]"), r#"[6.5,"a","6",true,null,{"a":7}]"#);
}

/// Dates of TOML are texts; numbers that JSON cannot express are refused with their location.
#[test]
fn values_become_json() {
    let toml = |text: &str| Document::toml(Source::new("a", text)).unwrap().root().to_json();
    let text = "a = 1979-05-27T07:32:00Z\nb = [1, 2.5, 0b11]\nc.d = true";
    assert_eq!(toml(text).unwrap().to_string(), r#"{"a":"1979-05-27T07:32:00Z","b":[1,2.5,3],"c":{"d":true}}"#);
    let place = Position { line: 2, column: 10 };
    assert_eq!(
        toml("\na = [1, -inf]").unwrap_err(),
        (Position { column: 9, ..place }, "-inf is not a number in JSON".to_owned())
    );
    let json = Document::json(Source::new("a", JSON)).unwrap();
    assert_eq!(json.root().to_json().unwrap(), serde_json::from_str::<serde_json::Value>(JSON).unwrap());
}

/// Every key and value of a JSON text has its location in the text.
#[test]
fn json_is_walked_as_it_is_written() {
    let text = "\n [ {\"a\\\"\\\\\" : [ ], \"ß\":{}, \"c\" : -1.5e+3},\"}]\",[[ ]],\ttrue ]\n";
    let document = Document::json(Source::new("a", text)).unwrap();
    let mut places = Vec::new();
    let mut todo = vec![document.root()];
    while let Some(node) = todo.pop() {
        places.push((node.position.line, node.position.column, node.to_string()));
        match &node.value {
            Value::List(items) => todo.extend(items),
            Value::Table(entries) => {
                for (key, value) in entries {
                    places.push((key.position.line, key.position.column, key.name.clone()));
                    todo.push(value);
                }
            }
            _ => {}
        }
    }
    places.sort();
    let expected = [
        (2, 2, "a list"),
        (2, 4, "a table"),
        (2, 5, "a\"\\"),
        (2, 15, "a list"),
        (2, 20, "ß"),
        (2, 24, "a table"),
        (2, 28, "c"),
        (2, 34, "`-1500`"),
        (2, 43, "\"}]\""),
        (2, 48, "a list"),
        (2, 49, "a list"),
        (2, 55, "`true`"),
    ];
    assert_eq!(places, expected.map(|(line, column, shown)| (line, column, shown.to_owned())));
}
