//! Protections of a Mach-O file: what is concluded, by which rule, from what.

use super::arch::ARM64;
use super::code_signature::{CS_REQUIRE_LV, CS_RESTRICT, CS_RUNTIME};
use super::commands::{LC_ENCRYPTION_INFO, LC_ENCRYPTION_INFO_64};
use super::image::{MH_DSYM, MH_EXECUTE, MH_OBJECT};
use super::macho::MachO;
use crate::binary::layout::Indicators;
use crate::binary::layout::facts::{Mitigation, State};
use crate::binary::layout::rows::Range;
use crate::binary::name_text;

/// Names that compilers call where a smashed stack ends.
const CANARY: &[&[u8]] = &[b"___stack_chk_fail", b"___stack_chk_guard"];
/// Names of the runtime that only code with automatic reference counting, or
/// its equal by hand, asks for.
const ARC: &[&[u8]] = &[
    b"_objc_release",
    b"_objc_storeStrong",
    b"_objc_retainAutoreleasedReturnValue",
    b"_objc_autoreleaseReturnValue",
];
/// `SG_READ_ONLY`
const SG_READ_ONLY: u32 = 0x10;

fn state(present: bool) -> State {
    match present {
        true => State::Present,
        false => State::Absent,
    }
}

/// All protections, in a fixed order.
pub fn mitigations(macho: &MachO<'_>) -> Vec<Mitigation> {
    let mut all = Vec::new();
    header(macho, &mut all);
    segments(macho, &mut all);
    names(macho, &mut all);
    signature(macho, &mut all);
    encryption(macho, &mut all);
    all
}

/// The contract's five.
pub fn indicators(macho: &MachO<'_>) -> Indicators {
    let header = macho.image.header;
    let linked = !is_unlinked(macho);
    let stack = header.has("MH_ALLOW_STACK_EXECUTION");
    Indicators {
        position_independent: is_pie(macho),
        nx: linked.then_some(!stack),
        executable_stack: linked && stack,
        stack_canary: macho.asks_for(CANARY).is_some(),
        relro: None,
    }
}

fn is_unlinked(macho: &MachO<'_>) -> bool {
    matches!(macho.image.header.file_type, MH_OBJECT | MH_DSYM)
}

/// Libraries and bundles load anywhere; of programs a flag says so.
fn is_pie(macho: &MachO<'_>) -> bool {
    let header = macho.image.header;
    header.has("MH_PIE") || matches!(header.file_type, 6 | 7 | 8 | 11)
}

fn header(macho: &MachO<'_>, all: &mut Vec<Mitigation>) {
    let header = macho.image.header;
    let flags = macho.image.range(24, 4);
    let fact = format!("flags {:#x}", header.flags);
    let program = header.file_type == MH_EXECUTE;
    let mut add = |name, state, rule| {
        all.push(Mitigation {
            name,
            state,
            rule,
            fact: fact.clone(),
            location: Some(flags),
        });
    };
    let unlinked = is_unlinked(macho);
    let unless = |not: bool, state: State| match not {
        true => State::NotApplicable,
        false => state,
    };
    add(
        "pie",
        unless(unlinked, state(is_pie(macho))),
        "Programs with the flag MH_PIE, and libraries and bundles, load at any address.",
    );
    let executable = header.has("MH_ALLOW_STACK_EXECUTION");
    add(
        "nx-stack",
        unless(!program, state(!executable)),
        "A program's stack is not executable unless the flag MH_ALLOW_STACK_EXECUTION asks for it.",
    );
    let heap = header.has("MH_NO_HEAP_EXECUTION") || macho.image.wide;
    add(
        "nx-heap",
        unless(!program, state(heap)),
        "A program's heap is not executable with 64 bits, or with the flag MH_NO_HEAP_EXECUTION.",
    );
    let cpu = header.cpu;
    all.push(Mitigation {
        name: "pointer-authentication",
        state: unless(
            cpu.kind != ARM64 || unlinked,
            state(cpu.architecture() == "arm64e"),
        ),
        rule: "Code for arm64e signs pointers; other code for arm64 does not.",
        fact: format!("cputype {:#x} cpusubtype {:#x}", cpu.kind, cpu.subtype),
        location: Some(macho.image.range(4, 8)),
    });
}

fn segments(macho: &MachO<'_>, all: &mut Vec<Mitigation>) {
    let unlinked = is_unlinked(macho);
    let segments = &macho.segments.segments;
    let place = |command: u64, size: u32| macho.image.range(command, size.into());
    let both = segments.iter().find(|segment| segment.initial & 6 == 6);
    all.push(Mitigation {
        name: "write-xor-execute",
        state: match unlinked {
            true => State::NotApplicable,
            false => state(both.is_none()),
        },
        rule: "No segment may be written to and run at first.",
        fact: match both {
            Some(segment) => format!(
                "{} initprot {:#x}",
                name_text(segment.name),
                segment.initial
            ),
            None => "no segment has both".to_owned(),
        },
        location: both.map(|segment| place(segment.command, segment.command_size)),
    });
    let constant = segments
        .iter()
        .find(|segment| segment.flags & SG_READ_ONLY != 0);
    all.push(Mitigation {
        name: "read-only-after-fixups",
        state: match unlinked {
            true => State::NotApplicable,
            false => state(constant.is_some()),
        },
        rule: "A segment with the flag SG_READ_ONLY is write-protected once its pointers are fixed up.",
        fact: match constant {
            Some(segment) => format!("{} flags {:#x}", name_text(segment.name), segment.flags),
            None => "no segment has the flag".to_owned(),
        },
        location: constant.map(|segment| place(segment.command, segment.command_size)),
    });
}

