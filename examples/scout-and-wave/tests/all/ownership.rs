//! The ownership of files, checked before anything is launched.

use interlocking::workspaces::FilePath;
use scout_and_wave::protocol::ownership::{AgentFiles, OwnershipProblem, Wave, problems};

fn files(agent: &str, changes: &[&str], creates: &[&str], needs: &[&str]) -> AgentFiles {
    let paths = |paths: &[&str]| paths.iter().map(|path| FilePath::new(*path).unwrap()).collect();
    AgentFiles { agent: agent.parse().unwrap(), changes: paths(changes), creates: paths(creates), needs: paths(needs) }
}

fn found(waves: Vec<Vec<AgentFiles>>) -> Vec<String> {
    let waves: Vec<_> = waves.into_iter().map(|agents| Wave { agents }).collect();
    problems(1, &waves, &[]).iter().map(OwnershipProblem::to_string).collect()
}

/// SAW-12: within one wave; in different waves agents may work on the same file.
#[test]
fn one_file_has_one_owner_in_a_wave() {
    let overlap = "I1 is broken: agents A and C of wave 1 both own `b`; so the merge conflicts, or one agent's work undoes another's: give it to one of them, or put them into different waves";
    assert_eq!(
        found(vec![vec![
            files("A", &["a", "b"], &[], &[]),
            files("B", &["c"], &[], &[]),
            files("C", &[], &["b"], &[])
        ]]),
        [overlap]
    );
    assert!(found(vec![vec![files("A", &["b"], &[], &[])], vec![files("B", &["b"], &[], &[])]]).is_empty());
}

/// SAW-51: an earlier wave creates what an agent needs.
#[test]
fn what_is_needed_is_there_before() {
    let early = |created_in| {
        format!("agent B of wave 1 needs `new`, which agent A creates in wave {created_in}: it belongs to a later wave")
    };
    let (a, b) = (files("A", &[], &["new"], &[]), files("B", &["b"], &[], &["new"]));
    assert_eq!(found(vec![vec![a.clone(), b.clone()]]), [early(1)]);
    assert_eq!(found(vec![vec![b.clone()], vec![a.clone()]]), [early(2)]);
    assert!(found(vec![vec![a], vec![b]]).is_empty());
}

#[test]
fn letters_are_unique_and_everybody_owns_something() {
    let waves = vec![vec![files("A", &["a"], &[], &[])], vec![files("A", &[], &[], &[])]];
    assert_eq!(
        found(waves),
        [
            "there are two agents A: give each a letter of its own",
            "agent A of wave 2 owns no file: give it some, or take it out"
        ]
    );
}

/// A path that leads out of the repository is invalid.
#[test]
fn paths_stay_in_the_repository() {
    for path in ["../a", "/a", ".git/config", ""] {
        assert!(FilePath::new(path).is_err(), "{path}");
    }
}
