//! Child runs: shown below their node, answered through their parent, removed with it.

use crate::review::{Review, Topic};
use crate::support::call;
use interlocking::agents::{Script, ScriptedAgent};
use interlocking::cli::{Cli, NoArguments, Start};
use interlocking::prelude::*;
use std::sync::Arc;

/// Reviews several texts.
#[derive(Graph)]
#[graph(output = Vec<String>)]
struct Edition {
    #[node(entry, input = Vec<String>, map = Review, goto(exit))]
    texts: MapNode<Texts>,
}
held!(Edition);

struct Texts;
impl MapHandler<edition::texts> for Texts {
    fn graph(&self, _: &Cx<'_, edition::texts>) -> Result<Arc<Review>, NodeError> {
        Ok(Arc::new(Review::default()))
    }

    async fn items(
        &self,
        topics: &Vec<String>,
        _: &mut Cx<'_, edition::texts>,
    ) -> Result<Vec<Item<Review>>, NodeError> {
        Ok(topics.iter().map(|topic| Item::new(Topic(topic.clone()))).collect())
    }

    async fn gather(
        &self,
        _: Vec<String>,
        children: Children<Review>,
        cx: &mut Cx<'_, edition::texts>,
    ) -> Route<edition::texts> {
        let texts = children.all().await.into_iter().map(|child| child.result).collect::<Result<_, _>>()?;
        goto!(cx, edition::exit, texts)
    }
}

#[tokio::test]
async fn child_runs_are_shown_answered_and_removed_with_their_parent() {
    let place = tempfile::tempdir().unwrap();
    let set_up = |_: NoArguments, _: Start| async {
        let script = "[[turn]]\ntimes = 'any'\ncontains = ['storms']\ncost = 0.0125\noutput_json = '\"Storms come.\"'\n\
                      [[turn]]\ntimes = 'any'\ncost = 0.0125\noutput_json = '\"The tide rises.\"'\n";
        let agent = ScriptedAgent::new(Script::parse("the writer's", script)?);
        Ok(Run::new(Edition { texts: MapNode(Texts) }).with_agent("draft", Arc::new(agent)))
    };
    let cli = Cli::new("edition", set_up);
    let call = async |words: &[&str]| call(&cli, &place, words, None).await;
    let waits = call(&["run", "--run-id", "e1", "--input", r#"["tides", "storms"]"#, "--quiet"]).await;
    assert_eq!(waits.exit, 3, "{waits:?}");
    let shown = call(&["show", "e1"]).await;
    // The children may begin in any order.
    let page = shown.page();
    for child in ["e1-df9154e97ad81b3b  Review  waiting", "e1-b39f6ef5c0229eff  Review  waiting"] {
        assert!(page.contains(child), "{page}");
    }
    for asked in ["asks {\"draft\":\"The tide rises.\"}", "asks {\"draft\":\"Storms come.\"}"] {
        assert_eq!(page.matches(asked).count(), 1, "{page}");
    }
    assert_eq!(call(&["list", "--json"]).await.json().as_array().unwrap().len(), 1);
    let all = call(&["list", "--json", "--all"]).await.json();
    assert_eq!(all.as_array().unwrap().iter().filter(|run| run["state"] == "waiting").count(), 3);

    let forked = call(&["fork", "e1-df9154e97ad81b3b", "--run-id", "alone"]).await;
    let told =
        "alone has the first 4 records of e1-df9154e97ad81b3b; only a program whose graph is `Review` can resume it\n";
    assert_eq!((forked.exit, forked.stderr.as_str()), (0, told));
    assert_eq!(call(&["cancel", "alone"]).await.exit, 0);
    assert_eq!(call(&["prune", "--keep-last", "0"]).await.exit, 0);

    let which = call(&["answer", "e1", r#"{"approved": true}"#]).await;
    let page = which.page();
    assert!(which.exit == 2 && page.contains("run `e1` asks more than one question: read.1.1 of e1-"), "{page}");
    let account = call(&["show", "e1", "--json"]).await.json();
    let children = account["executions"][0]["children"].as_array().unwrap();
    // The last one first, so that the question of the other is the only one that is open.
    for (number, child) in children.iter().enumerate().rev() {
        let (run, draft) = (child["run"].as_str().unwrap(), &child["executions"][1]["question"]["question"]);
        if number == 0 {
            let which = call(&["answer", "e1"]).await.page();
            assert!(which.contains(&format!("which asks {draft}\n")), "{which}");
        }
        let answered = call(&["answer", run, r#"{"approved": true}"#]).await;
        assert_eq!(answered.exit, 0, "{answered:?}");
        assert!(answered.stderr.contains("; `edition resume e1 --journal "), "{answered:?}");
        let shown = call(&["show", run]).await;
        assert!(shown.stdout.contains("\n`edition resume e1 --journal "), "{shown:?}");
        // Once one question is answered, the run can go on; the other is asked for the whole tree.
        assert_eq!(call(&["show", "e1", "--json"]).await.json()["state"], "stopped");
        let refused = call(&["resume", run, "--retry"]).await.page();
        assert_eq!(
            refused,
            format!(
                "exit 2\n! error: run `{run}` is a child run: it goes on with `e1`\n\
                 !   to do: `edition resume e1 --journal PLACE --retry` resumes both\n"
            )
        );
    }
    let finished = call(&["resume", "e1", "--quiet"]).await;
    assert_eq!(finished.exit, 0, "{finished:?}");
    assert_eq!(finished.json(), serde_json::json!(["The tide rises.", "Storms come."]));
    let account = call(&["show", "e1", "--json"]).await.json();
    assert_eq!((&account["usage"]["cost"], &account["total"]["cost"]), (&0.into(), &25_000.into()));

    // The children ended first, and are kept as long as their parent.
    assert_eq!(call(&["run", "--run-id", "e2", "--input", r#"["x"]"#, "--quiet"]).await.exit, 3);
    let would = call(&["prune", "--keep-last", "1", "--dry-run", "--json"]).await.json();
    assert_eq!(would["runs"].as_array().unwrap().len(), 3);
    assert_eq!(call(&["list", "--json", "--all"]).await.json().as_array().unwrap().len(), 5);
    assert_eq!(call(&["prune", "--keep-last", "1"]).await.exit, 0);
    assert_eq!(call(&["list", "--json", "--all"]).await.json().as_array().unwrap().len(), 2);

    // Cancelling a run ends its child runs too.
    let cancelled = call(&["cancel", "e2", "--json"]).await.json();
    assert_eq!(cancelled["runs"].as_array().unwrap().len(), 2);
}
