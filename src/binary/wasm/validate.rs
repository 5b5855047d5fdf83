//! Validation by wasmparser, functions on all cores, within a budget of steps.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use wasmparser::{
    BinaryReader, BlockType, Chunk, CompositeInnerType, FuncToValidate, FuncValidator,
    FuncValidatorAllocations, FunctionBody, Parser, Payload, ValidPayload, Validator,
    ValidatorResources, WasmFeatures, WasmModuleResources,
};

use super::component::{self, Surface};
use super::limits::{MAX_BLOCKS, MAX_OPERANDS, Measure, Reached};
use super::walk::Unit;
use crate::error::{Error, Result};
use crate::operation::Context;

/// Functions that are validated at once, and their bytes.
const BATCH: usize = 32_768;
const BATCH_BYTES: u64 = 16 << 20;

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
        let spent = AtomicU64::new(0);
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

type FunctionValidator = FuncValidator<ValidatorResources>;

/// Counts what validating takes: a step for each instruction, and one for each
/// value that it takes or gives, of a table of branches for each branch.
struct Meter<'a> {
    file: &'a [u8],
    arity: u64,
    left: u64,
    spent: &'a AtomicU64,
    pending: u64,
}

impl Meter<'_> {
    /// Charges the instruction at `at`. `false` once there is no budget left.
    fn charge(&mut self, at: u64, validator: &FunctionValidator) -> bool {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let values = match self.file.get(at) {
            Some(&opcode) if may_be_wide(opcode) => {
                let operands = self.file.get(at.saturating_add(1)..);
                let operands = BinaryReader::new(operands.unwrap_or_default(), 0);
                // What is malformed is refused in a moment.
                self.values(opcode, operands, validator).unwrap_or(0)
            }
            _ => 0,
        };
        self.pending = self.pending.saturating_add(values).saturating_add(1);
        self.pending < 1 << 16 || self.settle()
    }

    fn values(
        &self,
        opcode: u8,
        mut operands: BinaryReader<'_>,
        validator: &FunctionValidator,
    ) -> Option<u64> {
        let width = |ty| type_width(ty, validator);
        let mut next = || operands.read_var_u32().ok();
        let own = || block_width(validator.control_stack_height().checked_sub(1)?, validator);
        Some(match opcode {
            // Blocks: a type, or none or one value.
            0x02 | 0x03 | 0x04 | 0x06 => match operands.read_var_s33().ok()? {
                ty if ty >= 0 => width(u32::try_from(ty).ok()?)?,
                _ => 1,
            },
            0x05 | 0x07 | 0x0B | 0x18 | 0x19 => block_width(0, validator)?,
            0x0C | 0x0D | 0xD5 | 0xD6 => block_width(next()?, validator)?,
            // All branches of a table take as many values as its first.
            0x0E => {
                let branches = u64::from(next()?);
                let values = block_width(next()?, validator)?.saturating_add(1);
                branches.saturating_add(1).saturating_mul(values)
            }
            0x0F => own()?,
            0x10 => width(validator.resources().type_index_of_function(next()?)?)?,
            0x11 | 0x14 => width(next()?)?,
            0x12 => {
                let ty = validator.resources().type_index_of_function(next()?)?;
                width(ty)?.saturating_add(own()?)
            }
            0x13 | 0x15 => width(next()?)?.saturating_add(own()?),
            0x1F => {
                operands.read_var_s33().ok()?;
                self.list(operands)?
            }
            0xE4 => {
                next()?;
                next()?;
                self.list(operands)?
            }
            0xE3 | 0xE5 => {
                next()?;
                self.list(operands)?
            }
            // struct.new
            0xFB => match next()? {
                0 => width(next()?)?,
                _ => 1,
            },
            _ => self.arity,
        })
    }

    /// Each entry of a list may be about the widest type.
    fn list(&self, mut operands: BinaryReader<'_>) -> Option<u64> {
        let entries = u64::from(operands.read_var_u32().ok()?);
        Some(entries.saturating_add(1).saturating_mul(self.arity))
    }

    fn settle(&mut self) -> bool {
        let pending = std::mem::take(&mut self.pending).min(self.left.saturating_add(1));
        let before = self.spent.fetch_add(pending, Ordering::Relaxed);
        before.saturating_add(pending) <= self.left
    }
}

/// Instructions of control, calls, exceptions, stacks and structs.
fn may_be_wide(opcode: u8) -> bool {
    matches!(opcode, 0x02..=0x19 | 0x1F | 0xD5 | 0xD6 | 0xE0..=0xE6 | 0xFB)
}

/// How many values a type has.
fn type_width(ty: u32, validator: &FunctionValidator) -> Option<u64> {
    let ty = validator.resources().sub_type_at(ty)?;
    let width = match &ty.composite_type.inner {
        CompositeInnerType::Func(ty) => ty.params().len() + ty.results().len(),
        CompositeInnerType::Struct(ty) => ty.fields.len(),
        _ => 1,
    };
    Some(width as u64)
}

/// How many values the block has that is `depth` blocks out.
fn block_width(depth: u32, validator: &FunctionValidator) -> Option<u64> {
    let frame = validator.get_control_frame(usize::try_from(depth).ok()?)?;
    match frame.block_type {
        BlockType::Empty => Some(0),
        BlockType::Type(_) => Some(1),
        BlockType::FuncType(ty) => type_width(ty, validator),
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
        if !meter.charge(at, &validator) {
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
