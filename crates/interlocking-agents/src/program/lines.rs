//! Splits a stream into lines, in bounded memory.

use std::ops::Range;

use tokio::io::{AsyncRead, AsyncReadExt};

/// A line of a program's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The complete line, without its line end. It is not necessarily UTF-8.
    Whole(&'a [u8]),
    /// The line was longer than the maximum, and was skipped.
    TooLong {
        /// The length of the line.
        bytes: u64,
    },
}

/// Buffers bytes that were read but not yet taken. Holds at most one line and one more chunk.
pub(super) struct Lines {
    longest: usize,
    buffer: Vec<u8>,
    /// The bytes before this index were taken.
    taken: usize,
    /// There is no line end between `taken` and this index.
    searched: usize,
    /// How many bytes of an overlong line were discarded so far.
    skipped: Option<u64>,
    is_finished: bool,
}

/// A line that was taken: its place in the buffer, or its length if it is too long.
#[derive(Debug)]
pub(super) enum Taken {
    Whole(Range<usize>),
    TooLong(u64),
}

/// The minimum free capacity of the buffer before a read.
const CHUNK: usize = 8 * 1024;

/// The buffer is shrunk when a long line has made its capacity larger than this.
const KEPT: usize = 16 * CHUNK;

impl Lines {
    pub(super) fn new(longest: usize) -> Self {
        Self { longest, buffer: Vec::new(), taken: 0, searched: 0, skipped: None, is_finished: false }
    }

    /// Takes the next line, if the buffer holds a complete one. [`bytes`](Self::bytes) returns its content until the next
    /// [`fill`](Self::fill).
    pub(super) fn take(&mut self) -> Option<Taken> {
        let end = memchr::memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at);
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return if self.is_finished { self.take_rest() } else { None };
        };
        let line = self.taken..end;
        (self.taken, self.searched) = (end + 1, end + 1);
        Some(self.classified(line))
    }

    /// Takes the last line if it has no line end.
    fn take_rest(&mut self) -> Option<Taken> {
        let line = self.taken..self.buffer.len();
        self.taken = line.end;
        (!line.is_empty() || self.skipped.is_some()).then(|| self.classified(line))
    }

    /// Takes the next `count` bytes, if the buffer holds as many.
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

    fn classified(&mut self, line: Range<usize>) -> Taken {
        match self.skipped.take() {
            Some(skipped) => Taken::TooLong(skipped + line.len() as u64),
            None if line.len() > self.longest => Taken::TooLong(line.len() as u64),
            None => Taken::Whole(line),
        }
    }

    pub(super) fn bytes(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// Reads once and returns the number of bytes read; 0 at the end of the stream. Call it only when there is no line to take.
    /// Cancel-safe.
    pub(super) async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<usize> {
        self.make_room();
        stream.read_buf(&mut self.buffer).await
    }

    /// Marks the end of the stream: a last line without a line end can be taken.
    pub(super) fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Discards everything that was read.
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
            // Double the capacity, but not beyond the maximum length of a line and one chunk.
            let wanted = needed.max((2 * self.buffer.len()).min(self.longest + CHUNK));
            self.buffer.reserve_exact(wanted - self.buffer.len());
        }
    }
}
