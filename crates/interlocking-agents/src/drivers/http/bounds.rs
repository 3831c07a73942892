//! Limits how much of a provider's answer is held in memory.

use std::ops::Range;

use hyper::body::Bytes;

use super::failure::{self, Failure};
use crate::agent::error::AgentErrorKind;
use crate::drivers::prose;
use crate::program::Redactor;

/// The longest event of an answer, in bytes: 16 MiB, as long as the text of an answer may be.
pub(super) const LONGEST_EVENT: usize = 16 << 20;

/// The longest answer, in bytes: 256 MiB. A token takes a few hundred bytes.
pub(super) const LONGEST_ANSWER: usize = 256 << 20;

/// The longest body of an error, in bytes: 1 MiB. Only the beginning of a longer body is used.
pub(super) const LONGEST_ERROR: usize = prose::LONGEST;

/// How much of an error that is too long is shown, in bytes.
const SHOWN: usize = 200;

/// A streamed answer, split into its events.
pub(super) struct Events {
    answer: Option<reqwest::Response>,
    splitter: EventSplitter,
}

/// Finds the ends of server-sent events: empty lines.
#[derive(Debug)]
struct EventSplitter {
    /// The beginning of an event that has not ended yet.
    begun: Vec<u8>,
    total: usize,
    line_is_empty: bool,
    /// Whether a line feed that follows now belongs to the previous line end.
    after_return: bool,
}

/// Something exceeds its limit.
#[derive(Debug)]
struct TooLong {
    what: &'static str,
    most: usize,
}

impl Events {
    pub(super) fn of(answer: reqwest::Response) -> Self {
        let splitter = EventSplitter { begun: Vec::new(), total: 0, line_is_empty: true, after_return: false };
        Self { answer: Some(answer), splitter }
    }

    /// The next complete events; at the end of the answer the rest, and then nothing.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        while let Some(answer) = &mut self.answer {
            match answer.chunk().await.map_err(|error| failure::transport(&error))? {
                Some(piece) => {
                    let events = self.splitter.split(&piece)?;
                    if !events.is_empty() {
                        return Ok(Some(events.into()));
                    }
                }
                None => self.answer = None,
            }
        }
        let rest = std::mem::take(&mut self.splitter.begun);
        Ok(Some(rest).filter(|rest| !rest.is_empty()).map(Into::into))
    }
}

impl EventSplitter {
    /// Takes a piece of the answer, and returns the events that end in it.
    fn split(&mut self, piece: &[u8]) -> Result<Vec<u8>, TooLong> {
        self.total = self.total.saturating_add(piece.len());
        if self.total > LONGEST_ANSWER {
            return Err(TooLong { what: "the provider's answer", most: LONGEST_ANSWER });
        }
        let (mut first, mut last) = (None, 0);
        // Where the bytes after the previous line end begin.
        let mut next = 0;
        for at in memchr::memchr2_iter(b'\n', b'\r', piece) {
            self.line_continues(next..at);
            next = at + 1;
            let is_second_half = piece[at] == b'\n' && self.after_return;
            self.after_return = piece[at] == b'\r';
            if is_second_half {
                continue;
            }
            if self.line_is_empty {
                last = next;
                first.get_or_insert(last);
            }
            self.line_is_empty = true;
        }
        self.line_continues(next..piece.len());
        if self.begun.len() + first.unwrap_or(piece.len()) > LONGEST_EVENT {
            return Err(TooLong { what: "an event of the provider's answer", most: LONGEST_EVENT });
        }
        let (ended, begun) = piece.split_at(last);
        let mut events = Vec::new();
        if first.is_some() {
            events = std::mem::take(&mut self.begun);
            events.extend_from_slice(ended);
        }
        self.begun.extend_from_slice(begun);
        Ok(events)
    }

    /// The line continues with these bytes, none of which ends it.
    fn line_continues(&mut self, bytes: Range<usize>) {
        if !bytes.is_empty() {
            self.line_is_empty = false;
            self.after_return = false;
        }
    }
}

/// The body of an error. If it is too long, a message that says so and shows its beginning, without the key.
pub(super) async fn beginning_of_error(mut answer: reqwest::Response, redactor: &Redactor) -> reqwest::Result<Bytes> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST_ERROR {
            let body = redactor.bytes(&body);
            let beginning = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
            return Ok(format!("an error of more than {LONGEST_ERROR} bytes, which begins: {beginning}").into());
        }
    }
    Ok(body.into())
}

impl From<TooLong> for Failure {
    fn from(TooLong { what, most }: TooLong) -> Self {
        let message = format!("{what} is longer than {most} bytes: look whether `base_url` is the provider's");
        Self::begun(AgentErrorKind::Other { message, transient: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splitter() -> EventSplitter {
        EventSplitter { begun: Vec::new(), total: 0, line_is_empty: false, after_return: false }
    }

    /// The result does not depend on how the answer is split into pieces.
    #[test]
    fn events_end_with_an_empty_line() {
        for end in ["\n\n", "\r\n\r\n", "\r\r", "\n\r", "\n\r\n"] {
            let text = format!("data: 1{end}event: x\ndata: 2{end}data: 3");
            for size in 1..text.len() {
                let mut splitter = splitter();
                let mut events = Vec::new();
                for piece in text.as_bytes().chunks(size) {
                    let cut = splitter.split(piece).unwrap();
                    let cut = String::from_utf8(cut).unwrap();
                    assert!(cut.is_empty() || cut.trim_end() != cut, "{cut:?} is not whole, in pieces of {size}");
                    events.push(cut);
                }
                assert!(events.iter().any(|event| event.contains("data: 2")), "it is not held back");
                let rest = String::from_utf8(splitter.begun).unwrap();
                assert_eq!(rest.trim_start(), "data: 3");
                assert_eq!(events.concat() + &rest, text);
            }
        }
    }

    #[test]
    fn an_event_may_be_as_long_as_the_limit_and_others_may_follow() {
        let mut long = vec![b'x'; LONGEST_EVENT - 2];
        long.extend(b"\n\ndata: 2\n\n");
        let whole = splitter().split(&long).unwrap();
        assert_eq!(whole.len(), long.len());
        long.insert(0, b'x');
        let too_long = splitter().split(&long).unwrap_err();
        assert_eq!((too_long.what, too_long.most), ("an event of the provider's answer", 16 << 20));
    }

    #[test]
    fn many_events_may_not_be_too_long_together() {
        let mut splitter = splitter();
        let event = [&[b'x'; (1 << 20) - 2][..], b"\n\n"].concat();
        for _ in 0..256 {
            assert_eq!(splitter.split(&event).unwrap().len(), event.len());
        }
        assert_eq!(splitter.split(b"\n").unwrap_err().most, 256 << 20);
    }
}
