//! Text with its escapes decoded, which maps each decoded byte back to its place in the original text.

use std::ops::Range;

/// How many bytes of a text are decoded at once, without the overlap.
const PART: usize = 64 * 1024;

/// The maximum length in bytes of a character that is escaped twice: `\u005c\u0075\u0030\u0030\u0035\u0033`.
pub(super) const LONGEST_ESCAPE: usize = 36;

/// A part of a text with the escapes of JSON strings and of URLs decoded.
pub(super) struct Unescaped {
    bytes: Vec<u8>,
    /// For each decoded byte, its place in the original text, relative to `start`.
    origins: Vec<Range<u32>>,
    /// Where the part begins in the original text.
    start: usize,
    has_escapes: bool,
}

/// A decoded escape.
struct Escape {
    /// The decoded bytes, of which `count` are used.
    bytes: [u8; 4],
    count: usize,
    /// The length of the escape in the original text.
    length: usize,
}

impl Unescaped {
    /// The parts of a text that contain escapes. Each part overlaps the next, so that no decoded text of up to `longest` bytes is
    /// cut in two, unless it takes more than [`PART`] bytes in the original text.
    pub(super) fn parts(text: &[u8], longest: usize) -> impl Iterator<Item = Self> {
        let overlap = longest.saturating_mul(LONGEST_ESCAPE).min(PART);
        let mut begin = 0;
        std::iter::from_fn(move || {
            let escape = begin + memchr::memchr2(b'\\', b'%', text.get(begin..)?)?;
            // A secret may begin unescaped, before its first escape.
            let start = escape.saturating_sub(longest).max(begin);
            let end = text.len().min(start + PART + overlap);
            // The next part begins at an escape or plain byte, never inside an escape.
            let mut next = None;
            let part = Self::of(&text[..end], start, |at| {
                if at >= start + PART {
                    next.get_or_insert(at);
                }
            });
            begin = if end == text.len() { end } else { next.unwrap_or(end) };
            Some(part)
        })
        .filter(|part| part.has_escapes)
    }

    /// Decodes a second layer of escapes. `None` if there is none.
    pub(super) fn unescaped_again(&self) -> Option<Self> {
        let mut again = Self::of(&self.bytes, 0, |_| {});
        for origin in &mut again.origins {
            let (first, last) = (&self.origins[origin.start as usize], &self.origins[origin.end as usize - 1]);
            *origin = first.start..last.end;
        }
        again.start = self.start;
        again.has_escapes.then_some(again)
    }

    /// Decodes the text from `start` on. Calls `on_unit` with the position of each escape and of each plain byte.
    fn of(text: &[u8], start: usize, mut on_unit: impl FnMut(usize)) -> Self {
        let mut part = Self { bytes: Vec::new(), origins: Vec::new(), start, has_escapes: false };
        let mut at = start;
        while at < text.len() {
            on_unit(at);
            let escape = Escape::at(&text[at..]);
            part.has_escapes |= escape.is_some();
            let Escape { bytes, count, length } = escape.unwrap_or(Escape::none(text[at]));
            // This cannot truncate: a part is far shorter than 4 GiB.
            let origin = (at - start) as u32..(at - start + length) as u32;
            for byte in &bytes[..count] {
                part.bytes.push(*byte);
                part.origins.push(origin.clone());
            }
            at += length;
        }
        part
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The place of these decoded bytes in the original text.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let (first, last) = (&self.origins[range.start], &self.origins[range.end - 1]);
        self.start + first.start as usize..self.start + last.end as usize
    }
}

impl Escape {
    fn none(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], count: 1, length: 1 }
    }

    /// Decodes the escape that the text begins with, if there is one.
    fn at(text: &[u8]) -> Option<Self> {
        let byte = |byte, length| Some(Self { bytes: [byte, 0, 0, 0], count: 1, length });
        match text {
            [b'%', digits @ ..] => byte(u8::try_from(number(digits, 2)?).ok()?, 3),
            [b'\\', b'u', digits @ ..] => {
                let unit = number(digits, 4)?;
                let low = || match digits.get(4..)? {
                    [b'\\', b'u', digits @ ..] => number(digits, 4).filter(|low| (0xdc00..0xe000).contains(low)),
                    _ => None,
                };
                match unit {
                    0xd800..0xdc00 => Self::of(0x1_0000 + ((unit - 0xd800) << 10) + (low()? - 0xdc00), 12),
                    unit => Self::of(unit, 6),
                }
            }
            [b'\\', plain @ (b'"' | b'\\' | b'/'), ..] => byte(*plain, 2),
            [b'\\', b'b', ..] => byte(0x08, 2),
            [b'\\', b'f', ..] => byte(0x0c, 2),
            [b'\\', b'n', ..] => byte(b'\n', 2),
            [b'\\', b'r', ..] => byte(b'\r', 2),
            [b'\\', b't', ..] => byte(b'\t', 2),
            _ => None,
        }
    }

    /// An escape of the character with this code point, if there is such a character.
    fn of(number: u32, length: usize) -> Option<Self> {
        let mut bytes = [0; 4];
        let count = char::from_u32(number)?.encode_utf8(&mut bytes).len();
        Some(Self { bytes, count, length })
    }
}

/// The value of the first `digits` hexadecimal digits of the text.
fn number(text: &[u8], digits: usize) -> Option<u32> {
    let digits = text.get(..digits)?.iter();
    digits.map(|&digit| char::from(digit).to_digit(16)).try_fold(0, |number, digit| Some(number * 16 + digit?))
}
