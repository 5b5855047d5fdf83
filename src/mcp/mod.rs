//! The Model Context Protocol: the operations as tools of a session, over
//! stdio and HTTP.
//!
//! A server is given its tools as data ([`Tool`]) and names no operation
//! itself, but for the one that makes views, which it points to where a reply
//! is too large. What belongs to the session and not to an operation (what is
//! open, the ledger, bundles of it) are tools of this module.
//!
//! The SDK speaks the protocol. Ours are the session, the size of replies (a
//! record is never built twice and never cut), and for HTTP what
//! one client at a time needs.

mod call;
mod calls;
mod completion;
mod delivery;
mod engine;
mod frame;
mod http;
mod identity;
mod ledger;
mod log;
mod progress;
mod prompts;
mod schema;
mod server;
mod session;
mod settings;
mod stdio;
mod tool;
mod tools;
mod validate;

pub use call::Call;
pub(crate) use calls::Calls;
pub(crate) use delivery::{error_text, value};
pub use engine::{Engine, Opener, Rejection};
pub(crate) use frame::{Frame, Frames};
pub(crate) use http::{LISTENING, Plain, Route, Served};
pub use http::{Listener, listen};
pub use identity::{Expected, digested};
pub use ledger::{Ledger, usual_capacity};
pub use log::{Field, Log};
pub use prompts::{Argument, Prompts, Template, Values};
pub use schema::{COMPACT_BYTES, COMPACT_LEVELS, input_schema, output_schema, without_null};
pub use server::{ClientFacts, Connection, Parts, Server, serve};
pub(crate) use server::{framing, provenance, unknown_tool};
pub use session::{Open, Resources, Session, Target};
pub use settings::{InputProfile, Level, OutputProfile, Settings, host, is_provider_id};
pub use stdio::Stdio;
pub use tool::{Annotations, Arguments, Effects, Output, Reply, Run, Takes, Tool};
pub use tools::{input_schema as schema_of, parsed, view::of as view_of};
