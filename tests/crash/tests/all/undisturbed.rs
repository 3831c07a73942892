//! The run that all others are held against.

use crate::case::undisturbed;

#[tokio::test]
async fn a_run_that_nobody_disturbs_uses_every_node_kind() {
    let ending = undisturbed().await;
    expect_test::expect![[r#""#]].assert_eq(&format!("{}\n", serde_json::to_string_pretty(ending).unwrap()));
}
