//! The contract's indicators of protections (binaries section 2.3, decision
//! 31).

use super::Elf;
use super::dynamic::{Dynamic, dt};
use super::names::em;
use super::symbols::Symbols;
use super::tables::{SegmentHeader, pt};
use crate::binary::layout::{Indicators, Linkage, Relro};

/// `ET_EXEC` and `ET_DYN`
pub(super) const ET_EXEC: u16 = 2;
pub(super) const ET_DYN: u16 = 3;

/// The header that says whether the stack may run; the kernel lets the last
/// one win, and so do we.
pub(super) fn stack<'e>(elf: &'e Elf<'_>) -> Option<&'e SegmentHeader> {
    let stacks = elf.segments.iter().rev();
    stacks.into_iter().find(|one| one.kind == pt::GNU_STACK)
}

/// The contract's five indicators.
pub(super) fn read(
    elf: &Elf<'_>,
    dynamic: &Dynamic<'_>,
    symbols: &Symbols<'_>,
    linkage: &Linkage<'_>,
) -> Indicators {
    let program =
        elf.header.kind == ET_EXEC || elf.segments.iter().any(|one| one.kind == pt::INTERP);
    let machine = elf.header.machine;
    let runs = stack(elf).map(|one| one.flags & 1 != 0);
    let nx = match (program, runs) {
        (false, _) | (_, Some(false)) => Some(true),
        // Machines whose kernels make data executable without the header.
        (true, None)
            if matches!(
                machine,
                em::I386 | em::ARM | em::AARCH64 | em::MIPS | em::MIPS_RS3_LE
            ) =>
        {
            Some(false)
        }
        (true, _) => None,
    };
    let executable_stack = match (program, runs) {
        (false, _) => false,
        (true, Some(runs)) => runs,
        (true, None) => !matches!(machine, em::AARCH64 | em::IA_64 | em::RISCV),
    };
    Indicators {
        position_independent: elf.header.kind == ET_DYN,
        nx,
        executable_stack,
        stack_canary: canary(symbols, linkage),
        relro: relro(elf, dynamic),
    }
}

pub(super) const CANARY: &[u8] = b"__stack_chk_fail";

fn canary(symbols: &Symbols<'_>, linkage: &Linkage<'_>) -> bool {
    symbols.names().any(|(name, _)| name == CANARY)
        || linkage.got.iter().any(|one| one.name.as_ref() == CANARY)
}

/// Whether symbols are bound before the program starts.
pub(super) fn binds_now(dynamic: &Dynamic<'_>) -> bool {
    let bit = |tag, bit| dynamic.value(tag).is_some_and(|value| value & bit != 0);
    dynamic.value(dt::BIND_NOW).is_some() || bit(dt::FLAGS, 8) || bit(dt::FLAGS_1, 1)
}

fn relro(elf: &Elf<'_>, dynamic: &Dynamic<'_>) -> Option<Relro> {
    let has = elf.segments.iter().any(|one| one.kind == pt::GNU_RELRO);
    has.then(|| match binds_now(dynamic) {
        true => Relro::Full,
        false => Relro::Partial,
    })
}
