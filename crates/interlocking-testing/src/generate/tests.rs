use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generate;

fn check<T: JsonSchema>(most: usize, expected: Expect) {
    let values = generate(&schemars::schema_for!(T).to_value(), most);
    let lines: String = values.iter().map(|value| format!("{value}\n")).collect();
    expected.assert_eq(&lines);
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Verdict {
    Approved,
    Rejected { reasons: Vec<String>, severity: Severity },
    Later(Later),
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Severity {
    Low,
    High,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Later {
    days: u8,
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Self>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum External {
    Unit,
    Number(i64),
    Pair(bool, f64),
}

#[test]
fn each_variant_comes_before_what_differs_within_one() {
    check::<Verdict>(
        8,
        expect![[r#"
            {"kind":"approved"}
            {"kind":"rejected","reasons":["text"],"severity":"Low"}
            {"days":1,"kind":"later","note":"text"}
            {"kind":"rejected","reasons":["text"],"severity":"High"}
            {"days":1,"kind":"later"}
            {"kind":"rejected","reasons":[],"severity":"Low"}
            {"days":1,"kind":"later","note":null}
            {"kind":"rejected","reasons":[""],"severity":"Low"}
        "#]],
    );
    check::<External>(
        8,
        expect![[r#"
        "Unit"
        {"Number":1}
        {"Pair":[true,1.0]}
        {"Number":0}
        {"Pair":[true,0.0]}
        {"Number":-1}
        {"Pair":[true,0.5]}
        {"Number":1000000}
    "#]],
    );
}

#[test]
fn bounds_and_absences_are_tried() {
    check::<Later>(
        12,
        expect![[r#"
        {"days":1,"note":"text"}
        {"days":1}
        {"days":1,"note":null}
        {"days":1,"note":""}
        {"days":0,"note":"text"}
        {"days":255,"note":"text"}
        {"days":2,"note":"text"}
        {"days":10,"note":"text"}
        {"days":100,"note":"text"}
        {"days":0}
        {"days":0,"note":null}
        {"days":0,"note":""}
    "#]],
    );
}

#[test]
fn what_is_recursive_ends() {
    check::<Tree>(
        4,
        expect![[r#"
            {"children":[{"children":[{"children":[],"name":"text"}],"name":"text"}],"name":"text"}
            {"children":[{"children":[{"children":[],"name":"text"}],"name":"text"}],"name":""}
            {"children":[],"name":"text"}
            {"children":[{"children":[{"children":[],"name":"text"}],"name":""}],"name":"text"}
        "#]],
    );
}
