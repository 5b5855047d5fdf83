//! Canonical text that is kept in memory, up to a bound.

use std::io;

use super::{Sink, WriteJson, Writer};

/// The text of a value that is written more than once, where it is not longer
/// than a bound.
#[derive(Debug)]
pub(crate) struct Kept(Option<Vec<u8>>);

impl Kept {
    /// Renders a value, and keeps at most `most` bytes.
    pub(crate) fn of(value: &dyn WriteJson, most: usize) -> Self {
        let mut held = Held::new(most);
        let mut w = Writer::canonical(&mut held);
        value.write_json(&mut w);
        Self(w.finish().is_ok().then_some(held.text))
    }

    /// Writes the value: its text where that was kept.
    pub(crate) fn write(&self, value: &dyn WriteJson, w: &mut Writer<'_>) {
        match &self.0 {
            Some(text) if w.is_canonical() => w.canonical_text(text),
            _ => value.write_json(w),
        }
    }
}

/// A text that must not become longer than a bound.
pub(super) struct Held {
    pub text: Vec<u8>,
    most: usize,
}

impl Held {
    pub(super) fn new(most: usize) -> Self {
        Self {
            text: Vec::with_capacity(most / 4),
            most,
        }
    }
}

impl Sink for Held {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.text.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    #[test]
    fn what_is_kept_is_what_would_be_written() {
        let value = Value::from(vec![Value::from("a\u{e9}\n"), Value::from(7u64)]);
        for most in [0, 10, 11, 100] {
            let kept = Kept::of(&value, most);
            assert_eq!(kept.0.is_some(), most >= 11);
            for indented in [false, true] {
                let written = |value: &dyn Fn(&mut Writer<'_>)| {
                    let mut text = Vec::new();
                    let mut w = match indented {
                        true => Writer::indented(&mut text),
                        false => Writer::canonical(&mut text),
                    };
                    w.begin_object();
                    w.key("a");
                    value(&mut w);
                    w.member("b", 1u64);
                    w.end_object();
                    w.finish_infallible();
                    text
                };
                let alone = written(&|w| value.write_json(w));
                assert_eq!(alone, written(&|w| kept.write(&value, w)));
            }
        }
    }
}
