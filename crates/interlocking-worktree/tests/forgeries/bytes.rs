//! Real files with flipped bits, truncated ends, and pieces of other files.

use std::path::Path;

use crate::{
    arena::{Arena, Target},
    noise::Noise,
};

/// Damages a file that the agent can write, usually one of git's.
pub(crate) fn any_file(arena: &Arena, target: Target, noise: &mut Noise) {
    let files = arena.files(target);
    let (file, other) = (noise.pick(&files).clone(), noise.pick(&files).clone());
    garble(&file, &other, noise);
}

/// Damages a pack or its index, which hold nearly everything of a clone.
pub(crate) fn pack(arena: &Arena, _: Target, noise: &mut Noise) {
    let files = arena.files(Target::Clone);
    let packs: Vec<_> = files.iter().filter(|file| file.to_string_lossy().contains("/objects/pack/")).collect();
    let file = *noise.pick(&packs);
    let other = noise.pick(&files).clone();
    garble(file, &other, noise);
}

/// Damages the index.
pub(crate) fn index(arena: &Arena, target: Target, noise: &mut Noise) {
    let file = arena.git_directory(target).join("index");
    let other = noise.pick(&arena.files(target)).clone();
    garble(&file, &other, noise);
}

fn garble(file: &Path, other: &Path, noise: &mut Noise) {
    let mut contents = std::fs::read(file).unwrap();
    for _ in 0..=noise.below(3) {
        let length = contents.len();
        let at = noise.below(length.max(1));
        match noise.below(6) {
            0 if length > 0 => contents[at] ^= 1 << noise.below(8),
            1 if length > 0 => contents[at] = *noise.pick(b"\0\n /.\xff\x80"),
            2 => contents.truncate(at),
            3 => {
                let length = noise.below(64);
                contents.splice(at.min(length)..at.min(length), noise.bytes(length));
            }
            4 => {
                let piece = std::fs::read(other).unwrap();
                let from = noise.below(piece.len().max(1));
                let to = (from + 1 + noise.below(200)).min(piece.len());
                let at = at.min(contents.len());
                contents.splice(at..at, piece[from..to.max(from)].iter().copied());
            }
            _ if length > 4 => {
                // A number like the lengths and counts of binary formats.
                let number: u32 = *noise.pick(&[0, 1, u32::MAX, 1 << 31, 1 << 24, 0x7fff_ffff]);
                let at = noise.below(length - 4);
                contents[at..at + 4].copy_from_slice(&number.to_be_bytes());
            }
            _ => {}
        }
    }
    // Git writes objects without write permission.
    let _ = std::fs::remove_file(file);
    std::fs::write(file, contents).unwrap();
}
