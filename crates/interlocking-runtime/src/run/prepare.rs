//! Prepares a run: checks its requirements, restores its state, and sets up its record writer.

use crate::context::services::{RunServices, UntypedServices};
use crate::driver::{
    Driver, Recorded,
    initial_state::{InitialState, Resumption},
};
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType, graph_type};
use crate::erased::shared::ErasedShared;
use crate::journal::record_writer::RecordWriter;
use crate::journal::{By, Claim, Encoded, Entry, Journal, JournalError, Origin, Record, ending};
use crate::roles::requirements;
use crate::run::claims::{self, Executor};
use crate::run::executed::Executed;
use crate::run::outcome::Report;
use crate::run::prior_usage::{past, shares};
use crate::run::resume;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::run::{recursion_rule, section_rules};
use crate::tree::{Membership, sections};
use crate::workspaces::isolation::unkept;
use crate::workspaces::{RunScope, Workspaces};
use interlocking_agents::{Usage, program};
use interlocking_core::context::Commit;
use interlocking_core::frontier::Frontier;
use interlocking_core::graph::Graph;
use interlocking_core::net::{Net, Nets};
use interlocking_core::run_id::RunId;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How often a child that is held is claimed again, before its parent's tree stops.
const MOMENTS: u32 = 40;

/// The time between two such attempts.
const MOMENT: Duration = Duration::from_millis(50);

/// How a run begins.
pub(crate) enum Begin {
    /// From the beginning, with its entry value.
    Fresh { entry: AnyValue },
    /// Resumed where its records end.
    Again,
    /// Resumed where it failed.
    Retry,
    /// As a child run: from the beginning, or resumed if it has records.
    Child { entry: AnyValue, origin: Origin, taken_by: By },
}

/// What exists of a run before it begins.
struct Found {
    journal: Option<Arc<dyn Journal>>,
    claim: Option<Claim>,
    records: Vec<Record>,
    membership: Option<Box<Membership>>,
    /// Whether the run or one of its descendants had [a turn among other runs](crate::RunContext::take_turn) at the end of its
    /// records.
    has_turns: bool,
}

/// A prepared run.
pub(crate) enum Prepared {
    /// The run had ended before. This is its report.
    Ended(Box<Report<AnyValue>>),
    Ready(Box<Ready>),
}

/// Everything that a run needs to be executed.
pub(crate) struct Ready {
    pub(crate) driver: Driver,
    pub(crate) resumption: Option<Box<Resumption>>,
    pub(crate) membership: Option<Box<Membership>>,
}

/// Prepares a run that is not recorded. This needs no waiting.
pub(crate) fn unrecorded<G: Graph>(graph: Arc<G>, mut settings: Settings) -> Result<RunServices<G>, StartError> {
    let graph_type = graph_type::<G>();
    check(&mut settings, true, graph_type)?;
    let (untyped, memories) = (UntypedServices::new(graph_type.net(), settings, None), graph_type.memories());
    Ok(RunServices { graph, untyped, kept: None, memories })
}

/// Prepares a run, from its records if it has any.
pub(crate) async fn prepare(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    mut settings: Box<Settings>,
    begin: Begin,
) -> Result<Prepared, StartError> {
    let (begins, retries) = (matches!(begin, Begin::Fresh { .. }), matches!(begin, Begin::Retry));
    check(&mut settings, begins, graph_type)?;
    let Found { journal, claim, records, membership, has_turns } = find(&mut settings, &begin, graph_type).await?;
    let (entry, origin, taken_by) = match begin {
        Begin::Fresh { entry } => (Some(entry), None, None),
        Begin::Again | Begin::Retry => (None, None, None),
        Begin::Child { entry, origin, taken_by } => (Some(entry), Some(origin), Some(taken_by)),
    };
    let child_of = origin.clone();
    let (state, shared, record_writer) = match entry.filter(|_| records.is_empty()) {
        Some(entry) => fresh(graph_type, graph, settings, journal, entry, origin).await?,
        None => match resume::resume(graph_type, graph, settings, journal, records, retries, taken_by).await? {
            resume::Resumed::Ended(report) => return Ok(Prepared::Ended(report)),
            resume::Resumed::GoesOn(executed) => *executed,
        },
    };
    let settings = &shared.untyped().settings;
    if begins && record_writer.is_some() {
        open_account(settings);
    } else if !begins {
        expect_turns(settings, has_turns, graph_type).await?;
    }
    membership.iter().for_each(|membership| membership.is_recorded(state.letters));
    Ok(Prepared::Ready(Box::new(ready(shared, state, record_writer.zip(claim), membership, child_of))))
}

