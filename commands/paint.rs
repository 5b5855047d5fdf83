//! Colours, and whether there are any.

use std::borrow::Cow;

/// What a piece of text says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    Plain,
    /// A heading.
    Strong,
    /// Less important than what is around it.
    Dim,
    /// In order.
    Good,
    /// Deserves a look.
    Warn,
    /// Wrong.
    Bad,
    /// A name to type.
    Name,
}

/// Paints text or leaves it alone.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// No colours.
    pub const OFF: Self = Self(false);

    /// Colours where `on`.
    pub fn new(on: bool) -> Self {
        Self(on)
    }

    /// Whether there are colours.
    pub fn is_on(self) -> bool {
        self.0
    }

    /// `text` in a tone. It must not hold anything hostile: see `shown`.
    pub fn tone(self, tone: Tone, text: &str) -> Cow<'_, str> {
        // ECMA-48 SGR parameters; the 16 basic colours follow the user's theme.
        let code = match tone {
            Tone::Plain => return Cow::Owned(text.to_owned()),
            Tone::Strong => "1",
            Tone::Dim => "2",
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "1;31",
            Tone::Name => "36",
        };
        if self.0 {
            Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
        } else {
            Cow::Owned(text.to_owned())
        }
    }
}
