//! Validation by wasmparser, functions on all cores, within a budget of steps.

use rayon::prelude::*;
use wasmparser::{
    BinaryReader, Chunk, FuncToValidate, FuncValidatorAllocations, FunctionBody, Parser, Payload,
    ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

use super::component::{self, Surface};
use super::limits::{MAX_BLOCKS, MAX_OPERANDS, Measure, Reached};
use super::walk::Unit;
use crate::error::{Error, Result};
use crate::operation::Context;

/// Functions that are validated at once, and their bytes.
const BATCH: usize = 8192;
const BATCH_BYTES: u64 = 4 << 20;

/// All proposals that this version of wasmparser knows.
pub fn features() -> WasmFeatures {
    WasmFeatures::all()
}

/// Why a binary is not valid, or was not validated.
#[derive(Debug)]
pub enum Rejected {
    /// It is not valid: where, and in wasmparser's words why.
    Invalid {
        /// Offset in the file.
        offset: u64,
        /// The validator's sentence.
        message: String,
    },
    /// It would take more than we give.
    Limit(Reached),
    /// Work was stopped.
    Stopped(Error),
}

impl From<wasmparser::Error> for Rejected {
    fn from(error: wasmparser::Error) -> Self {
        Self::Invalid {
            offset: error.offset(),
            message: error.message().to_owned(),
        }
    }
}

impl From<Error> for Rejected {
    fn from(error: Error) -> Self {
        Self::Stopped(error)
    }
}

type Function<'a> = (FuncToValidate<ValidatorResources>, FunctionBody<'a>);

/// Validates the file of `root`; what its components import and export is a
/// by-product, in the order in which components end.
///
/// # Errors
/// The first thing that is wrong in the file's order.
pub fn validate(
    root: &Unit<'_>,
    measure: Measure,
    context: &Context,
) -> Result<Vec<Surface>, Rejected> {
    let mut validator = Validator::new_with_features(features());
    let mut surfaces = component::Surfaces::new(root);
    let mut batch = Batch {
        file: root.file,
        functions: Vec::new(),
        bytes: 0,
        measure,
        steps: 0,
    };
    let mut bytes = root.file;
    let mut parsers = vec![Parser::new(0)];
    while let Some(parser) = parsers.last_mut() {
        let (payload, consumed) = match parser.parse(bytes, true)? {
            Chunk::Parsed { payload, consumed } => (payload, consumed),
            // Not given where all bytes are there.
            Chunk::NeedMoreData(_) => break,
        };
        bytes = bytes.get(consumed..).unwrap_or_default();
        if !matches!(payload, Payload::CodeSectionEntry(_)) {
            // What is wrong in code comes before what is wrong behind it.
            batch.run(context)?;
        }
        match validator.payload(&payload)? {
            ValidPayload::Ok => {}
            ValidPayload::Parser(inner) => parsers.push(inner),
            ValidPayload::Func(function, body) => {
                batch.bytes += body.range().end - body.range().start;
                batch.functions.push((function, body));
                if batch.functions.len() >= BATCH || batch.bytes >= BATCH_BYTES {
                    batch.run(context)?;
                }
            }
            ValidPayload::End(types) => {
                parsers.pop();
                surfaces.end(types.as_ref());
            }
        }
    }
    Ok(surfaces.finish())
}

struct Batch<'a> {
    file: &'a [u8],
    functions: Vec<Function<'a>>,
    bytes: u64,
    measure: Measure,
    steps: u64,
}