/// Claims a run, and reads its records.
async fn find(settings: &mut Settings, begin: &Begin, graph_type: &dyn GraphType) -> Result<Found, StartError> {
    let (run, journal) = (settings.run.clone(), settings.opened_journal());
    let parent = match begin {
        Begin::Child { origin: Origin::Child { parent, .. }, .. } => Some(parent.clone()),
        _ => None,
    };
    // Created before the claim and so dropped after it: a task that sees that the run has left the tree must find it free.
    let membership = parent.map(|parent| Box::new(settings.tree().join(run.clone(), parent)));
    let claim = match &journal {
        Some(_) if settings.claim.is_some() => settings.claim.take().map(|claim| *claim),
        Some(journal) => claim(begin, &**journal, &run).await?,
        None => None,
    };
    let records = match (begin, &journal) {
        (Begin::Fresh { .. }, _) | (Begin::Child { .. }, None) => Vec::new(),
        (Begin::Again | Begin::Retry, None) => return Err(StartError::NoJournal { run }),
        (_, Some(journal)) => journal.load(&run).await?,
    };
    let retries = matches!(begin, Begin::Retry);
    let ended = ending(&records);
    if retries && ended != Some("failed") && !records.is_empty() {
        return Err(StartError::NotFailed { run, ended });
    }
    // A run that has ended needs no agents.
    let goes_on = retries || ended.is_none();
    if goes_on {
        end_abandoned(begin, journal.as_deref(), &run).await?;
        ask_agents(settings, graph_type).await?;
    }
    let mut has_turns = false;
    if let (Begin::Again | Begin::Retry, Some(journal)) = (begin, &journal) {
        let past = past(&**journal, &run, &records, claim.is_none(), goes_on, graph_type.net().features().maps).await?;
        if settings.allowance().budgets().counts_calls() {
            let allowance = settings.allowance();
            let below = past.iter().skip(1).flat_map(|run| &run.calls).map(|call| call.usage).sum::<Usage>();
            for (of, used) in shares(&**journal, &run, &records, claim.is_none()).await? {
                let account = if of == run { allowance.account(&run, false) } else { &allowance.account_of(&of) };
                account.book(&if of == run { used + below } else { used });
            }
        }
        has_turns = past.iter().any(|run| run.has_turn);
        settings.tree().had_spent(past);
    }
    match (begin, records.first()) {
        (Begin::Child { origin, .. }, Some(first)) if !matches!(&first.entry, Entry::Started { origin: Some(recorded), .. } if recorded == origin) => {
            Err(StartError::AnotherRun { run })
        }
        (Begin::Again | Begin::Retry, None) => Err(StartError::NoRun { run }),
        _ => Ok(Found { journal, claim, records, membership, has_turns }),
    }
}

