//! What a binary may make us do. Everything here is checked before a third
//! party sees the bytes, or while it works (decision 32).

use std::collections::BTreeSet;

use wasmparser::{BinaryReader, CompositeInnerType, Imports, SectionLimited};

use super::walk::{Kind, MAX_DEPTH, Unit, id};

/// Sections of the file, those inside components included.
pub const MAX_SECTIONS: usize = 100_000;
/// Imports of all modules together; validators keep them by name.
pub const MAX_IMPORTS: u64 = 250_000;
/// Exports of all modules together.
pub const MAX_EXPORTS: u64 = 500_000;
/// Bytes of type sections, and of all that defines a component.
pub const MAX_TYPE_BYTES: u64 = 8 << 20;
/// Values on the operand stack of a function that is validated.
pub const MAX_OPERANDS: u32 = 1 << 20;
/// Blocks inside blocks of a function that is validated.
pub const MAX_BLOCKS: u32 = 1 << 17;
/// Rows of the facts; what is told in fewer words counts less.
pub const MAX_ROWS: u64 = 500_000;
/// Text of signatures that stands beside imports and exports. They are given
/// by the number of their type where it is used up.
pub const MAX_SIGNATURES: usize = 8 << 20;
/// Text of `imports` and `exports`.
pub const MAX_FORMS: usize = 32 << 20;
/// Names that a name section gives, where the printer is to read it: it keeps
/// each in memory.
pub const MAX_PRINTED_NAMES: u64 = 400_000;
/// Bytes of a custom section whose records are kept to be told: `producers`,
/// `target_features`, `dylink.0`.
pub const MAX_CUSTOM: usize = 1 << 20;
/// Steps of validation that are allowed beside those by code size. One takes
/// about 10 ns.
const STEPS: u64 = 1 << 25;
/// Steps of validation allowed for a byte of code; what compilers make takes
/// about half a step.
const STEPS_PER_BYTE: u64 = 2;

/// A limit that was reached: its name, what there is of it, the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The boundary's name.
    pub boundary: &'static str,
    /// In words, after "has more than N".
    pub what: &'static str,
    /// The most that is taken.
    pub maximum: u64,
}

/// What was measured before validation.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The most values that one instruction takes or gives.
    pub arity: u64,
    /// Steps that validating all functions may take.
    pub steps: u64,
}

/// Looks at the numbers that cost memory or time. What cannot be read is left
/// to the validator, which reads no further either.
pub fn measure(root: &Unit<'_>) -> Result<Measure, Reached> {
    let units = root.all();
    let reached = |boundary, what, maximum| Reached {
        boundary,
        what,
        maximum,
    };
    let (mut imports, mut exports, mut types, mut code) = (0u64, 0u64, 0u64, 0u64);
    let mut arity = 1u64;
    for unit in &units {
        if unit.too_deep {
            let maximum = MAX_DEPTH as u64;
            return Err(reached("nesting", "components inside each other", maximum));
        }
        for section in &unit.sections {
            let bytes = section.end - section.start;
            match (unit.kind, section.id) {
                (_, id::CUSTOM) | (Kind::Component, id::CORE_MODULE | id::COMPONENT) => {}
                (Kind::Component, _) => types += bytes,
                (Kind::Module, id::TYPE) => {
                    types += bytes;
                    // Beyond the limit nothing is read.
                    if types <= MAX_TYPE_BYTES {
                        arity = arity.max(widest_type(unit.reader(section)));
                    }
                }
                (Kind::Module, id::IMPORT) => imports += imports_in(unit.reader(section)),
                (Kind::Module, id::EXPORT) => exports += u64::from(section.count.unwrap_or(0)),
                (Kind::Module, id::CODE) => code += bytes,
                _ => {}
            }
        }
    }
    if types > MAX_TYPE_BYTES {
        return Err(reached("type-bytes", "bytes of types", MAX_TYPE_BYTES));
    }
    if imports > MAX_IMPORTS {
        return Err(reached("imports", "imports", MAX_IMPORTS));
    }
    if exports > MAX_EXPORTS {
        return Err(reached("exports", "exports", MAX_EXPORTS));
    }
    Ok(Measure {
        arity,
        steps: STEPS.saturating_add(code.saturating_mul(STEPS_PER_BYTE)),
    })
}

