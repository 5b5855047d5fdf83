//! The machine around `rea`: clients in which it is registered, what of the
//! system it needs, and whether its server answers (section 15 of the
//! contract).
//!
//! Files of clients belong to other programs and hold what people wrote. They
//! are edited as text: everything that is not ours stays as it is, byte for
//! byte, and a file that cannot be read completely is never written. All
//! files of a [`Plan`] change or none does.

mod apply;
mod checks;
mod clients;
mod entry;
mod found;
mod json_scan;
mod json_text;
mod plan;
mod probe;
mod skill;
mod toml_text;

pub use apply::{Applied, apply};
pub use checks::{Check, Class, environment, open_files, program, temporary_space};
pub use clients::{CLIENTS, Client, Homes};
pub use entry::{NAME, State};
pub use plan::{Action, Blocked, Kind, Plan, Standing, removal, setup, standings};
pub use probe::{Expectation, Findings, Inventory, probe};