/// Claims a run; `None` if it has ended and something else keeps the claim.
async fn claim(begin: &Begin, journal: &dyn Journal, run: &RunId) -> Result<Option<Claim>, StartError> {
    let begins = matches!(begin, Begin::Fresh { .. });
    let may_have_ended = matches!(begin, Begin::Again | Begin::Child { .. });
    let is_child = matches!(begin, Begin::Child { .. });
    let mut refused = 0;
    loop {
        // Checked before the claim and after it, because the late work may end while the claim is being refused.
        let has_late_work = !begins && claims::has_late_work(journal, run);
        match claims::claim(journal, run).await {
            Ok(claim) => return Ok(Some(claim)),
            // Late work keeps the claim after the run's end. The run's outcome is final, and reading it needs no claim.
            // To find that out reads all of the run's records, so not at each attempt.
            Err(JournalError::Held { .. })
                if may_have_ended && [0, MOMENTS].contains(&refused) && has_ended(journal, run).await? =>
            {
                return Ok(None);
            }
            // An executor that goes on with the run first waits for its late work, if that is in this process.
            Err(JournalError::Held { .. }) if has_late_work || !begins && claims::has_late_work(journal, run) => {
                claims::wait_for_late_work(journal, run).await;
                return Ok(Some(claims::claim(journal, run).await?));
            }
            // Only this executor of its parent executes a child, but whoever cancels it holds it while its end is recorded.
            Err(JournalError::Held { .. }) if is_child && refused < MOMENTS => {
                refused += 1;
                tokio::time::sleep(MOMENT).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens the account of a recorded run that begins, where it shares an allowance with limits on calls.
fn open_account(settings: &Settings) {
    if let Some(shared) = settings.shared_allowance().filter(|shared| shared.budgets().counts_calls()) {
        shared.account(&settings.run, true);
    }
}

/// Reserves the turns that the sections of the tree had when an earlier process ended, so that these sections come first: child
/// runs of `exclusive` graph nodes, and runs that had their turn among other runs.
async fn expect_turns(settings: &Settings, has_turns: bool, graph_type: &dyn GraphType) -> Result<(), StartError> {
    if let (Some(journal), 0) = (&settings.journal, settings.depth())
        && (has_turns || section_rules::has_sections(&nets(graph_type, settings)))
    {
        settings.tree().turns.expect(sections::under_way(&**journal, &settings.run).await?);
    }
    Ok(())
}

/// Ends the programs that a killed executor has left, before anything of the run is started or changed. This process has claimed
/// the run, so the earlier executor is no longer alive.
async fn end_abandoned(begin: &Begin, journal: Option<&dyn Journal>, run: &RunId) -> Result<(), StartError> {
    if !matches!(begin, Begin::Again | Begin::Retry) || !journal.is_some_and(Journal::outlives_its_process) {
        return Ok(());
    }
    let ended = program::end_abandoned().await;
    ended.map(drop).map_err(|error| StartError::Abandoned { run: run.clone(), error })
}

async fn has_ended(journal: &dyn Journal, run: &RunId) -> Result<bool, StartError> {
    Ok(ending(&journal.load(run).await?).is_some())
}

/// Checks what the run needs, and completes its settings.
fn check(settings: &mut Settings, is_new: bool, graph_type: &dyn GraphType) -> Result<(), StartError> {
    let net = graph_type.net();
    // A child has got its workspaces from its map node.
    if settings.depth() == 0 && settings.sets_options() {
        let run = settings.run.clone();
        settings.scope_workspaces(None, &RunScope { run: &run, table: net.table(), is_new, parent: None });
    }
    if let Some(what) = settings.contradiction() {
        return Err(StartError::SharedAllowance { run: settings.run.clone(), what });
    }
    if asks_agents(net) {
        requirements::check(&nets(graph_type, settings), &settings.options().roles)?;
        check_isolation(net, settings)?;
    }
    if settings.depth() == 0 && net.features().maps {
        let nets = nets(graph_type, settings);
        recursion_rule::check(&nets)?;
        section_rules::check(&nets)?;
    }
    if settings.is_timed() {
        // A token of the run's own, which the time limit can cancel. It is also cancelled with the user's token.
        settings.cancel = Some(settings.cancel.take().map(|outside| outside.child()).unwrap_or_default());
    }
    Ok(())
}

/// Whether the graph asks agents, or may run a child graph that does.
fn asks_agents(net: &Net) -> bool {
    net.features().prompts || net.features().maps
}

/// Asks the agents of a run that is started or resumed whether they can work. Child runs have the same agents, so they do not
/// ask.
async fn ask_agents(settings: &Settings, graph_type: &dyn GraphType) -> Result<(), StartError> {
    if settings.depth() > 0 || !asks_agents(graph_type.net()) {
        return Ok(());
    }
    requirements::ask(&nets(graph_type, settings), &settings.options().roles).await
}

fn nets(graph_type: &dyn GraphType, settings: &Settings) -> Nets {
    requirements::nets_of(graph_type.net(), settings.depth(), || graph_type.nets())
}

fn ready(
    shared: Arc<dyn ErasedShared>,
    state: InitialState,
    recorder: Option<(Arc<RecordWriter>, Claim)>,
    membership: Option<Box<Membership>>,
    child_of: Option<Origin>,
) -> Ready {
    shared.untyped().emit_begun(child_of);
    let InitialState { frontier, arrived, mailbox, letters, resumption } = state;
    let recorded = recorder.map(|(record_writer, claim)| {
        let executor = Executor::new(claim, record_writer.clone());
        let (handling, held, next_letter) = Default::default();
        Box::new(Recorded { record_writer, executor, arrived, mailbox, handling, held, letters, next_letter })
    });
    Ready { driver: Driver::new(shared, frontier, recorded), resumption, membership }
}

/// Starts a new run, and records its start if there is a journal. Without a journal, the entry value is not kept either.
async fn fresh(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    settings: Box<Settings>,
    journal: Option<Arc<dyn Journal>>,
    entry: AnyValue,
    origin: Option<Origin>,
) -> Result<Executed, StartError> {
    let net = graph_type.net();
    let Some(journal) = journal else {
        let untyped = UntypedServices::new(net, *settings, None);
        let shared = graph_type.shared(graph, untyped, None, graph_type.memories());
        return Ok((initial_state(graph_type, entry, Vec::new()), shared, None));
    };
    let encoded = graph_type.encode_entry(&entry).map_err(|error| unreadable(error.to_string()))?;
    // Read back from its JSON, so that a value that does not survive serialization is an error now and not at a resume.
    let kept = (graph_type.read_entry(&encoded).map_err(unreadable)?, vec![None; net.places().len()]);
    let record_writer = Arc::new(settings.record_writer(journal, 0));
    let untyped = UntypedServices::new(net, *settings, Some(record_writer.clone()));
    let shared = graph_type.shared(graph, untyped, Some(kept), graph_type.memories());
    let settings = &shared.untyped().settings;
    let workspaces = commits(net, &*settings.options().workspaces, &settings.run).await?;
    let table = Box::new(net.table().clone());
    record_writer.begin(Entry::Started { table, input: encoded.clone().into(), origin, workspaces }).await?;
    let mut arrived = vec![None; net.places().len()];
    arrived[usize::from(net.entry())] = Some(encoded);
    Ok((initial_state(graph_type, entry, arrived), shared, Some(record_writer)))
}

/// The state of a new run.
fn initial_state(graph_type: &dyn GraphType, entry: AnyValue, arrived: Vec<Option<Encoded>>) -> InitialState {
    let frontier = Frontier::new(graph_type.net(), graph_type.enter(entry));
    InitialState { frontier, arrived, mailbox: VecDeque::new(), letters: 0, resumption: None }
}

/// The current commits of the table's workspaces.
async fn commits(net: &Net, workspaces: &dyn Workspaces, run: &RunId) -> Result<Vec<Commit>, StartError> {
    let names: BTreeSet<&str> = net.table().nodes.iter().filter_map(|row| row.workspace.as_deref()).collect();
    let mut commits = Vec::new();
    for name in names {
        let commit = workspaces.commit(name).await;
        let commit =
            commit.map_err(|error| StartError::Workspace { run: run.clone(), workspace: name.to_owned(), error })?;
        commits.extend(commit.map(|id| Commit { workspace: name.to_owned(), id }));
    }
    Ok(commits)
}

fn check_isolation(net: &Net, settings: &Settings) -> Result<(), StartError> {
    let options = settings.options();
    if !net.features().isolation || options.accepts_weaker_isolation {
        return Ok(());
    }
    let unkept = unkept(net, &*options.workspaces, &options.roles);
    if unkept.is_empty() { Ok(()) } else { Err(StartError::Isolation { unkept }) }
}

fn unreadable(reason: String) -> JournalError {
    JournalError::Encoding { what: "the entry value".to_owned(), reason }
}