fn widest_type(reader: BinaryReader<'_>) -> u64 {
    let Ok(section) = wasmparser::TypeSectionReader::new(reader) else {
        return 1;
    };
    let mut widest = 1;
    for group in section.into_iter().map_while(Result::ok) {
        for ty in group.types() {
            let width = match &ty.composite_type.inner {
                CompositeInnerType::Func(func) => func.params().len() + func.results().len(),
                CompositeInnerType::Struct(fields) => fields.fields.len(),
                _ => 1,
            };
            widest = widest.max(width as u64);
        }
    }
    widest
}

/// How many imports a module has.
pub fn count_imports(unit: &Unit<'_>) -> u64 {
    let sections = unit.with_id(id::IMPORT);
    sections
        .map(|section| imports_in(unit.reader(section)))
        .sum()
}

fn imports_in(reader: BinaryReader<'_>) -> u64 {
    let Ok(section) = SectionLimited::<Imports<'_>>::new(reader) else {
        return 0;
    };
    let groups = section.into_iter().map_while(Result::ok);
    groups
        .map(|group| match group {
            Imports::Single(..) => 1,
            Imports::Compact1 { items, .. } => u64::from(items.count()),
            Imports::Compact2 { names, .. } => u64::from(names.count()),
        })
        .sum()
}

/// The rows that the facts of all units have: functions count half, relocations
/// and symbols by their bytes, elements of tables a sixteenth.
pub fn rows(root: &Unit<'_>) -> u64 {
    let mut quarters = 0u64;
    for unit in root.all() {
        for section in &unit.sections {
            quarters += 4;
            if unit.kind == Kind::Component || section.id == id::CUSTOM {
                continue;
            }
            let count = u64::from(section.count.unwrap_or(0));
            quarters += match section.id {
                id::FUNCTION => 2 * count,
                // Functions and code are one row.
                id::CODE => 0,
                id::ELEMENT => 4 * count + (section.end - section.start) / 4,
                _ => 4 * count,
            };
        }
        for (section, name, _) in unit.customs() {
            // A relocation or symbol has at least three bytes.
            if name.starts_with("reloc.") || name == "linking" {
                quarters += (section.end - section.start) / 3;
            }
        }
    }
    quarters / 4
}

/// How many names the name sections of all units give, as far as they can be
/// read.
pub fn count_names(root: &Unit<'_>) -> u64 {
    let units = root.all();
    let names = units.iter().map(|unit| {
        let sections = unit.customs().filter(|(_, name, _)| NAMES.contains(name));
        sections
            .map(|(_, _, reader)| count_section(reader))
            .sum::<u64>()
    });
    names.sum()
}

const NAMES: [&str; 2] = ["component-name", "name"];

/// Subsections whose entries hold names of their own: locals, labels, fields
/// and parameters (extended name section proposal).
pub const INDIRECT: [u8; 5] = [2, 3, 10, 12, 13];

fn count_section(mut reader: BinaryReader<'_>) -> u64 {
    let mut names = 0u64;
    let mut seen = BTreeSet::new();
    while !reader.eof() {
        let (Ok(id), Ok(mut body)) = (reader.read_u8(), reader.read_reader()) else {
            break;
        };
        if !seen.insert(id) && seen.len() > 64 {
            break;
        }
        let size = body.bytes_remaining() as u64;
        let count = u64::from(body.read_var_u32().unwrap_or(0));
        // A name has an index and a length: two bytes at least.
        names += match INDIRECT.contains(&id) {
            true => size / 2,
            false => count.min(size / 2),
        };
    }
    names
}
