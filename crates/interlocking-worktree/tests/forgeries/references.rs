//! References, packed and loose, HEAD, the links between a worktree and its repository, and notes of operations under
//! way.

use std::path::Path;

use crate::{
    arena::{Arena, Target},
    noise::Noise,
};

pub(crate) fn any(arena: &Arena, target: Target, noise: &mut Noise) {
    let victim = arena.victim();
    let up = format!("{}victim", "../".repeat(6));
    let names = [
        "refs/heads/clone",
        "refs/heads/linked",
        "refs/heads/main",
        "refs/heads/../../../x",
        "HEAD",
        "refs/heads/a b",
        "",
    ];
    let paths = [
        victim.join("repository/.git").display().to_string(),
        victim.display().to_string(),
        up,
        arena.project().join(".git").display().to_string(),
        arena.project().join(".git/worktrees/linked").display().to_string(),
        arena.place(target).join(".git").display().to_string(),
        "/".to_owned(),
        ".".to_owned(),
        "a\0b".to_owned(),
        "x".repeat(5_000),
    ];
    let ids = [arena.base.to_string(), arena.ahead.to_string(), "0".repeat(40), "f".repeat(40), "x".repeat(40)];
    for _ in 0..=noise.below(2) {
        let (own, common) = (arena.git_directory(target), arena.common_directory(target));
        let (name, path, id) = (*noise.pick(&names), noise.pick(&paths).clone(), noise.pick(&ids).clone());
        let symbolic = format!("ref: {name}\n");
        match noise.below(9) {
            0 => write(&own.join("HEAD"), &symbolic),
            1 => write(&own.join("HEAD"), &format!("{id}\n")),
            2 => write(&common.join("refs/heads").join(noise.pick(&["clone", "linked", "main"])), &symbolic),
            3 => write(&common.join("refs/heads").join(noise.pick(&["clone", "linked", "main"])), &format!("{id}\n")),
            4 => write(&own.join(noise.pick(&["commondir", "gitdir"])), &format!("{path}\n")),
            5 => {
                let link = arena.place(target).join(".git");
                if target == Target::Clone {
                    let _ = std::fs::rename(&link, arena.root().join("aside"));
                }
                write(&link, &format!("gitdir: {path}\n"));
            }
            6 => {
                let lines: String = (0..noise.below(50))
                    .map(|_| match noise.below(4) {
                        0 => format!("^{}\n", noise.pick(&ids)),
                        1 => "# pack-refs with: peeled fully-peeled sorted \n".to_owned(),
                        _ => format!("{} {}\n", noise.pick(&ids), noise.pick(&names)),
                    })
                    .collect();
                write(&common.join("packed-refs"), &lines);
            }
            7 => write(&common.join(noise.pick(&["shallow", "info/grafts"])), &format!("{id}\n{id} {id}\n")),
            _ => note(&common, &own, &paths, &id, noise),
        }
    }
}

/// Writes a note like one of a killed process.
fn note(common: &Path, own: &Path, paths: &[String], id: &str, noise: &mut Noise) {
    let mut path = || {
        let path = noise.pick(paths).replace(['\0', '\n'], "");
        match noise.below(3) {
            0 => own.display().to_string(),
            1 => format!("{path}/.interlocking-removed-1-2-3"),
            _ => path,
        }
    };
    let lines = [
        format!("lock\t{}/precious.lock\t0\n", path()),
        format!("files\t{}\t{}\t{id}\n", path(), path()),
        format!("moving\t{}\t{id}\n", path()),
        format!("remove\t{}\t{}\t{}\t{}\n", path(), path(), path(), path()),
        format!("create\t{}\t{}\trefs/heads/main\t{id}\n", path(), path()),
    ];
    let text: String = (0..=noise.below(4)).map(|_| noise.pick(&lines).clone()).collect();
    write(&common.join("interlocking/notes/1-0-1.note"), &text);
}

fn write(file: &Path, text: &str) {
    let _ = std::fs::create_dir_all(file.parent().unwrap());
    // Something else may have been put there.
    let _ = std::fs::write(file, text);
}
