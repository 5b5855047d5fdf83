//! The canonical text of a document as it streams by, and hashes over parts
//! of it.
//!
//! The canonical text of a value does not depend on where it stands, so the
//! text is made once and each hash (a [`Tap`]) takes the ranges it covers:
//! a container without some of its members, or with only some.

use super::hashers::{Away, Hashers};
use crate::digest::{Digest, Hasher};
use crate::json::{append_escaped, append_number};

/// Text is given to the hashes in portions of this size.
const PORTION: usize = 32 * 1024;

/// A hash over one object, whose members are taken or left out by name.
struct Tap<P> {
    purpose: P,
    /// Containers open around the object.
    depth: usize,
    hash: Hash,
    /// From where in the buffer text is taken; `None` while it is not.
    from: Option<usize>,
    /// Whether a member was taken.
    started: bool,
}

/// Where a hash is computed.
enum Hash {
    Here(Hasher),
    Away(Away),
}

impl<P> Tap<P> {
    fn pause(&mut self, hashers: &mut Hashers, buffer: &[u8], at: usize) {
        let Some(from) = self.from.take() else { return };
        match &mut self.hash {
            Hash::Here(hasher) => hasher.update(buffer.get(from..at).unwrap_or_default()),
            Hash::Away(away) => hashers.add(*away, from..at),
        }
    }

    /// A hash over all of a portion is a long one: it moves to a thread.
    fn send_away(&mut self, hashers: &mut Hashers) {
        if let (Hash::Here(hasher), Some(0)) = (&mut self.hash, self.from) {
            match hashers.take(std::mem::take(hasher)) {
                Ok(away) => self.hash = Hash::Away(away),
                Err(back) => *hasher = back,
            }
        }
    }
}

/// What a tap does with a member.
pub(super) trait Purpose: Copy {
    /// Whether the member belongs to the hash.
    fn takes(self, name: &[u8]) -> bool;

    /// Whether the object's end belongs to the hash. Where it does not, the
    /// hash is completed by whoever receives it.
    fn takes_end(self) -> bool {
        true
    }
}

/// A finished hash.
pub(super) struct Tapped<P> {
    pub purpose: P,
    hasher: Hasher,
}

impl<P> Tapped<P> {
    /// The digest.
    pub fn digest(self) -> Digest {
        self.hasher.finish()
    }

    /// The digest with more text at the end.
    pub fn digest_with(mut self, text: &[&[u8]]) -> Digest {
        for part in text {
            self.hasher.update(part);
        }
        self.hasher.finish()
    }
}

/// The generator of canonical text.
pub(super) struct Canon<P> {
    buffer: Vec<u8>,
    /// For each open container, whether it has had an element or member.
    started: Vec<bool>,
    after_key: bool,
    taps: Vec<Tap<P>>,
    hashers: Hashers,
}

