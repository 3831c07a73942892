//! The operations of a runtime on a place after an agent's turn.

use interlocking_worktree::{BranchName, Force, Place, Repository, RepositoryPath, Worktree};

use crate::{
    arena::{Arena, Target, author, open_place, open_pool, open_repository},
    noise::Noise,
};

/// A case runs one in this many of the operations, in their order, so that each has its turn in thousands of cases.
const OF_WHICH_ONE: usize = 4;

/// Runs some operations. Each must return; other tests check the results. Returns how many succeeded.
pub(crate) fn some(arena: &Arena, target: Target, opened: Option<Worktree>, noise: &mut Noise) -> usize {
    let root = arena.root();
    let Ok(repository) = open_repository(&arena.project()) else { return 0 };
    let place = match opened {
        Some(opened) => opened,
        // A runtime that did not have the place open before stops here.
        None => match open_place(&repository, &root, target) {
            Ok(place) => place,
            Err(_) => return 0,
        },
    };
    let operations: [&dyn Fn() -> bool; 13] = [
        &|| repository.branches().is_ok(),
        &|| repository.worktrees().is_ok(),
        &|| repository.resolve("main~1").is_ok(),
        &|| place.status().is_ok(),
        &|| place.diff_since(arena.base).is_ok(),
        &|| {
            let source = RepositoryPath::new("src").unwrap();
            Place::new("run", place.clone(), arena.base).allowing([source]).verify().is_ok()
        },
        &|| place.pick_for_resolution(arena.ahead).is_ok(),
        &|| place.commit_all(&author(), "what the agent did").is_ok(),
        &|| place.merge(arena.ahead, &author(), "merged").is_ok(),
        &|| bring_home(arena, target, &repository, &place),
        &|| place.reset_to(arena.base).is_ok(),
        &|| place.unlock().is_ok(),
        &|| take_away(arena, target, &repository, &place),
    ];
    let chosen: Vec<_> = operations.iter().filter(|_| noise.one_in(OF_WHICH_ONE)).collect();
    chosen.into_iter().filter(|operation| operation()).count()
}

/// Brings the commits of the place's branch to the user's branch.
fn bring_home(arena: &Arena, target: Target, repository: &Repository, place: &Worktree) -> bool {
    let tip = match target {
        Target::Clone => repository.fetch_from_clone(place, arena.base, None).ok(),
        Target::Linked => place.head().ok(),
    };
    let Some(tip) = tip else { return false };
    let diff = repository.unified_diff(arena.base, tip).is_ok();
    let Ok(Some(merged)) = repository.merge_onto(arena.ahead, tip, &author(), "merged") else { return false };
    let main = BranchName::new("main").unwrap();
    repository.cherry_pick_onto(arena.ahead, arena.base..tip, &author()).is_ok()
        && repository.fast_forward(&main, merged, arena.ahead).is_ok()
        && diff
}

fn take_away(arena: &Arena, target: Target, repository: &Repository, place: &Worktree) -> bool {
    let force = Force::DiscardChanges;
    if target == Target::Clone {
        return interlocking_worktree::delete_directory(place.path()).is_ok();
    }
    let Ok(pool) = open_pool(repository, &arena.root()) else { return false };
    let is_retired = pool.retire(place, force).is_ok_and(|retired| retired.clean().is_ok());
    let again = pool.create_worktree(arena.root().join("run/again"), BranchName::new("again").unwrap(), arena.ahead);
    is_retired
        && again.is_ok_and(|again| repository.remove_worktree(&again, force).is_ok_and(|gone| gone.delete().is_ok()))
}
