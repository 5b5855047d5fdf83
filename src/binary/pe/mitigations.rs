//! Protections of images, as winchecksec, checksec and LIEF tell them, each
//! with its rule and the fact that it rests on.

use super::debug::Debug;
use super::executable::Parts;
use super::load_config::LoadConfig;
use crate::binary::layout::facts::{Mitigation, State};
use crate::binary::layout::rows::Range;
use crate::binary::name_text;

/// What the rules look at.
pub(super) struct Facts<'f, 'a> {
    pub parts: &'f Parts<'a>,
    pub load_config: Option<&'f LoadConfig>,
    pub debug: &'f Debug,
    /// A function or variable of stack cookies, by name.
    pub canary: Option<&'f [u8]>,
}

/// A rule of one flag: name, bit, what it says.
type Flag = (&'static str, u16, &'static str);

/// Bits of the DLL characteristics that are a protection by themselves.
const FLAGS: [Flag; 5] = [
    (
        "app-container",
        0x1000,
        "IMAGE_DLLCHARACTERISTICS_APPCONTAINER: the image runs in an app container only.",
    ),
    (
        "force-integrity",
        0x0080,
        "IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY: the image loads with a valid signature only.",
    ),
    (
        "no-seh",
        0x0400,
        "IMAGE_DLLCHARACTERISTICS_NO_SEH: no structured exception handler of the image is called.",
    ),
    (
        "nx",
        0x0100,
        "IMAGE_DLLCHARACTERISTICS_NX_COMPAT: data of the image is not executable.",
    ),
    (
        "terminal-server-aware",
        0x8000,
        "IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE: no compatibility layer for terminal servers is loaded.",
    ),
];

fn present(is: bool) -> State {
    if is { State::Present } else { State::Absent }
}

/// The rows, by name.
pub(super) fn rows(facts: &Facts<'_, '_>) -> Vec<Mitigation> {
    let optional = &facts.parts.optional;
    let file = &facts.parts.file;
    let characteristics = optional.dll_characteristics;
    let dll_fact = format!("DllCharacteristics {characteristics:#x}");
    let dll_location = Some(Range {
        offset: optional.offset + 70,
        bytes: 2,
    });
    let mut rows: Vec<Mitigation> = FLAGS
        .iter()
        .map(|&(name, bit, rule)| Mitigation {
            name,
            state: present(characteristics & bit != 0),
            rule,
            fact: dll_fact.clone(),
            location: dll_location,
        })
        .collect();
    let stripped = file.characteristics & 1 != 0;
    let dynamic = characteristics & 0x40 != 0;
    let both = format!("{dll_fact}, Characteristics {:#x}", file.characteristics);
    rows.push(Mitigation {
        name: "aslr",
        state: present(dynamic && !stripped),
        rule: "IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE is set and IMAGE_FILE_RELOCS_STRIPPED is not: the loader may move the image.",
        fact: both.clone(),
        location: dll_location,
    });
    rows.push(Mitigation {
        name: "high-entropy-va",
        state: match optional.wide {
            false => State::NotApplicable,
            true => present(characteristics & 0x20 != 0 && dynamic && !stripped),
        },
        rule: "IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA of a 64-bit image that the loader may move: it moves in the whole address space.",
        fact: both,
        location: dll_location,
    });
    rows.push(Mitigation {
        name: "isolation",
        state: present(characteristics & 0x0200 == 0),
        rule: "IMAGE_DLLCHARACTERISTICS_NO_ISOLATION is not set: the manifest decides which libraries are loaded.",
        fact: dll_fact.clone(),
        location: dll_location,
    });
    rows.push(Mitigation {
        name: "relocations",
        state: present(!stripped),
        rule: "IMAGE_FILE_RELOCS_STRIPPED is not set: the image can be moved.",
        fact: format!("Characteristics {:#x}", file.characteristics),
        location: Some(Range {
            offset: file.offset + 18,
            bytes: 2,
        }),
    });
    guards(facts, &dll_fact, &mut rows);
    handlers(facts, &mut rows);
    shadow_stack(facts, &mut rows);
    sections(facts, &mut rows);
    rows.sort_by_key(|row| row.name);
    rows
}

