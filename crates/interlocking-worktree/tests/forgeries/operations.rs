//! What a runtime does to a place after an agent's turn.

use interlocking_worktree::{Force, Place, RepositoryPath, Worktree};

use crate::{
    arena::{Arena, Target, author, open_place, open_pool, open_repository},
    noise::Noise,
};

/// Each operation answers; what it answers is for other tests to judge. Gives how many succeeded.
pub(crate) fn all(arena: &Arena, target: Target, opened: Option<Worktree>, noise: &mut Noise) -> usize {
    let root = arena.root();
    let mut succeeded = 0;
    let mut answered = |is_ok: bool| succeeded += usize::from(is_ok);
    let Ok(repository) = open_repository(&arena.project()) else { return succeeded };
    answered(repository.branches().is_ok());
    let place = match opened {
        Some(opened) => opened,
        None => match open_place(&repository, &root, target) {
            Ok(place) => place,
            // As if it had been opened before: by another process's handle nothing is left to try.
            Err(_) => return succeeded,
        },
    };
    let head = place.head();
    answered(head.is_ok());
    answered(place.status().is_ok());
    answered(place.diff_since(arena.base).is_ok());
    let verified =
        Place::new("run", place.clone(), arena.base).allowing([RepositoryPath::new("src").unwrap()]).verify();
    answered(verified.is_ok());
    if noise.one_in(2) {
        answered(place.pick_for_resolution(arena.ahead).is_ok());
    }
    let committed = place.commit_all(&author(), "what the agent did");
    answered(committed.is_ok());
    let tip = match target {
        Target::Clone => repository.fetch_from_clone(&place, arena.base, None).ok(),
        Target::Linked => place.head().ok(),
    };
    answered(tip.is_some());
    if let Some(tip) = tip {
        answered(repository.unified_diff(arena.base, tip).is_ok());
        answered(repository.merge_onto(arena.ahead, tip, &author(), "merged").is_ok());
        answered(repository.cherry_pick_onto(arena.ahead, arena.base..tip, &author()).is_ok());
    }
    if target == Target::Linked {
        answered(place.merge(arena.ahead, &author(), "merged").is_ok());
    }
    answered(place.reset_to(arena.base).is_ok());
    match target {
        Target::Clone => {
            answered(repository.remove_clone(&place, Force::DiscardChanges).is_ok_and(|gone| gone.delete().is_ok()))
        }
        Target::Linked if noise.one_in(2) => {
            answered(repository.remove_worktree(&place, Force::DiscardChanges).is_ok_and(|gone| gone.delete().is_ok()));
        }
        Target::Linked => {
            let Ok(pool) = open_pool(&repository, &root) else { return succeeded };
            answered(pool.retire(&place, Force::DiscardChanges).is_ok_and(|retired| retired.clean().is_ok()));
            let again = interlocking_worktree::BranchName::new("again").unwrap();
            answered(pool.create_worktree(root.join("run/again"), again, arena.ahead).is_ok());
        }
    }
    succeeded
}
