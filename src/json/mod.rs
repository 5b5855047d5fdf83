//! JSON: the one reader and the one writer.
//!
//! Text is WTF-8 inside: UTF-8 that may also hold lone surrogates, because
//! JSON can name them by escapes and identity depends on keeping them.
//! The writer produces RFC 8785 canonical JSON (with lone surrogates as
//! lower-case `\udxxx`), or the same members indented for people.

mod text;
mod value;
mod writer;

pub use text::Text;
pub use value::{Object, Value};
pub use writer::{MAX_SAFE_INTEGER, Sink, WriteJson, Writer};
