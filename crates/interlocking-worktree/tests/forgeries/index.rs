//! Indexes written entry by entry.

use crate::{
    arena::{Arena, Target},
    index_file::{Entry, encode, stat},
    noise::Noise,
};

/// Writes entries that lead out of the place, that git would refuse, and that seem to be unchanged.
pub(crate) fn entries(arena: &Arena, target: Target, noise: &mut Noise) {
    let place = arena.place(target);
    let depth = place.components().count() - arena.victim().components().count() + 1;
    let up = "../".repeat(depth);
    let victim = arena.victim();
    let paths = [
        format!("{up}victim/precious.txt"),
        format!("{up}victim/repository"),
        format!("{up}victim/private/key"),
        format!("src/../{up}victim/precious.txt"),
        victim.join("precious.txt").display().to_string(),
        "../../project/user.txt".to_owned(),
        ".git/config".to_owned(),
        "src/.git/config".to_owned(),
        ".GIT/HEAD".to_owned(),
        "git~1".to_owned(),
        ".git\\x".to_owned(),
        "src//lib.rs".to_owned(),
        "./a.txt".to_owned(),
        "a.txt/below".to_owned(),
        "a.txt".to_owned(),
        "src".to_owned(),
        "src/".to_owned(),
        "src/lib.rs".to_owned(),
        "b.txt".to_owned(),
        "link/precious.txt".to_owned(),
        "x\0y".to_owned(),
        String::new(),
        "d/".repeat(2_000) + "f",
    ];
    if noise.one_in(4) {
        std::os::unix::fs::symlink(&victim, place.join("link")).unwrap();
    }
    let mut entries: Vec<Entry> = (0..1 + noise.below(6))
        .map(|_| {
            let path = noise.pick(&paths).clone();
            let mode = *noise.pick(&[0o100_644, 0o100_644, 0o100_755, 0o120_000, 0o160_000, 0o40_000, 0o100_666, 0]);
            let stage = *noise.pick(&[0, 0, 0, 1, 2, 3]);
            let mut id = [0; 20];
            if noise.one_in(2) {
                id.copy_from_slice(&noise.bytes(20));
            }
            Entry { stat: stat(&place.join(path.replace('\0', ""))), path: path.into_bytes(), mode, id, stage }
        })
        .collect();
    if noise.one_in(4) {
        entries.reverse();
    } else {
        entries.sort_by(|one, other| (&one.path, one.stage).cmp(&(&other.path, other.stage)));
    }
    let mut extensions = Vec::new();
    if noise.one_in(2) {
        let name =
            *noise.pick(&[b"TREE", b"REUC", b"link", b"UNTR", b"FSMN", b"EOIE", b"IEOT", b"sdir", b"XYZW", b"xyzw"]);
        let count = entries.len();
        let data = match name {
            b"TREE" if noise.one_in(2) => [format!("\0{count} 0\n").as_bytes(), &noise.bytes(20)].concat(),
            b"TREE" => b"\x00-1 1\n".repeat(1 + noise.below(30_000)),
            _ => {
                let length = noise.below(200);
                noise.bytes(length)
            }
        };
        extensions.push((name, data));
    }
    std::fs::write(arena.git_directory(target).join("index"), encode(&entries, &extensions)).unwrap();
}
