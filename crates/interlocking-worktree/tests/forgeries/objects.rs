//! Trees and commits that git would not make, on the agent's branch.

use std::{io::Write as _, sync::LazyLock};

use gix::{
    ObjectId,
    objs::{Kind, Write as _},
};

use crate::{
    arena::{Arena, Target},
    noise::Noise,
};

/// A loose object of 300 MB, as a file of 300 KB. Its name is another object's; no operation reads far enough to
/// notice.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    const SIZE: usize = 300 << 20;
    let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(format!("blob {SIZE}\0").as_bytes()).unwrap();
    for _ in 0..SIZE >> 20 {
        bomb.write_all(&[0; 1 << 20]).unwrap();
    }
    bomb.finish().unwrap()
});

pub(crate) fn any(arena: &Arena, target: Target, noise: &mut Noise) {
    let git = gix::open_opts(arena.common_directory(target), gix::open::Options::isolated()).unwrap();
    let write = |kind, data: &[u8]| git.objects.write_buf(kind, data).unwrap();
    let blob = match noise.below(30) {
        // A few kilobytes on disk.
        0 => {
            let id = write(Kind::Blob, b"a bomb\n");
            let path = object(arena, target, id);
            let _ = std::fs::remove_file(&path);
            std::fs::write(path, BOMB.as_slice()).unwrap();
            id
        }
        1 => ObjectId::from_hex("0123456789012345678901234567890123456789".as_bytes()).unwrap(),
        _ => write(Kind::Blob, b"forged\n"),
    };
    let base: ObjectId = git
        .find_commit(ObjectId::from_hex(arena.base.to_string().as_bytes()).unwrap())
        .unwrap()
        .tree_id()
        .unwrap()
        .detach();
    let names: [&[u8]; 16] = [
        b"a.txt",
        b"b.txt",
        b"src",
        b"..",
        b".",
        b".git",
        b".GIT",
        b"git~1",
        b".git\\x",
        b"a/b",
        b"",
        b"/",
        b".gitmodules",
        b".gitattributes",
        b"\xff",
        b"x\ny",
    ];
    let mut tree = match noise.below(40) {
        // Deeper than any path.
        0 => (0..2_100 + noise.below(200)).fold(base, |tree, _| write(Kind::Tree, &entry("40000", b"d", tree))),
        // More files than any disk can hold.
        1 => (0..20).fold(base, |tree, _| {
            let entries: Vec<u8> = (b'a'..b'k').flat_map(|name| entry("40000", &[name], tree)).collect();
            write(Kind::Tree, &entries)
        }),
        _ => base,
    };
    if noise.one_in(2) {
        let mut entries: Vec<(Vec<u8>, &[u8])> = (0..1 + noise.below(5))
            .map(|_| {
                let (name, mode) = (
                    *noise.pick(&names),
                    *noise.pick(&[
                        "100644",
                        "100755",
                        "120000",
                        "160000",
                        "40000",
                        "040000",
                        "100664",
                        "0",
                        "777777777",
                        "x",
                    ]),
                );
                let id = *noise.pick(&[blob, tree, base, ObjectId::null(gix::hash::Kind::Sha1)]);
                (entry(mode, name, id), name)
            })
            .collect();
        if !noise.one_in(4) {
            entries.sort_by(|one, other| one.1.cmp(other.1));
            entries.dedup_by(|one, other| one.1 == other.1);
        }
        tree = write(Kind::Tree, &entries.into_iter().flat_map(|(entry, _)| entry).collect::<Vec<_>>());
    } else if noise.one_in(4) {
        let length = noise.below(200);
        tree = write(Kind::Tree, &noise.bytes(length));
    }
    let who = *noise.pick(&[
        "Eve <eve@example.org> 1700000000 +0000",
        "Eve",
        "",
        "Eve <e> -99999999999999999999 +9999",
        "< > 0 +0000",
    ]);
    let parent = match noise.below(4) {
        0 => String::new(),
        1 => format!("parent {}\nparent {}\n", arena.base, arena.base),
        _ => format!("parent {}\n", arena.base),
    };
    let message = *noise.pick(&["made\n", "", "\0", "\x1b[31m\r"]);
    let commit = format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}");
    let commit = write(Kind::Commit, commit.as_bytes());
    let branch = if target == Target::Clone { "clone" } else { "linked" };
    std::fs::write(arena.common_directory(target).join("refs/heads").join(branch), format!("{commit}\n")).unwrap();
    if noise.one_in(3) {
        // So that an object's contents do not match its name.
        let (from, to) = (object(arena, target, commit), object(arena, target, tree));
        if let (Ok(contents), true) = (std::fs::read(from), noise.one_in(2)) {
            let _ = std::fs::remove_file(&to);
            let _ = std::fs::create_dir_all(to.parent().unwrap());
            std::fs::write(to, contents).unwrap();
        }
    }
}

fn object(arena: &Arena, target: Target, id: ObjectId) -> std::path::PathBuf {
    let id = id.to_string();
    arena.common_directory(target).join("objects").join(&id[..2]).join(&id[2..])
}

fn entry(mode: &str, name: &[u8], id: ObjectId) -> Vec<u8> {
    [mode.as_bytes(), b" ", name, b"\0", id.as_slice()].concat()
}
