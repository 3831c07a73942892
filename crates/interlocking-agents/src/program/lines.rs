//! A stream cut into lines, within bounded memory.

use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt};

/// A line of a program's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// All of it, without its end. Any bytes but a line's end; text if the program says so.
    Whole(&'a [u8]),
    /// It was longer than a line may be, and it was skipped.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

/// What was read and not yet taken. Holds one line at most, and one read more.
pub(super) struct Lines {
    longest: usize,
    buffer: Vec<u8>,
    /// What was taken ends here.
    taken: usize,
    /// There is no end of a line between here and what was taken.
    searched: usize,
    /// How much of a line that is too long was thrown away.
    skipped: Option<u64>,
    is_over: bool,
}

/// A line in the buffer.
#[derive(Debug)]
pub(super) enum Taken {
    Whole(Range<usize>),
    TooLong(u64),
}

/// How much is read at once.
const CHUNK: usize = 8 * 1024;

/// A buffer that was needed for one long line is given back when it is larger than this.
const KEPT: usize = 16 * CHUNK;

impl Lines {
    pub(super) fn new(longest: usize) -> Self {
        Self { longest, buffer: Vec::new(), taken: 0, searched: 0, skipped: None, is_over: false }
    }

    /// The next whole line, if there is one. Until the next [`fill`](Self::fill) it is found at [`bytes`](Self::bytes).
    pub(super) fn take(&mut self) -> Option<Taken> {
        let end = memchr::memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at);
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return if self.is_over { self.take_rest() } else { None };
        };
        let line = self.taken..end;
        (self.taken, self.searched) = (end + 1, end + 1);
        Some(self.judged(line))
    }

    /// A last line without an end.
    fn take_rest(&mut self) -> Option<Taken> {
        let line = self.taken..self.buffer.len();
        self.taken = line.end;
        (!line.is_empty() || self.skipped.is_some()).then(|| self.judged(line))
    }

    /// The next so many bytes, if there are.
    pub(super) fn take_exact(&mut self, count: usize) -> std::io::Result<Option<Range<usize>>> {
        if count > self.longest {
            let message = format!("{count} bytes are more than the {} that are kept", self.longest);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        if self.buffer.len() - self.taken < count {
            return Ok(None);
        }
        let bytes = self.taken..self.taken + count;
        (self.taken, self.searched) = (bytes.end, bytes.end);
        Ok(Some(bytes))
    }

    fn judged(&mut self, line: Range<usize>) -> Taken {
        match self.skipped.take() {
            Some(skipped) => Taken::TooLong(skipped + line.len() as u64),
            None if line.len() > self.longest => Taken::TooLong(line.len() as u64),
            None => Taken::Whole(line),
        }
    }

    pub(super) fn bytes(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// Reads once, and says how many bytes; 0 at the end. To be called when there is no line to take. Nothing is lost when it is dropped.
    pub(super) async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<usize> {
        self.make_room();
        stream.read_buf(&mut self.buffer).await
    }

    /// There will be no more.
    pub(super) fn finish(&mut self) {
        self.is_over = true;
    }

    /// Forgets everything that was read.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
        (self.taken, self.searched, self.skipped) = (0, 0, None);
    }

    fn make_room(&mut self) {
        self.buffer.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        if self.buffer.len() > self.longest || self.skipped.is_some() {
            *self.skipped.get_or_insert(0) += self.buffer.len() as u64;
            self.buffer.clear();
            self.searched = 0;
        }
        if self.buffer.capacity() > KEPT && self.buffer.len() < CHUNK {
            self.buffer.shrink_to(2 * CHUNK);
        }
        let needed = self.buffer.len() + CHUNK;
        if self.buffer.capacity() < needed {
            // Twice as much, but never much more than a line may be long.
            let wanted = needed.max((2 * self.buffer.len()).min(self.longest + CHUNK));
            self.buffer.reserve_exact(wanted - self.buffer.len());
        }
    }
}
