//! Everybody does what they say.

use crate::stage::Stage;
use hybrid::demo::Scenario;

#[tokio::test(flavor = "multi_thread")]
async fn the_work_lands_on_main() {
    let stage = Stage::new(Scenario::Happy).await;
    let ended = stage.run().await;
    let result = ended.result.as_ref().unwrap();
    assert!(result.success, "{:#?}", result.failure);
    let log = stage.git(&["log", "--format=%s", "main"]);
    assert_eq!(log.lines().count(), 6, "{log}");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
}
