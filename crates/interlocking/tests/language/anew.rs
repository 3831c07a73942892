//! `Item::anew_after(run)`: a child that has ended is sent back, and a new run replaces its result.

use crate::cut::Cut;
use crate::support::{finished, pass, timed};
use interlocking::prelude::*;
use interlocking::runtime::journal::{Origin, ending};
use interlocking::runtime::{Journal, Outcome};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// A part, and what was wrong with it before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    name: String,
    feedback: Option<String>,
}

#[derive(Graph)]
#[graph(output = String)]
struct Piece {
    #[node(entry, input = Part, goto(exit))]
    make: LogicNode<Make>,
}
type Made = Arc<Mutex<Vec<String>>>;
logic!(Make(made: Made) for piece::make, |part: Part, cx| {
    pass(5).await;
    let told = format!("{}{}", part.name, part.feedback.unwrap_or_default());
    made.lock().unwrap().push(told.clone());
    goto!(cx, piece::exit, told)
});

/// The runs to send back, each with the reason.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct SentBack(Vec<(String, RunId, String)>);

#[derive(Graph)]
#[graph(output = Vec<(String, RunId)>)]
struct Shop {
    #[node(entry, input = SentBack, map = Piece, adopt, goto(judge), visits = 4)]
    pieces: MapNode<Pieces>,
    #[node(input = Vec<(String, RunId)>, goto(pieces, exit))]
    judge: LogicNode<Judge>,
}
held!(Piece, Shop);

struct Pieces(Made);
impl MapHandler<shop::pieces> for Pieces {
    fn graph(&self, _: &Cx<'_, shop::pieces>) -> Result<Arc<Piece>, NodeError> {
        Ok(Arc::new(Piece { make: LogicNode(Make(self.0.clone())) }))
    }
    async fn items(&self, back: &SentBack, _: &mut Cx<'_, shop::pieces>) -> Result<Vec<Item<Piece>>, NodeError> {
        let item = |name: &str| {
            let back = back.0.iter().find(|(back, ..)| back == name);
            let feedback = back.map(|(_, _, feedback)| feedback.clone());
            let item = Item::new(Part { name: name.to_owned(), feedback }).with_key(name);
            back.into_iter().fold(item, |item, (_, run, _)| item.anew_after(run))
        };
        Ok(["door", "wall"].map(item).into())
    }
    async fn gather(
        &self,
        _: SentBack,
        children: Children<Piece>,
        cx: &mut Cx<'_, shop::pieces>,
    ) -> Route<shop::pieces> {
        let mut pieces = Vec::new();
        for child in children.all().await {
            pieces.push((child.result?, child.run));
        }
        goto!(cx, shop::judge, pieces)
    }
}
// The wall is sent back twice; after that the same request is repeated.
logic!(Judge for shop::judge, |pieces: Vec<(String, RunId)>, cx| {
    let wall = |run: &RunId, why: &str| SentBack(vec![("wall".to_owned(), run.clone(), why.to_owned())]);
    match cx.visit() {
        1 => goto!(cx, shop::pieces, wall(&pieces[1].1, ", straight")),
        2 => goto!(cx, shop::pieces, wall(&pieces[1].1, ", straighter")),
        3 => {
            let first = pieces[1].1.as_str().trim_end_matches("-3").parse()?;
            goto!(cx, shop::pieces, wall(&first, ", as before"))
        }
        _ => goto!(cx, shop::exit, pieces),
    }
});

fn shop(made: &Made) -> Run<Shop> {
    timed(Shop { pieces: MapNode(Pieces(made.clone())), judge: LogicNode(Judge) })
}

/// V3-141: the responsible child is sent back, the others are untouched. Its earlier work stays on record, and a request to
/// repeat an earlier run does not apply to the later run.
#[tokio::test(start_paused = true)]
async fn a_child_that_has_ended_runs_anew() {
    let (made, journal) = (Made::default(), Cut::new(None));
    let pieces = finished(shop(&made).with_journal(journal.clone()).start(SentBack::default()).await.unwrap());
    assert_eq!(*made.lock().unwrap(), ["door", "wall", "wall, straight", "wall, straighter"]);
    let told: Vec<&str> = pieces.iter().map(|(told, _)| told.as_str()).collect();
    assert_eq!(told, ["door", "wall, straighter"], "the third is adopted");
    let runs = journal.children(&RunId::DEFAULT).await.unwrap();
    let walls = runs.iter().filter(|run| matches!(&run.origin, Some(Origin::Child { key, .. }) if key == "wall"));
    let walls: Vec<&RunId> = walls.map(|run| &run.run).collect();
    let first = walls[0].as_str();
    assert_eq!(walls[1..], [&format!("{first}-2").parse().unwrap(), &format!("{first}-3").parse().unwrap()]);
    assert_eq!(pieces[1].1, *walls[2]);
    assert_eq!(runs.len(), 4);
    for wall in walls {
        assert_eq!(ending(&journal.load(wall).await.unwrap()), Some("finished"), "{wall} stays as it was");
    }
}

/// A run that is resumed after any record sends no child back twice.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_goes_on_with_who_runs_anew() {
    let whole = Cut::new(None);
    let expected =
        finished(shop(&Made::default()).with_journal(whole.clone()).start(SentBack::default()).await.unwrap());
    for cut in 1..whole.written().len() {
        let (made, journal) = (Made::default(), Cut::new(Some(cut)));
        let report = shop(&made).with_journal(journal.clone()).start(SentBack::default()).await.unwrap();
        assert!(matches!(report.outcome, Outcome::JournalFailed(_)), "after {cut} records");
        journal.heal();
        let report = shop(&made).with_journal(journal.clone()).resume().await.unwrap();
        assert_eq!(finished(report), expected, "after {cut} records");
        assert_eq!(journal.children(&RunId::DEFAULT).await.unwrap().len(), 4, "after {cut} records");
        assert!(made.lock().unwrap().len() <= 6, "after {cut} records the two at work are made again, at most");
    }
}