/// What `GuardFlags` of the load configuration says.
fn guards(facts: &Facts<'_, '_>, dll_fact: &str, rows: &mut Vec<Mitigation>) {
    let config = facts.load_config;
    let guard = config.and_then(|config| config.guard_flags).unwrap_or(0);
    let location = config.map(|config| config.location);
    let fact = match config {
        Some(_) => format!("GuardFlags {guard:#x}"),
        None => "no load configuration".to_owned(),
    };
    let functions = config
        .and_then(|config| config.guard_functions)
        .unwrap_or(0);
    let asked = facts.parts.optional.dll_characteristics & 0x4000 != 0;
    rows.push(Mitigation {
        name: "cfg",
        state: match (asked, guard & 0x500 == 0x500 && functions > 0) {
            (true, true) => State::Present,
            (true, false) => State::Partial,
            (false, _) => State::Absent,
        },
        rule: "IMAGE_DLLCHARACTERISTICS_GUARD_CF is set; in part where the load configuration has no table of functions or says no call is checked.",
        fact: format!("{dll_fact}, {fact}, {functions} guarded functions"),
        location,
    });
    let mut bit = |name, mask: u32, rule| {
        rows.push(Mitigation {
            name,
            state: present(guard & mask != 0),
            rule,
            fact: fact.clone(),
            location,
        });
    };
    bit(
        "cfg-export-suppression",
        0x8000,
        "IMAGE_GUARD_CF_ENABLE_EXPORT_SUPPRESSION: exports are no targets of indirect calls unless asked for.",
    );
    bit(
        "eh-continuation-guard",
        0x0040_0000,
        "IMAGE_GUARD_EH_CONTINUATION_TABLE_PRESENT: exceptions continue at listed addresses only.",
    );
    bit(
        "retpoline",
        0x0010_0000,
        "IMAGE_GUARD_RETPOLINE_PRESENT: indirect branches can be made retpolines.",
    );
    bit(
        "xfg",
        0x0080_0000,
        "IMAGE_GUARD_XFG_ENABLED: indirect calls check the type of the function.",
    );
    rows.push(Mitigation {
        name: "rfg",
        state: match (guard & 0x2_0000 != 0, guard & 0xC_0000 != 0) {
            (true, true) => State::Present,
            (true, false) => State::Partial,
            (false, _) => State::Absent,
        },
        rule: "IMAGE_GUARD_RF_INSTRUMENTED with IMAGE_GUARD_RF_ENABLE or IMAGE_GUARD_RF_STRICT: returns are checked; in part without the latter.",
        fact: fact.clone(),
        location,
    });
}

/// Stack cookies and the table of exception handlers.
fn handlers(facts: &Facts<'_, '_>, rows: &mut Vec<Mitigation>) {
    let config = facts.load_config;
    let cookie = config
        .and_then(|config| config.security_cookie)
        .unwrap_or(0);
    let location = config.map(|config| config.location);
    rows.push(Mitigation {
        name: "stack-cookie",
        state: present(cookie != 0 || facts.canary.is_some()),
        rule: "The load configuration names a security cookie, or a function or variable of stack cookies is imported or among the symbols.",
        fact: match (cookie, facts.canary) {
            (0, Some(name)) => name_text(name).into_owned(),
            (0, None) => "SecurityCookie 0x0".to_owned(),
            (cookie, _) => format!("SecurityCookie {cookie:#x}"),
        },
        location,
    });
    let table = config.and_then(|config| config.se_handlers);
    let unused = facts.parts.optional.dll_characteristics & 0x0400 != 0;
    let x86 = facts.parts.file.machine == 0x014C;
    rows.push(Mitigation {
        name: "safe-seh",
        state: match table {
            _ if !x86 || unused => State::NotApplicable,
            Some((table, count)) => present(table != 0 && count != 0),
            None => State::Absent,
        },
        rule: "The load configuration of an x86 image lists its exception handlers; without meaning for other machines and where none is ever called.",
        fact: match table {
            Some((table, count)) => format!("SEHandlerTable {table:#x}, SEHandlerCount {count}"),
            None => "no table of handlers".to_owned(),
        },
        location,
    });
}

/// Shadow stacks of x86 processors.
fn shadow_stack(facts: &Facts<'_, '_>, rows: &mut Vec<Mitigation>) {
    let x86 = matches!(facts.parts.file.machine, 0x014C | 0x8664);
    let extended = facts.debug.extended;
    rows.push(Mitigation {
        name: "cet-shadow-stack",
        state: match extended {
            _ if !x86 => State::NotApplicable,
            Some((flags, _)) => present(flags & 1 != 0),
            None => State::Absent,
        },
        rule: "IMAGE_DLLCHARACTERISTICS_EX_CET_COMPAT in the debug directory of an x86 image: it runs with shadow stacks.",
        fact: match extended {
            Some((flags, _)) => format!("extended DllCharacteristics {flags:#x}"),
            None => "no extended DllCharacteristics".to_owned(),
        },
        location: extended.map(|(_, location)| location),
    });
}

/// Sections that are both written and run.
fn sections(facts: &Facts<'_, '_>, rows: &mut Vec<Mitigation>) {
    const MOST: usize = 16;
    let both = |flags: u64| flags & 0xA000_0000 == 0xA000_0000;
    let sections = facts.parts.sections.iter();
    let found: Vec<_> = sections.filter(|section| both(section.flags)).collect();
    let mut names: Vec<String> = found
        .iter()
        .take(MOST)
        .map(|section| name_text(section.name.bytes()).into_owned())
        .collect();
    if found.len() > MOST {
        names.push(format!("{} more", found.len() - MOST));
    }
    rows.push(Mitigation {
        name: "write-xor-execute",
        state: present(found.is_empty()),
        rule: "No section is both IMAGE_SCN_MEM_WRITE and IMAGE_SCN_MEM_EXECUTE.",
        fact: match found.is_empty() {
            true => "no such section".to_owned(),
            false => names.join(", "),
        },
        location: found.first().map(|section| section.header),
    });
}