impl<P: Purpose> Canon<P> {
    /// Uses at most `threads` threads, the caller's included.
    pub fn new(threads: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(2 * PORTION),
            started: Vec::new(),
            after_key: false,
            taps: Vec::new(),
            hashers: Hashers::new(threads),
        }
    }

    /// Starts a hash over the object that opens next; its number.
    pub fn tap(&mut self, purpose: P) -> usize {
        self.before_value();
        self.after_key = true;
        self.taps.push(Tap {
            purpose,
            depth: self.started.len(),
            hash: Hash::Here(Hasher::default()),
            from: Some(self.buffer.len()),
            started: false,
        });
        self.taps.len() - 1
    }

    /// Leaves out what comes, from the comma before the current member on.
    /// To be called before [`Canon::key`].
    pub fn pause(&mut self, tap: usize) {
        if let Some(tap) = self.taps.get_mut(tap) {
            tap.pause(&mut self.hashers, &self.buffer, self.buffer.len());
        }
    }

    /// Takes what comes again.
    pub fn resume(&mut self, tap: usize) {
        if let Some(tap) = self.taps.get_mut(tap) {
            tap.from.get_or_insert(self.buffer.len());
        }
    }

    /// Ends a hash of the innermost object that turned out not to be needed;
    /// it then never takes anything and its digest means nothing.
    pub fn drop_taps(&mut self, unwanted: impl Fn(P) -> bool) {
        let depth = self.started.len();
        let hashers = &mut self.hashers;
        self.taps.retain(|tap| {
            let drop = tap.depth + 1 == depth && unwanted(tap.purpose);
            if let (true, Hash::Away(away)) = (drop, &tap.hash) {
                hashers.forget(*away);
            }
            !drop
        });
    }

    fn portion(&mut self) {
        if self.buffer.len() >= PORTION {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for tap in &mut self.taps {
            tap.send_away(&mut self.hashers);
            if tap.from.is_some() {
                tap.pause(&mut self.hashers, &self.buffer, self.buffer.len());
                tap.from = Some(0);
            }
        }
        if self.hashers.need_portion() {
            let complete = std::mem::take(&mut self.buffer);
            self.buffer = self.hashers.portion(complete);
        } else {
            self.buffer.clear();
        }
    }

    fn before_value(&mut self) {
        if std::mem::take(&mut self.after_key) {
            return;
        }
        if let Some(started) = self.started.last_mut()
            && std::mem::replace(started, true)
        {
            self.buffer.push(b',');
        }
    }

    /// A member's name. Taps of this object decide whether they take it.
    pub fn key(&mut self, name: &[u8], plain: bool) {
        self.portion();
        let comma = self.buffer.len();
        if let Some(started) = self.started.last_mut()
            && std::mem::replace(started, true)
        {
            self.buffer.push(b',');
        }
        let depth = self.started.len();
        let buffer = &self.buffer;
        for tap in self.taps.iter_mut().rev() {
            if tap.depth + 1 != depth {
                break;
            }
            if !tap.purpose.takes(name) {
                tap.pause(&mut self.hashers, buffer, comma);
            } else if tap.from.is_none() {
                // The first member that is taken has no comma before it.
                tap.from = Some(if tap.started { comma } else { buffer.len() });
                tap.started = true;
            } else {
                tap.started = true;
            }
        }
        self.buffer.push(b'"');
        self.escaped(name, plain);
        self.buffer.extend_from_slice(b"\":");
        self.after_key = true;
    }

    fn escaped(&mut self, text: &[u8], plain: bool) {
        if plain {
            self.buffer.extend_from_slice(text);
        } else {
            append_escaped(&mut self.buffer, text);
        }
    }

    /// `null`, `true` or `false`
    pub fn literal(&mut self, word: &str) {
        self.before_value();
        self.buffer.extend_from_slice(word.as_bytes());
    }

    /// A number; `null` stands for one that is not finite, whose record is
    /// refused anyway.
    pub fn number(&mut self, value: f64) {
        if !value.is_finite() {
            return self.literal("null");
        }
        self.before_value();
        append_number(&mut self.buffer, value);
    }

    /// Opens a string.
    pub fn begin_text(&mut self) {
        self.before_value();
        self.buffer.push(b'"');
    }

    /// The next part of a string.
    pub fn text_part(&mut self, part: &[u8], plain: bool) {
        self.escaped(part, plain);
        self.portion();
    }

    /// Closes a string.
    pub fn end_text(&mut self) {
        self.buffer.push(b'"');
    }

    /// Opens an object or array.
    pub fn begin(&mut self, object: bool) {
        self.before_value();
        self.buffer.push(if object { b'{' } else { b'[' });
        self.started.push(false);
    }

    /// Closes an object or array.
    pub fn end(&mut self, object: bool) {
        let depth = self.started.len();
        let before = self.buffer.len();
        for tap in self.taps.iter_mut().rev() {
            if tap.depth + 1 != depth {
                break;
            }
            if tap.purpose.takes_end() {
                tap.from.get_or_insert(before);
            } else {
                tap.pause(&mut self.hashers, &self.buffer, before);
            }
        }
        self.started.pop();
        self.buffer.push(if object { b'}' } else { b']' });
        self.portion();
    }

    /// A finished hash of the object that [`Canon::end`] closed last, the
    /// innermost first; `None` where there is no more.
    pub fn tapped(&mut self) -> Option<Tapped<P>> {
        let depth = self.started.len();
        let mut tap = self.taps.pop_if(|tap| tap.depth == depth)?;
        tap.pause(&mut self.hashers, &self.buffer, self.buffer.len());
        Some(Tapped {
            purpose: tap.purpose,
            hasher: match tap.hash {
                Hash::Here(hasher) => hasher,
                Hash::Away(away) => self.hashers.finish(away, &self.buffer),
            },
        })
    }

    /// Forgets the text of a finished document.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.started.clear();
        for tap in self.taps.drain(..) {
            if let Hash::Away(away) = tap.hash {
                self.hashers.forget(away);
            }
        }
        self.after_key = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Without(&'static [u8]);

    impl Purpose for Without {
        fn takes(self, name: &[u8]) -> bool {
            name != self.0
        }
    }

    fn hashed(leave_out: &'static [u8]) -> Digest {
        let mut canon = Canon::new(1);
        canon.begin(false);
        canon.literal("null");
        canon.tap(Without(leave_out));
        canon.begin(true);
        for name in ["a", "b", "c"] {
            canon.key(name.as_bytes(), true);
            canon.begin(true);
            canon.key(b"a", true);
            canon.number(-0.0);
            canon.end(true);
        }
        canon.end(true);
        let tapped = canon.tapped().expect("the hash of the object");
        canon.end(false);
        assert!(canon.tapped().is_none());
        tapped.digest()
    }

    #[test]
    fn leaves_out_a_member_wherever_it_stands() {
        let expect = |text: &str| Digest::of(text.as_bytes());
        assert_eq!(hashed(b"a"), expect(r#"{"b":{"a":0},"c":{"a":0}}"#));
        assert_eq!(hashed(b"b"), expect(r#"{"a":{"a":0},"c":{"a":0}}"#));
        assert_eq!(hashed(b"c"), expect(r#"{"a":{"a":0},"b":{"a":0}}"#));
        assert_eq!(
            hashed(b"d"),
            expect(r#"{"a":{"a":0},"b":{"a":0},"c":{"a":0}}"#)
        );
    }

    /// Three hashes over one long object, two of which leave out a member.
    fn long(threads: usize) -> Vec<Digest> {
        let mut canon = Canon::new(threads);
        // A document that was given up must leave nothing behind.
        canon.tap(Without(b""));
        canon.begin(true);
        canon.key(b"a", true);
        canon.begin_text();
        canon.text_part(&[b'x'; 3 * PORTION], true);
        canon.clear();

        canon.begin(false);
        for leave_out in [&b"b"[..], b"m0500", b""] {
            canon.tap(Without(leave_out));
        }
        canon.begin(true);
        canon.key(b"b", true);
        canon.literal("true");
        for number in 0..1000u32 {
            canon.key(format!("m{number:04}").as_bytes(), true);
            canon.begin_text();
            canon.text_part(&[b'x'; 500], true);
            canon.end_text();
        }
        canon.end(true);
        let mut digests = Vec::new();
        while let Some(tapped) = canon.tapped() {
            digests.push(tapped.digest());
        }
        digests
    }

    #[test]
    fn hashes_do_not_depend_on_threads() {
        let member = |number: u32| format!("\"m{number:04}\":\"{}\"", "x".repeat(500));
        let object = |first: Option<&str>, leave_out: u32| {
            let members = (0..1000).filter(|n| *n != leave_out).map(member);
            let all: Vec<String> = first
                .map(str::to_owned)
                .into_iter()
                .chain(members)
                .collect();
            Digest::of(format!("{{{}}}", all.join(",")).as_bytes())
        };
        let expected = [
            object(Some("\"b\":true"), 1000),
            object(Some("\"b\":true"), 500),
            object(None, 1000),
        ];
        for threads in 1..8 {
            assert_eq!(long(threads), expected, "{threads}");
        }
    }
}
