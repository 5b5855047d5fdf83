//! Where demangled text is written: bounded in bytes and in steps, because
//! names may refer to their own parts again and again.

/// The most that is written for one name.
pub(super) const MAX_TEXT: usize = 64 << 10;

/// Levels that the readers and writers of names go down.
pub(super) const MAX_DEPTH: u32 = 192;

/// The text so far. Once a bound is reached nothing is added any more.
#[derive(Debug)]
pub(super) struct Out {
    pub text: String,
    /// What was written last, taken back or not: `c++filt` decides by it
    /// whether `> >` needs its blank.
    last: Option<u8>,
    limit: usize,
    steps: u32,
    depth: u32,
    failed: bool,
}

impl Out {
    /// An empty text for a name of `length` bytes.
    pub fn new(length: usize) -> Self {
        let limit = length.saturating_mul(64).saturating_add(4096).min(MAX_TEXT);
        Self {
            text: String::with_capacity(length.saturating_mul(2).min(4096)),
            last: None,
            limit,
            steps: limit as u32 * 4,
            depth: 0,
            failed: false,
        }
    }

    pub fn push(&mut self, text: &str) {
        if self.failed || self.text.len() + text.len() > self.limit {
            self.failed = true;
            return;
        }
        self.text.push_str(text);
        self.last = text.bytes().last().or(self.last);
    }

    pub fn last(&self) -> Option<u8> {
        self.last
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
    }

    pub fn fail(&mut self) {
        self.failed = true;
    }

    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// One level down; whether that is allowed. Pairs with [`Out::leave`].
    pub fn enter(&mut self) -> bool {
        self.depth += 1;
        self.step() && self.depth <= MAX_DEPTH || {
            self.failed = true;
            false
        }
    }

    /// One piece of work; whether it may be done.
    pub fn step(&mut self) -> bool {
        match self.steps.checked_sub(1) {
            Some(left) if !self.failed => {
                self.steps = left;
                true
            }
            _ => {
                self.failed = true;
                false
            }
        }
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The whole text, unless a bound was reached or something was wrong.
    pub fn finish(self) -> Option<String> {
        (!self.failed && !self.text.is_empty()).then_some(self.text)
    }
}

impl std::fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.push(text);
        match self.failed {
            true => Err(std::fmt::Error),
            false => Ok(()),
        }
    }
}
