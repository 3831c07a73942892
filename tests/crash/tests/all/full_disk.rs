//! A disk that is full for a while: the run stops, with all its children, and goes on once there is room. Maps that tolerate
//! failed children, and effects that must happen once, are unaffected.

use crate::case::{Case, Kill};
use crate::many;
use crate::past::Past;
use crate::sample;
use interlocking::prelude::Outcome;
use interlocking::runtime::journal::JournalError;
use interlocking_crash::order::Presence;
use interlocking_crash::process::root;
use interlocking_crash::room::Room;

/// The page size of the journal's SQLite database.
const PAGE: u64 = 2048;

impl Case {
    /// Lets one process work with this much room. Gives whether the room was too little or the process was killed.
    async fn with_room(&mut self, room: Room, kill: Kill, people: Presence) -> bool {
        self.room = room;
        let ending = self.process(kill, people).await;
        self.room = Room::Enough;
        let Some(ending) = ending else { return true };
        let is_full = match &ending.outcome {
            Outcome::JournalFailed(JournalError::Full { .. }) => true,
            Outcome::Finished(_) | Outcome::Waiting { .. } => false,
            outcome => panic!("{outcome:?}\n{}", self.account()),
        };
        assert_eq!(self.has_ended().await, matches!(ending.outcome, Outcome::Finished(_)), "{}", self.account());
        self.attend(&ending).await;
        is_full
    }

    async fn has_ended(&self) -> bool {
        Past::of(&*self.journal()).await.ended.contains(root().unwrap().as_str())
    }
}

/// No room from one write on, then in the next process for one write only, and then enough room.
#[test]
fn a_run_goes_on_from_every_write_for_which_there_was_no_room() {
    // The shortest run makes about so many writes.
    let writes = 130;
    let points = many::number("CRASH_POINT").map_or_else(
        || {
            // Other points in each test run, unless all are asked for.
            let step = if many::all_points() { 1 } else { 5 * sample::one_in::<u64>(3) };
            (1 + many::seed() % step..=writes).step_by(step as usize).collect()
        },
        |point| vec![point],
    );
    let refused = many::each(
        &points,
        |point| format!("CRASH_POINT={point}"),
        async |point| {
            let mut case = Case::new();
            let was_full = case.with_room(Room::Before(*point), Kill::Never, Presence::Here).await;
            // The first few writes are those that resume all runs.
            let again = Room::ButFor(1 + point * 7 % 30);
            let was_full_again = was_full && case.with_room(again, Kill::Never, Presence::Here).await;
            case.settle(Presence::Here).await;
            u32::from(was_full) + u32::from(was_full_again)
        },
    );
    refused.at_least(points.len() * 3 / 2);
}

/// Some processes are killed, some have no room, and some are killed after their journal is full.
#[test]
fn a_run_goes_on_whether_its_processes_are_killed_or_have_no_room() {
    let seeds = many::seeds(if many::all_points() { 200 } else { 4 });
    let disturbed = many::each(
        &seeds,
        |seed| format!("CRASH_SEED={seed}"),
        async |seed| {
            let (mut random, mut case, mut disturbed) = (many::Random(*seed), Case::new(), 0);
            let people = random.presence();
            for _ in 0..8 {
                let room = match random.below(3) {
                    0 => Room::Enough,
                    1 => Room::Before(1 + random.below(40)),
                    _ => Room::ButFor(1 + random.below(40)),
                };
                let kill = if room == Room::Enough || random.below(2) == 0 {
                    Kill::At(10 + random.below(90))
                } else {
                    Kill::Never
                };
                disturbed += u32::from(case.with_room(room, kill, people).await);
                if case.has_ended().await {
                    break;
                }
            }
            case.settle(people).await;
            disturbed
        },
    );
    disturbed.at_least(seeds.len() * 4);
}

/// The database itself has no room, again and again: each process gets one page more than the last.
#[tokio::test]
async fn a_run_goes_on_as_far_as_each_page_that_its_journal_gets() {
    let mut case = Case::new();
    // The size of an empty database.
    drop(case.journal());
    let empty = std::fs::metadata(case.directory().join("journal/journal.db")).unwrap().len() / PAGE;
    let mut times = 0;
    for pages in empty.. {
        assert!(pages < 400, "it never has enough\n{}", case.account());
        match case.with_room(Room::Bytes(pages * PAGE), Kill::Never, Presence::Away).await {
            true => times += 1,
            false if case.has_ended().await => break,
            false => {}
        }
    }
    assert!(times >= 15, "it was full only {times} times");
    case.settle(Presence::Away).await;
}
