//! What a document is made of, one piece after the other.

/// The next piece of a document.
///
/// A string value comes as one or more [`Event::Text`] parts, so that a string
/// of any length needs constant memory. Parts are cut between characters, and
/// never between the halves of a surrogate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number {
        /// The nearest double; infinite only where [`super::Limits::overflow`]
        /// keeps numbers that no double can hold.
        value: f64,
        /// The number as it was written (empty in a replay).
        lexeme: &'a [u8],
    },
    /// The next part of a string value.
    Text {
        /// WTF-8, possibly empty.
        part: &'a [u8],
        /// Whether the string ends here.
        last: bool,
        /// Whether the part is known to need no escape in canonical JSON.
        plain: bool,
    },
    /// The name of the member whose value comes next.
    Key {
        /// WTF-8, complete.
        name: &'a [u8],
        /// Whether it is known to need no escape in canonical JSON.
        plain: bool,
    },
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
}
