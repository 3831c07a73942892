//! Rebuilds a run from its records, at every moment.

use super::*;

/// A run's state, rebuilt from its records.
struct Replayed {
    frontier: Frontier<'static, <Project as interlocking::graph::Graph>::Token>,
    running: Vec<interlocking::frontier::Execution>,
}

impl Replayed {
    fn new(records: &[Record]) -> Self {
        let net = Project::net();
        let mut replayed: Option<Self> = None;
        for record in records {
            match (&record.entry, &mut replayed) {
                (Entry::Started { input, .. }, None) => {
                    let frontier = Frontier::new(net, token(&net.place(net.entry()).name, input));
                    replayed = Some(Self { frontier, running: Vec::new() });
                }
                (Entry::Outcome(outcome), Some(replayed)) => replayed.absorb(outcome),
                (Entry::Ended { .. } | Entry::Session { .. }, Some(_)) => {}
                (entry, _) => panic!("{entry:?}"),
            }
            replayed.as_mut().unwrap().start_due();
        }
        replayed.expect("records")
    }

    /// Starts what is due, as the executor does. An exhausted entry is not recorded, since it follows from its input.
    fn start_due(&mut self) {
        while let Some(Due { execution, input, exhausted }) = self.frontier.next_due() {
            let Some(limit) = exhausted else {
                self.running.push(execution);
                continue;
            };
            let Input::One(token) = input else { panic!("no join is bounded here") };
            let step = Project::exhausted(execution.node, limit, token).expect("a route");
            self.frontier.complete(execution, step).unwrap();
        }
    }

    fn absorb(&mut self, outcome: &NodeOutcome) {
        let net = Project::net();
        let found = self.running.iter().position(|execution| {
            (net.name(execution.node), execution.visit, execution.attempt)
                == (outcome.node.as_str(), outcome.visit, outcome.attempt)
        });
        let execution = self.running.remove(found.expect("it runs"));
        let mut tokens: Vec<_> =
            outcome.tokens.iter().map(|TokenRecord { place, payload }| token(place, payload)).collect();
        let alternative = outcome.alternative.expect("every node goes somewhere");
        let branches = net.alternative(alternative).unwrap().branches.len();
        let step = match (branches, tokens.pop()) {
            (1, Some(token)) => Step::One(alternative, token),
            (_, last) => Step::All(alternative, tokens.into_iter().chain(last).collect()),
        };
        self.frontier.complete(execution, step).unwrap();
    }

    fn running(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.running.iter().map(|execution| Project::net().name(execution.node).to_owned()).collect();
        names.sort();
        names
    }
}

fn token(place: &str, payload: &RecordedPayload) -> <Project as interlocking::graph::Graph>::Token {
    let place = Project::net().place_named(place).expect("a place");
    interlocking::graph::Token::deserialize(place, &mut serde_json::Deserializer::from_str(payload.json().unwrap()))
        .unwrap()
}

/// The records suffice to rebuild the run at every moment: what ran then, and how it ended.
#[tokio::test(start_paused = true)]
async fn the_records_rebuild_the_run_at_every_moment() {
    let journal = Watching::new(0, None);
    let report = journal.run().await;
    let records = journal.inner.records(&demo());
    let seen = journal.running.lock().unwrap().clone();
    assert_eq!(records.len(), seen.len());
    for (position, running) in seen.iter().enumerate().skip(1) {
        assert_eq!(&Replayed::new(&records[..position]).running(), running, "before record {position}");
    }
    assert_eq!(seen[2], ["look", "work"], "more than one node ran at a time");

    let mut replayed = Replayed::new(&records);
    let exit = replayed.frontier.take_exit().expect("the exit");
    assert_eq!(Project::leave(exit), Some(finished(report)));
    let visits = |name: &str| replayed.frontier.visits(Project::net().node_named(name).unwrap());
    assert_eq!(["split", "work", "look", "gate"].map(visits), [1, 3, 1, 2]);
    let memory = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Outcome(NodeOutcome { memory: Some(MemoryRecord { value, .. }), .. }) => Some(value.clone()),
        _ => None,
    });
    assert_eq!(
        serde_json::from_str::<Notes>(memory.unwrap().json().unwrap()).unwrap(),
        Notes(vec!["it 7".into(), "more than 7 8".into()])
    );
}
