use textstats::count;

#[path = "../src/json.rs"]
mod json;

#[test]
fn counts_are_an_object() {
    let json = json::json(&count::count("high water"));
    assert_eq!(json, r#"{"lines": 1, "words": 2, "characters": 10}"#);
}