impl Batch<'_> {
    /// All functions of a batch are looked at, so that the verdict does not
    /// depend on which thread is first: too many steps in all of them come
    /// before the first that is wrong.
    fn run(&mut self, context: &Context) -> Result<(), Rejected> {
        let functions = std::mem::take(&mut self.functions);
        if functions.is_empty() {
            return Ok(());
        }
        context.check()?;
        let (file, measure) = (self.file, self.measure);
        let left = measure.steps.saturating_sub(self.steps);
        let spent = std::sync::atomic::AtomicU64::new(0);
        let work = || {
            let each = functions.into_par_iter().map_init(
                FuncValidatorAllocations::default,
                |allocations, function| {
                    let meter = Meter {
                        file,
                        arity: measure.arity,
                        left,
                        spent: &spent,
                        pending: 0,
                    };
                    one(function, allocations, meter)
                },
            );
            each.collect::<Vec<_>>()
        };
        let verdicts = work();
        self.bytes = 0;
        self.steps = self.steps.saturating_add(spent.into_inner());
        if self.steps > measure.steps {
            return Err(Rejected::Limit(Reached {
                boundary: "validation-steps",
                what: "steps of validation to take",
                maximum: measure.steps,
            }));
        }
        verdicts.into_iter().collect()
    }
}

/// Counts what validating takes.
struct Meter<'a> {
    file: &'a [u8],
    arity: u64,
    left: u64,
    spent: &'a std::sync::atomic::AtomicU64,
    pending: u64,
}

impl Meter<'_> {
    /// Charges the instruction at `at`. `false` once there is no budget left.
    fn charge(&mut self, at: u64) -> bool {
        let opcode = usize::try_from(at).ok().and_then(|at| self.file.get(at));
        let factor = match opcode {
            // Whatever takes or gives the values of a block or a type.
            Some(0x0E) => self.list(at, 0),
            Some(0x1F) => self.list(at, 1),
            Some(0xE3 | 0xE5) => self.list(at, 1),
            Some(0xE4) => self.list(at, 2),
            Some(0x02..=0x19 | 0xD5 | 0xD6 | 0xE0..=0xE6 | 0xFB) => 1,
            _ => 0,
        };
        let steps = factor.saturating_mul(self.arity).saturating_add(1);
        self.pending = self.pending.saturating_add(steps);
        if self.pending < 1 << 16 {
            return true;
        }
        self.settle()
    }

    fn settle(&mut self) -> bool {
        let pending = std::mem::take(&mut self.pending).min(self.left.saturating_add(1));
        let before = self
            .spent
            .fetch_add(pending, std::sync::atomic::Ordering::Relaxed);
        before.saturating_add(pending) <= self.left
    }

    /// The length of the list in the instruction at `at`, after `skip` other
    /// numbers.
    fn list(&self, at: u64, skip: usize) -> u64 {
        let bytes = usize::try_from(at)
            .ok()
            .and_then(|at| self.file.get(at + 1..));
        let mut reader = BinaryReader::new(bytes.unwrap_or_default(), 0);
        for _ in 0..skip {
            if reader.read_var_s33().is_err() {
                return 1;
            }
        }
        u64::from(reader.read_var_u32().unwrap_or(0)) + 1
    }
}

fn one(
    (function, body): Function<'_>,
    allocations: &mut FuncValidatorAllocations,
    mut meter: Meter<'_>,
) -> Result<(), Rejected> {
    let limit = |what, maximum: u32| {
        Err(Rejected::Limit(Reached {
            boundary: "validation-stack",
            what,
            maximum: u64::from(maximum),
        }))
    };
    let mut validator = function.into_validator(std::mem::take(allocations));
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader)?;
    while !reader.eof() {
        let at = reader.original_position();
        if !meter.charge(at) {
            // The batch says so.
            return Ok(());
        }
        reader.visit_operator(&mut validator.visitor(at))??;
        if validator.operand_stack_height() > MAX_OPERANDS {
            return limit("values on the operand stack of a function", MAX_OPERANDS);
        }
        if validator.control_stack_height() > MAX_BLOCKS {
            return limit("blocks inside each other", MAX_BLOCKS);
        }
    }
    let at = reader.original_position();
    reader.finish_expression(&validator.visitor(at))?;
    meter.settle();
    *allocations = validator.into_allocations();
    Ok(())
}
