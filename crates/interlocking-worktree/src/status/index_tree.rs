//! Computing the tree of an index from its entries.

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    index::entry::{Flags, Mode, Stage},
    objs::Kind,
};

/// The tree that has exactly these entries. None if there is no such tree: an entry is unmerged, or added without its
/// contents.
///
/// It is computed from the entries. The index's own statement of its tree is not trusted.
pub(crate) fn tree_of(index: &gix::index::State) -> gix::Result<Option<ObjectId>> {
    let entries = index.entries();
    if entries.iter().any(|entry| entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD)) {
        return Ok(None);
    }
    // For each open directory: where its name ends in the previous entry's path, and its tree so far.
    let mut open: Vec<(usize, Vec<u8>)> = vec![(0, Vec::new())];
    let mut before: &BStr = "".into();
    let hash = index.object_hash();
    for entry in entries {
        let path = entry.path(index);
        while let Some((end, _)) = open.last()
            && *end > 0
            && path.get(..=*end) != before.get(..=*end)
        {
            close(&mut open, before, hash)?;
        }
        let begin = open.last().map_or(0, |(end, _)| if *end == 0 { 0 } else { *end + 1 });
        let name = path[begin..].rfind_byte(b'/').map_or(begin, |last| begin + last + 1);
        for slash in path[begin..name].find_iter(b"/") {
            open.push((begin + slash, Vec::new()));
        }
        if let Some((_, tree)) = open.last_mut() {
            let mode = match entry.mode {
                Mode::FILE => b"100644 ",
                Mode::FILE_EXECUTABLE => b"100755 ",
                Mode::SYMLINK => b"120000 ",
                Mode::COMMIT => b"160000 ",
                // A directory, which an index that was read here never has.
                _ => return Ok(None),
            };
            put(tree, mode, &path[name..], &entry.id);
        }
        before = path;
    }
    while open.len() > 1 {
        close(&mut open, before, hash)?;
    }
    let tree = open.pop().map(|(_, tree)| tree).unwrap_or_default();
    Ok(Some(gix::objs::compute_hash(hash, Kind::Tree, &tree)?))
}

/// Completes the innermost open directory and adds it to its parent.
fn close(open: &mut Vec<(usize, Vec<u8>)>, path: &BStr, hash: gix::hash::Kind) -> gix::Result<()> {
    let Some((end, tree)) = open.pop() else { return Ok(()) };
    let id = gix::objs::compute_hash(hash, Kind::Tree, &tree)?;
    if let Some((above, parent)) = open.last_mut() {
        let begin = if *above == 0 { 0 } else { *above + 1 };
        put(parent, b"40000 ", &path[begin..end], &id);
    }
    Ok(())
}

fn put(tree: &mut Vec<u8>, mode: &[u8], name: &[u8], id: &gix::oid) {
    tree.extend_from_slice(mode);
    tree.extend_from_slice(name);
    tree.push(0);
    tree.extend_from_slice(id.as_bytes());
}
