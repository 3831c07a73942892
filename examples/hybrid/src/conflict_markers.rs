//! The conflict markers that git writes into a file in which both sides have changed the same lines.

use crate::workbench::Workbench;
use interlocking::prelude::NodeError;
use interlocking::worktree::CommitId;

impl Workbench {
    /// The files that the run has changed up to a commit and that have conflict markers (HY-252).
    ///
    /// # Errors
    ///
    /// If the commit cannot be read.
    pub async fn marked_files(&self, commit: CommitId) -> Result<Vec<String>, NodeError> {
        let mut marked = Vec::new();
        for path in self.changed_since_the_start(commit).await? {
            let bytes = self.file_at(commit, &path).await?.unwrap_or_default();
            if has_conflict_markers(&bytes) {
                marked.push(path);
            }
        }
        Ok(marked)
    }
}

/// Whether all three markers are at the beginning of lines, in their order.
pub fn has_conflict_markers(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut has = |marker: &[u8]| lines.any(|line| line.starts_with(marker));
    has(b"<<<<<<<") && has(b"=======") && has(b">>>>>>>")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HY-252
    #[test]
    fn markers_are_three_in_their_order() {
        let conflict = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n";
        assert!(has_conflict_markers(conflict.as_bytes()));
        for text in [
            "",
            "Title\n=======\n",
            "<<<<<<< ours\nb\n",
            ">>>>>>>\n=======\n<<<<<<<\n",
            " <<<<<<<\n =======\n >>>>>>>\n",
        ] {
            assert!(!has_conflict_markers(text.as_bytes()), "{text:?}");
        }
    }
}
