//! What a run can learn about itself and its parent: enough to say what is to be merged where.

use crate::support::{finished, timed};
use interlocking::prelude::*;
use interlocking::runtime::ChildFailure;
use interlocking::runtime::workspaces::Directories;
use interlocking::worktree::{BranchName, CommitId, Repository, Signature};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run, and the branch on which it works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct NodeInfo {
    id: RunId,
    branch: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Order {
    what: String,
    parts: Vec<String>,
    parent: Option<NodeInfo>,
}

/// The output of the scaffold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct InitWork {
    contract_suite: String,
    node: NodeInfo,
    parts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MergerInput {
    parent: NodeInfo,
    child: NodeInfo,
    contract_suite: String,
}

/// A parent and a child for each of its parts, each in a worktree of its own.
#[derive(Graph)]
#[graph(output = Vec<MergerInput>)]
struct Piecework {
    #[node(entry, input = Order, goto(parts), workspace = "own")]
    scaffold: LogicNode<LayOut>,
    #[node(input = InitWork, map = Piecework, depth = 2, goto(review))]
    parts: MapNode<Parts>,
    #[node(input = Vec<MergerInput>, goto(merger, exit), workspace = "own")]
    review: LogicNode<Review>,
    #[node(input = MergerInput, goto(exit))]
    merger: LogicNode<Merger>,
}

held!(Piecework);

/// The branch that is checked out at `place`.
fn branch(repository: &Repository, place: &Path) -> Result<String, NodeError> {
    let worktree = repository.open_worktree(place)?;
    Ok(worktree.branch().ok_or("no branch")?.as_str().to_owned())
}

logic!(LayOut(repository: Repository) for piecework::scaffold, |order: Order, cx| {
    let node = NodeInfo { id: cx.run_id().clone(), branch: branch(repository, &cx.workspace()?.path)? };
    let contract_suite = format!("tests/{}.rs", order.what);
    goto!(cx, piecework::parts, InitWork { contract_suite, node, parts: order.parts })
});

struct Parts {
    repository: Repository,
    base: CommitId,
    places: PathBuf,
}
impl MapHandler<piecework::parts> for Parts {
    fn graph(&self, cx: &Cx<'_, piecework::parts>) -> Result<Arc<Piecework>, NodeError> {
        Ok(cx.own_graph()?)
    }
    async fn items(
        &self,
        work: &InitWork,
        _: &mut Cx<'_, piecework::parts>,
    ) -> Result<Vec<Item<Piecework>>, NodeError> {
        let mut items = Vec::new();
        for part in &work.parts {
            let place = self.places.join(part);
            self.repository.create_worktree(&place, BranchName::new(format!("part/{part}"))?, self.base)?;
            let order = Order { what: part.clone(), parts: Vec::new(), parent: Some(work.node.clone()) };
            items.push(Item::new(order).with_workspaces(Arc::new(Directories::new().with("own", place))));
        }
        Ok(items)
    }
    async fn gather(
        &self,
        _: InitWork,
        children: Children<Piecework>,
        cx: &mut Cx<'_, piecework::parts>,
    ) -> Route<piecework::parts> {
        let mut inputs = Vec::new();
        for child in children.all().await {
            inputs.extend(child.result.map_err(|failure: ChildFailure| Box::new(failure))?);
        }
        goto!(cx, piecework::review, inputs)
    }
}

logic!(Review(repository: Repository) for piecework::review, |of_parts: Vec<MergerInput>, cx| {
    match &cx.entry()?.parent {
        None => goto!(cx, piecework::exit, of_parts),
        Some(parent) => {
            assert_eq!(Some(&parent.id), cx.parent().as_ref(), "the parent said of itself what the runtime says of it");
            let child = NodeInfo { id: cx.run_id().clone(), branch: branch(repository, &cx.workspace()?.path)? };
            let InitWork { contract_suite, .. } = cx.input_of::<piecework::parts>()?;
            goto!(cx, piecework::merger, MergerInput { parent: parent.clone(), child, contract_suite })
        }
    }
});
logic!(Merger for piecework::merger, |input: MergerInput, cx| goto!(cx, piecework::exit, vec![input]));

/// A review of a child's work knows the child and its parent: for each the run, and the branch that is checked
/// out in its workspace. PRG-35: it has the contract suite that the scaffold passed on in that child.
#[tokio::test(start_paused = true)]
async fn a_review_knows_what_is_to_be_merged_where() {
    let place = tempfile::tempdir().unwrap();
    let repository = Repository::init(place.path().join("project")).unwrap();
    let author = Signature::new("Test", "test@example.org").unwrap();
    let base = repository.main_worktree().unwrap().unwrap().commit_empty(&author, "Begin").unwrap();
    let own = place.path().join("shop");
    repository.create_worktree(&own, BranchName::new("shop").unwrap(), base).unwrap();

    let graph = Piecework {
        scaffold: LogicNode(LayOut(repository.clone())),
        parts: MapNode(Parts { repository: repository.clone(), base, places: place.path().join("parts") }),
        review: LogicNode(Review(repository.clone())),
        merger: LogicNode(Merger),
    };
    let order = Order { what: "shop".to_owned(), parts: vec!["cart".to_owned(), "till".to_owned()], parent: None };
    let run = timed(graph).with_id("demo".parse().unwrap());
    let report = run.with_workspaces(Arc::new(Directories::new().with("own", own))).start(order).await.unwrap();
    let inputs = finished(report);
    let [cart, till] = &inputs[..] else { panic!("{inputs:?}") };
    assert_ne!(cart.child.id, till.child.id);
    for (input, part) in [(cart, "cart"), (till, "till")] {
        assert_eq!(input.parent, NodeInfo { id: "demo".parse().unwrap(), branch: "shop".to_owned() });
        assert_ne!(input.child.id, input.parent.id);
        assert!(input.child.id.as_str().starts_with("demo-"), "{}", input.child.id);
        assert_eq!(input.child.branch, format!("part/{part}"));
        assert_eq!(input.contract_suite, format!("tests/{part}.rs"));
    }
}
