//! Every message, as a person reads it.

use expect_test::{Expect, expect};
use interlocking_document::{Document, Field, Problems, Source};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only what is wrong with it is looked at")]
struct Server {
    host: String,
    port: Option<u16>,
    mode: Option<Mode>,
    pair: Option<(u8, u8)>,
    inner: Option<Inner>,
    ratio: Option<f64>,
    letter: Option<char>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only what is wrong with it is looked at")]
struct Inner {
    names: Vec<String>,
    #[serde(default)]
    deep: std::collections::BTreeMap<String, bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only what is wrong with it is looked at")]
enum Mode {
    Fast,
    Slow(u8),
}

fn server(root: Field<'_>, problems: &mut Problems) -> Option<()> {
    root.read::<Server>(problems).map(drop)
}

#[track_caller]
fn check(texts: &[&str], expected: Expect) {
    let told = texts.iter().map(|text| {
        let problems = Document::toml(Source::new("a.toml", text)).and_then(|document| document.read(server));
        format!("{}\n", problems.unwrap_err())
    });
    expected.assert_eq(&told.collect::<String>());
}

/// What was expected, what is there, and where: the innermost wrong value.
#[test]
fn wrong_values_are_told_at_their_place() {
    check(
        &[
            "",
            "host = 3",
            "host = 'a'\nport = 65536",
            "host = 'a'\nport = 'x'",
            "host = 'a'\nport = 1.5",
            "host = 'a'\nmode = 'fsat'",
            "host = 'a'\nmode = 'medium'",
            "host = 'a'\nmode = 1",
            "host = 'a'\nmode = 'slow'",
            "host = 'a'\nmode = { slow = 'x' }",
            "host = 'a'\nmode = { fast = 1 }",
            "host = 'a'\nmode = { fats = 1 }",
            "host = 'a'\npair = [1, 2, 3]",
            "host = 'a'\npair = [1]",
            "host = 'a'\nratio = '1'",
            "host = 'a'\nletter = 'ab'",
            "host = 'a'\nhots = 'b'",
            "host = 'a'\n[inner]\nname = []",
            "host = 'a'\n[inner]",
            "host = 'a'\n[inner]\nnames = ['a', 'b',\n  3]",
            "host = 'a'\n[inner]\nnames = {}",
            "host = 'a'\ninner = 'x'",
            "host = 'a'\n[inner]\nnames = []\ndeep.\"a b\\u001b[2J\" = 3",
            &format!("host = 'a'\nport = '{}'", "ä".repeat(200)),
        ],
        expect![[r#"
            a.toml:1:1: the field `host` is missing: write it
            a.toml:1:8: `host`: expected text, found `3`
            a.toml:2:8: `port`: expected a whole number from 0 to 65535, found `65536`
            a.toml:2:8: `port`: expected a whole number from 0 to 65535, found "x"
            a.toml:2:8: `port`: expected a whole number from 0 to 65535, found `1.5`
            a.toml:2:8: `mode`: expected `fast` or `slow`, found "fsat" (did you mean `fast`?)
            a.toml:2:8: `mode`: expected `fast` or `slow`, found "medium"
            a.toml:2:8: `mode`: expected `fast` or `slow`, found `1`
            a.toml:2:8: `mode`: `slow` says more than its name: write a table, { slow = … }
            a.toml:2:17: `mode.slow`: expected a whole number from 0 to 255, found "x"
            a.toml:2:17: `mode.fast`: expected nothing, found `1`
            a.toml:2:10: `mode`: expected `fast` or `slow`, found "fats" (did you mean `fast`?)
            a.toml:2:8: `pair`: expected a list of 2, found one of 3
            a.toml:2:8: `pair`: expected a list of 2, found one of 1
            a.toml:2:9: `ratio`: expected a number, found "1"
            a.toml:2:10: `letter`: expected a character, found "ab"
            a.toml:2:1: `hots`: there is no such field (did you mean `host`?); the fields are `host`, `port`, `mode`, `pair`, `inner`, `ratio` and `letter`
            a.toml:3:1: `inner.name`: there is no such field (did you mean `names`?); the fields are `names` and `deep`
            a.toml:2:1: `inner`: the field `names` is missing: write it
            a.toml:4:3: `inner.names`: expected text, found `3`
            a.toml:3:9: `inner.names`: expected a list, found a table
            a.toml:2:9: `inner`: expected a table, found "x"
            a.toml:4:23: `inner.deep."a b\u{1b}[2J"`: expected `true` or `false`, found `3`
            a.toml:2:8: `port`: expected a whole number from 0 to 65535, found "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää"…
        "#]],
    );
}

/// All syntax errors at once, if the language's parser goes on after an error.
#[test]
fn what_is_not_well_formed_is_told_at_its_place() {
    let toml = |text: &str| Document::toml(Source::new("a.toml", text)).unwrap_err().to_string();
    let json = |text: &str| Document::json(Source::new("a.json", text)).unwrap_err().to_string();
    let yaml = |text: &str| Document::yaml(Source::new("a.yaml", text)).unwrap_err().to_string();
    let told = [
        toml("a = \n[b\nc = 'x'\n"),
        toml("a = 1\na = 2"),
        toml("a = 340282366920938463463374607431768211456"),
        json("{\n  \"ä\": }"),
        json("[1,]"),
        json("[\"\\ud800\"]"),
        json(""),
        json("1 2"),
        yaml("a: b: c"),
        yaml(""),
        yaml("a: 1\n---\nb: 2\n"),
        yaml("%YAML 1.2\n---\na: b\n"),
        yaml("a: &x 1\n"),
        yaml("a: *x\n"),
        yaml("a: !t x\n"),
    ];
    expect![[r#"
        a.toml:1:5: this is not TOML: string values must be quoted, expected literal string
        a.toml:2:3: this is not TOML: unclosed table, expected `]`
        a.toml:2:1: this is not TOML: duplicate key
        a.toml:1:5: `340282366920938463463374607431768211456` is too large a number
        a.json:2:8: this is not JSON: expected value
        a.json:1:4: this is not JSON: trailing comma
        a.json:1:9: this is not JSON: unexpected end of hex escape
        a.json:1:1: this is not JSON: EOF while parsing a value
        a.json:1:3: this is not JSON: trailing characters
        a.yaml:1:5: this is not YAML: mapping values are not allowed in this context
        a.yaml:1:1: there is no YAML document here: write one
        a.yaml:3:1: a second YAML document begins here: write exactly one
        a.yaml:1:1: this is not YAML: YAML directives are disallowed
        a.yaml:1:7: anchors and aliases are not taken: write the text out
        a.yaml:1:4: anchors and aliases are not taken: write the text out
        a.yaml:1:7: tags are not taken: remove "!t""#]]
    .assert_eq(&told.join("\n"));
    let utf8 = Document::yaml(Source::new("a.yaml", b"a: b\nd: gr\xfc\xdfe\n")).unwrap_err();
    expect!["a.yaml:2:6: this is not UTF-8 from here on: store it as UTF-8"].assert_eq(&utf8.to_string());
}

/// A duplicate key hides no other error, and is reported in every language.
#[test]
fn keys_are_there_once() {
    let read = |root: Field<'_>, problems: &mut Problems| {
        let mut fields = root.fields(problems)?;
        let a = fields.required::<u8>("a", problems);
        fields.finish(problems);
        a
    };
    let json = Document::json(Source::new("a.json", "{\"a\": 'x', \"a\": 1}".replace('\'', "\"").as_str())).unwrap();
    let yaml = Document::yaml(Source::new("a.yaml", "a: x\nb: 1\n'a': 2\n? [c]\n: d\n~: e\n")).unwrap();
    let told = format!("{}\n{}", json.read(read).unwrap_err(), yaml.read(read).unwrap_err());
    expect![[r#"
        a.json:1:7: `a`: expected a whole number from 0 to 255, found "x"
        a.json:1:12: `a` is here twice, first in line 1: remove one
        a.yaml:1:4: `a`: expected a whole number from 0 to 255, found "x"
        a.yaml:2:1: `b`: there is no such field; the only one is `a`
        a.yaml:3:1: `a` is here twice, first in line 1: remove one
        a.yaml:4:3: a key is a text, and here is a list: write a text
        a.yaml:6:1: a key is a text, and here is nothing: write a text"#]]
    .assert_eq(&told);
}

/// Missing, unknown and wrong fields in one table; a field with an alternative name; fields left for another reader.
#[test]
fn fields_are_taken_one_by_one() {
    let text = "ports = 1\nhost_name = 'a'\n[[list]]\nx = 1\n[[list]]\nx = 'y'\n[more.deep]\nz = 1";
    let document = Document::toml(Source::new("a.toml", text)).unwrap();
    let read = document.read(|root, problems| {
        let mut fields = root.fields(problems)?.with_spellings(|name| vec![name.replace("N", "_n")]);
        assert_eq!(fields.required::<String>("hostName", problems).as_deref(), Some("a"));
        assert_eq!(fields.optional("port", 80_u16, problems), Some(80));
        assert_eq!(fields.required::<String>("user", problems), None);
        for item in fields.take("list")?.items(problems)? {
            let mut fields = item.fields(problems)?;
            fields.required::<u8>("x", problems);
        }
        let more = fields.take("more")?;
        let (key, deep) = more.entries(problems)?.next()?;
        assert_eq!((&*key.name, deep.path()), ("deep", "more.deep"));
        deep.fields(problems)?.finish(problems);
        deep.refuse("not so deep", problems);
        fields.refuse("hostName", "no such host", problems);
        fields.refuse("port", "80 is taken", problems);
        let rest = fields.rest();
        assert_eq!(rest.to_json().unwrap().to_string(), r#"{"ports":1}"#);
        fields.finish(problems);
        Some(())
    });
    expect![[r#"
        a.toml:1:1: the field `user` is missing: write it
        a.toml:1:1: `port`: 80 is taken
        a.toml:1:1: `ports`: there is no such field (did you mean `port`?); the fields are `hostName`, `port`, `user`, `list` and `more`
        a.toml:2:13: `host_name`: no such host
        a.toml:6:5: `list.x`: expected a whole number from 0 to 255, found "y"
        a.toml:7:1: `more.deep`: not so deep
        a.toml:8:1: `more.deep.z`: there is no such field: remove it"#]].assert_eq(&read.unwrap_err().to_string());
}

/// Text of a file that an error quotes is one line, shortened, and contains no terminal control characters.
#[test]
fn a_file_writes_no_messages() {
    let text = format!("a = \"x\\nb.toml:1:1: all is well\\u001b[2J{}\"", "y".repeat(100_000));
    let document = Document::toml(Source::new("a.toml", &text)).unwrap();
    let told = document.read(|root, problems| {
        let told = root.fields(problems)?.required::<String>("a", problems)?;
        root.refuse(told, problems);
        Some(())
    });
    let told = told.unwrap_err().to_string();
    assert!(told.starts_with("a.toml:1:1: x\\nb.toml:1:1: all is well\\u{1b}[2Jyyy"), "{told}");
    assert!(told.ends_with("y…") && told.len() < 2100);
}
