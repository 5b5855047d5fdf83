//! WebAssembly modules and components from their bytes (binaries.md section
//! 8): `inspect_wasm_artifact`.
//!
//! [`walk`] finds sections by ids and sizes, [`limits`] looks at what could
//! cost memory or time, [`validate`] has wasmparser validate the file with all
//! functions in parallel. What is valid is read again from its sections each
//! time the record is written ([`facts`], [`describe`]), so that a table of any
//! size takes no memory. wasmprinter writes the text ([`wat`], [`forms`]).

pub mod component;
pub mod custom;
mod deep;
pub mod describe;
pub mod facts;
mod file;
pub mod forms;
pub mod glue;
pub mod limits;
pub mod module;
pub mod names;
mod record;
pub mod text;
pub mod validate;
pub mod walk;
pub mod wat;

pub use deep::{DeepFact, deep_facts};
pub use file::{Candidate, MAX_FILES, WasmInput};
pub use record::{WasmRecord, inspect_wasm, kind};
pub use walk::Kind;

use crate::evidence::Provider;

/// Who inspects modules.
pub const PROVIDER: Provider = Provider {
    id: "rea-wasm",
    name: "rea WebAssembly",
    version: "1",
};

/// The version of wasmparser; a test compares it with Cargo.lock.
pub const WASMPARSER: &str = "0.263.0";
/// The version of wasmprinter.
pub const WASMPRINTER: &str = "0.263.0";

/// Files beyond this are refused unless the caller says otherwise: 128 MiB.
pub const USUAL_MAX_FILE: u64 = 128 << 20;
/// No module is larger: its sections have 32-bit sizes.
pub const MAX_FILE: u64 = (4 << 30) - 1;

/// What may change the record.
#[derive(Clone, Copy, Debug)]
pub struct WasmOptions {
    /// Print modules beyond [`wat::UNASKED`] too.
    pub wat: bool,
    /// The most text.
    pub max_wat_bytes: u64,
}

impl Default for WasmOptions {
    fn default() -> Self {
        Self {
            wat: false,
            max_wat_bytes: wat::USUAL_MAX,
        }
    }
}
