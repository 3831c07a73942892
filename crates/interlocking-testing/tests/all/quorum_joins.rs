//! A join with a quorum: the first good answer, answers that are too late, and no answer at all.

#![expect(clippy::unwrap_used, reason = "a test, also outside its test functions")]

use expect_test::expect;
use interlocking::prelude::*;
use interlocking::testing::{Ending, Enumerator, Trial};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A lawyer is asked, and the files are searched; one answer is enough.
#[derive(Graph)]
#[graph(output = String)]
struct Inquiry {
    #[node(entry, input = String, fork(files, lawyer))]
    begin: ForkNode<Begin>,
    #[node(input = String, goto(first))]
    files: LogicNode<Files>,
    #[node(input = String, question = String, answer = bool, goto(first))]
    lawyer: HumanNode<Lawyer>,
    #[node(join(files: String optional, lawyer: String optional), quorum = 1, cancels(files, lawyer), goto(reply, regret))]
    first: JoinNode<First>,
    #[node(input = String, goto(exit))]
    reply: LogicNode<Reply>,
    #[node(input = (), goto(exit))]
    regret: LogicNode<Regret>,
}
held!(Inquiry);

struct Begin;
impl ForkHandler<inquiry::begin> for Begin {
    async fn fork(&self, question: String, cx: &mut Cx<'_, inquiry::begin>) -> Route<inquiry::begin> {
        fork!(cx, (question.clone(), question))
    }
}

/// How many minutes the search takes, and whether it finds anything.
struct Files(u64, bool);
impl LogicHandler<inquiry::files> for Files {
    async fn run(&self, _: String, cx: &mut Cx<'_, inquiry::files>) -> Route<inquiry::files> {
        tokio::time::sleep(Duration::from_secs(60 * self.0)).await;
        goto!(cx, inquiry::first, self.1.then(|| "files".to_owned()))
    }
}

/// Has an opinion or none.
struct Lawyer;
impl HumanHandler<inquiry::lawyer> for Lawyer {
    async fn ask(&self, question: &String, _: &mut Cx<'_, inquiry::lawyer>) -> Result<String, NodeError> {
        Ok(question.clone())
    }

    async fn answered(&self, _: String, has: bool, cx: &mut Cx<'_, inquiry::lawyer>) -> Route<inquiry::lawyer> {
        goto!(cx, inquiry::first, has.then(|| "lawyer".to_owned()))
    }
}

struct First;
impl JoinHandler<inquiry::first> for First {
    async fn join(
        &self,
        (files, lawyer): (Option<String>, Option<String>),
        cx: &mut Cx<'_, inquiry::first>,
    ) -> Route<inquiry::first> {
        match files.into_iter().chain(lawyer).reduce(|one, other| format!("{one} and {other}")) {
            Some(answer) => goto!(cx, inquiry::reply, answer),
            None => goto!(cx, inquiry::regret, ()),
        }
    }
}

/// Takes a day, and notes the reply.
struct Reply(Arc<Mutex<Vec<String>>>);
impl LogicHandler<inquiry::reply> for Reply {
    async fn run(&self, answer: String, cx: &mut Cx<'_, inquiry::reply>) -> Route<inquiry::reply> {
        tokio::time::sleep(Duration::from_secs(24 * 3_600)).await;
        self.0.lock().unwrap().push(answer.clone());
        goto!(cx, inquiry::exit, answer)
    }
}

struct Regret;
impl LogicHandler<inquiry::regret> for Regret {
    async fn run(&self, (): (), cx: &mut Cx<'_, inquiry::regret>) -> Route<inquiry::regret> {
        goto!(cx, inquiry::exit, "nothing".to_owned())
    }
}

/// The search of the files finds something at once or after half an hour, or nothing; the replies are noted.
fn enumerator(replied: &Arc<Mutex<Vec<String>>>) -> Enumerator<Inquiry> {
    let replied = replied.clone();
    Enumerator::new(move |chance| {
        let files = match chance.pick("the files", &["at once", "slowly", "nothing"]) {
            "at once" => Files(0, true),
            "slowly" => Files(30, true),
            _ => Files(30, false),
        };
        let (begin, first, lawyer) = (ForkNode(Begin), JoinNode(First), HumanNode(Lawyer));
        let (reply, regret) = (LogicNode(Reply(replied.clone())), LogicNode(Regret));
        let graph = Inquiry { begin, files: LogicNode(files), lawyer, first, reply, regret };
        Trial::new(Run::new(graph), "May we?".to_owned())
    })
}

#[test]
fn every_route_around_a_quorum_is_taken() {
    let report = enumerator(&Arc::default()).explore();
    report.assert_all_routes();
    assert_eq!(report.broken(), []);
    expect![[r#"
        Inquiry: 8 of 8 routes were taken in 9 runs

        taken: begin → files (fork)  run 1, no choices
        taken: begin → lawyer (fork) run 1, no choices
        taken: files → first.files   run 1, no choices
        taken: lawyer → first.lawyer run 2, the files.1=slowly
        taken: first → reply         run 1, no choices
        taken: first → regret        run 9, lawyer.1.1=generated-2; the files.1=nothing
        taken: reply → exit          run 1, no choices
        taken: regret → exit         run 9, lawyer.1.1=generated-2; the files.1=nothing
    "#]]
    .assert_eq(&report.to_string());
}

/// The reply with these choices, the values that reached the join in the order of the table, and how the run ended.
fn with(choices: &str) -> (String, String, Ending) {
    let replied = Arc::default();
    let replayed = enumerator(&replied).replay(&choices.parse().unwrap());
    let replied = replied.lock().unwrap().join(", ");
    let came = replayed.taken.iter().filter(|route| route.to.starts_with("first."));
    let came: Vec<_> = came.map(|route| route.from.clone()).collect();
    (replied, came.join(", "), replayed.ending)
}

#[test]
fn one_good_answer_is_enough_and_who_is_late_changes_nothing() {
    for (choices, replied, came) in [
        ("no choices", "files", "files"),
        // The search is cancelled.
        ("the files.1=slowly", "lawyer", "lawyer"),
        // The answer comes after the join has fired, and the run goes on.
        ("the files.1=slowly; lawyer.1.1=late-generated-1", "files", "files"),
        ("the files.1=slowly; lawyer.1.1=nobody", "files", "files"),
        // A source without an answer is not waited for any more, and does not decide.
        ("the files.1=slowly; lawyer.1.1=generated-2", "files", "files, lawyer"),
        ("the files.1=nothing; lawyer.1.1=late-generated-1", "lawyer", "files, lawyer"),
        // The quorum is out of reach.
        ("the files.1=nothing; lawyer.1.1=generated-2", "", "files, lawyer"),
        ("the files.1=nothing; lawyer.1.1=late-generated-2", "", "files, lawyer"),
    ] {
        assert_eq!(with(choices), (replied.to_owned(), came.to_owned(), Ending::Finished), "{choices}");
    }
    let unanswered = with("the files.1=nothing; lawyer.1.1=nobody");
    assert_eq!(unanswered, (String::new(), "files".to_owned(), Ending::Unanswered));
}
