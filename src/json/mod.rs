//! JSON: the one reader and the one writer.
//!
//! Text is WTF-8 inside: UTF-8 that may also hold lone surrogates, because
//! JSON can name them by escapes and identity depends on keeping them.
//! The writer produces RFC 8785 canonical JSON (with lone surrogates as
//! lower-case `\udxxx`), or the same members indented for people.
//!
//! [`Reader`] cuts input of any size into [`Event`]s in constant memory;
//! [`Value`] is a document held in memory, built from the same events within
//! a budget ([`Budget`]), and can be replayed as events in canonical order;
//! [`Tape`] is an index into text that stays where it is, for documents of
//! which nothing is to be copied.

mod build;
mod echo;
mod error;
mod event;
mod issue;
mod kept;
mod reader;
mod replay;
mod rows;
mod safe;
mod scan;
mod tape;
mod text;
mod value;
mod writer;

pub use build::Budget;
pub use echo::Echo;
pub use error::{Place, ReadError, ReadErrorKind};
pub use event::Event;
pub use reader::{Limits, Mark, Overflow, Reader, Rewind};
pub use replay::replay;
pub use safe::is_safe_number;
pub use tape::{Kind, Node, Refused, Tape};
pub use text::Text;
pub use value::{Object, Value};
pub use writer::{MAX_SAFE_INTEGER, Sink, WriteJson, Writer, canonical, written};

pub(crate) use build::{Builder, Refusal};
pub(crate) use issue::Issue;
pub(crate) use kept::Kept;
pub(crate) use rows::write_rows;
pub(crate) use tape::is_depth;
pub(crate) use text::cmp_utf16;
pub(crate) use writer::{Suspended, append_escaped, append_number};