fn names(macho: &MachO<'_>, all: &mut Vec<Mitigation>) {
    let unless_known = |found: bool| match (found, macho.imports_exhaustive) {
        (true, _) => State::Present,
        (false, true) => State::Absent,
        (false, false) => State::Unknown,
    };
    let canary = macho.asks_for(CANARY);
    let told = |found: Option<&super::names::ImportRow<'_>>| match found {
        Some(import) => name_text(import.name).into_owned(),
        None => "no such import".to_owned(),
    };
    all.push(Mitigation {
        name: "stack-canary",
        state: unless_known(canary.is_some()),
        rule: "Code with stack canaries asks for ___stack_chk_fail or ___stack_chk_guard.",
        fact: told(canary),
        location: canary.and_then(|import| import.location),
    });
    let fortified = macho.imports.iter().find(|import| {
        import.name.starts_with(b"___")
            && import.name.ends_with(b"_chk")
            && !import.name.starts_with(b"___stack")
    });
    all.push(Mitigation {
        name: "fortify",
        state: match fortified {
            Some(_) => State::Present,
            // Calls may need no check, or be checked by the compiler.
            None => State::Unknown,
        },
        rule: "Code with fortified library calls asks for names like ___memcpy_chk.",
        fact: told(fortified),
        location: fortified.and_then(|import| import.location),
    });
    let objective = macho
        .segments
        .sections
        .iter()
        .find(|section| section.name.starts_with(b"__objc_"));
    let counted = macho.asks_for(ARC);
    all.push(Mitigation {
        name: "arc",
        state: match (objective, counted) {
            (None, None) => State::NotApplicable,
            (_, counted) => unless_known(counted.is_some()),
        },
        rule: "Objective-C and Swift code with automatic reference counting asks for functions like _objc_release.",
        fact: told(counted),
        location: counted.and_then(|import| import.location),
    });
}

fn signature(macho: &MachO<'_>, all: &mut Vec<Mitigation>) {
    let unlinked = is_unlinked(macho);
    let directory = macho.signature.as_ref().and_then(|one| one.directory());
    let flags = directory.map(|directory| directory.flags);
    let location = directory.map(|directory| Range {
        offset: directory.location.offset.saturating_add(12),
        bytes: 4,
    });
    let fact = match flags {
        Some(flags) => format!("CodeDirectory flags {flags:#x}"),
        None => "no code directory".to_owned(),
    };
    let mut add = |name, found: bool, rule| {
        all.push(Mitigation {
            name,
            state: match unlinked {
                true => State::NotApplicable,
                false => state(found),
            },
            rule,
            fact: fact.clone(),
            location,
        });
    };
    let has = |bits: u32| flags.is_some_and(|flags| flags & bits != 0);
    add(
        "code-signature",
        flags.is_some(),
        "The file has a code directory; whether the signature is true was not checked.",
    );
    add(
        "hardened-runtime",
        has(CS_RUNTIME),
        "The first code directory has the flag runtime.",
    );
    add(
        "library-validation",
        has(CS_REQUIRE_LV | CS_RUNTIME),
        "The first code directory has the flag library-validation, or runtime, which brings it.",
    );
    let section = macho.segments.section(b"__RESTRICT", b"__restrict");
    let program = macho.image.header.file_type == MH_EXECUTE;
    all.push(Mitigation {
        name: "restrict",
        state: match program {
            false => State::NotApplicable,
            true => state(section.is_some() || has(CS_RESTRICT)),
        },
        rule: "dyld ignores its environment for programs with a section __RESTRICT,__restrict or the flag restrict.",
        fact: match section {
            Some(_) => "__RESTRICT,__restrict".to_owned(),
            None => fact,
        },
        location: match section {
            Some(section) => Some(macho.image.range(section.header, 32)),
            None => location,
        },
    });
}

fn encryption(macho: &MachO<'_>, all: &mut Vec<Mitigation>) {
    let image = &macho.image;
    let command = image
        .of_kind(&[LC_ENCRYPTION_INFO, LC_ENCRYPTION_INFO_64])
        .next();
    let id = command.and_then(|command| image.body(command).u32(16));
    all.push(Mitigation {
        name: "encryption",
        state: match id {
            None => State::NotApplicable,
            Some(id) => state(id != 0),
        },
        rule: "Pages are encrypted where cryptid of LC_ENCRYPTION_INFO is not zero.",
        fact: match id {
            Some(id) => format!("cryptid {id}"),
            None => "no LC_ENCRYPTION_INFO".to_owned(),
        },
        location: command.map(|command| image.range(command.offset + 16, 4)),
    });
}
