//! Values of any shape, kept as text.

use crate::json::{append_escaped, append_number};

/// Bytes of one string or captured value.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// A value that is no array or object.
pub(super) enum Scalar<'a> {
    Null,
    Flag(bool),
    Number(f64),
    Text(&'a [u8]),
}

/// A value as canonical JSON.
#[derive(Default)]
pub(super) struct Capture {
    pub text: Vec<u8>,
    after_key: bool,
    pub too_long: bool,
    /// The closing brackets of what is open.
    open: Vec<u8>,
}

impl Capture {
    fn before(&mut self) {
        let first = matches!(self.text.last(), None | Some(b'{' | b'['));
        if !std::mem::take(&mut self.after_key) && !first {
            self.text.push(b',');
        }
        if self.text.len() > MAX_TEXT {
            self.too_long = true;
            self.text.truncate(1);
        }
    }

    pub fn key(&mut self, name: &[u8]) {
        self.before();
        self.text.push(b'"');
        append_escaped(&mut self.text, name);
        self.text.extend_from_slice(b"\":");
        self.after_key = true;
    }

    pub fn begin(&mut self, object: bool) {
        self.before();
        self.text.push(if object { b'{' } else { b'[' });
        self.open.push(if object { b'}' } else { b']' });
    }

    pub fn end(&mut self) {
        self.text.extend(self.open.pop());
    }

    pub fn scalar(&mut self, scalar: &Scalar<'_>) {
        self.before();
        match scalar {
            Scalar::Null => self.text.extend_from_slice(b"null"),
            Scalar::Flag(true) => self.text.extend_from_slice(b"true"),
            Scalar::Flag(false) => self.text.extend_from_slice(b"false"),
            // One that is not finite is refused by the verifier.
            Scalar::Number(value) if !value.is_finite() => self.text.extend_from_slice(b"null"),
            Scalar::Number(value) => append_number(&mut self.text, *value),
            Scalar::Text(text) => {
                self.text.push(b'"');
                append_escaped(&mut self.text, text);
                self.text.push(b'"');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_values_are_canonical() {
        let mut capture = Capture::default();
        capture.begin(true);
        capture.key(b"a");
        capture.begin(false);
        capture.scalar(&Scalar::Text(b"{"));
        capture.scalar(&Scalar::Number(1.5));
        capture.begin(true);
        capture.end();
        capture.scalar(&Scalar::Null);
        capture.end();
        capture.key(b"b\"");
        capture.scalar(&Scalar::Flag(true));
        capture.end();
        let text = String::from_utf8(capture.text).unwrap();
        assert_eq!(text, r#"{"a":["{",1.5,{},null],"b\"":true}"#);
    }
}
