//! Load commands as a table: numbers, names and fields (`mach-o/loader.h`).

use std::borrow::Cow;

use crate::binary::layout::rows::Symbolic;

/// How a field is written in the command, and shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// 32 bits, a number.
    U32,
    /// 64 bits, a number.
    U64,
    /// 32 bits, shown in hexadecimal: an address or flags.
    Hex32,
    /// 64 bits, shown in hexadecimal.
    Hex64,
    /// `X.Y.Z` in nibbles `xxxx.yy.zz`.
    Version,
    /// The same, of a library: always three numbers.
    DylibVersion,
    /// `A.B.C.D.E` in 64 bits `a24.b10.c10.d10.e10`.
    SourceVersion,
    /// The offset of a string in the command (`union lc_str`).
    Str,
    /// 16 bytes, a name.
    Name16,
    /// 16 bytes, an identity.
    Uuid,
    /// A platform by number.
    Platform,
    /// 4 bytes that say nothing.
    Skip,
}

use Form::{Hex32, Hex64, Name16, Skip, SourceVersion, Str, U32, U64, Version};

pub(super) type Fields = &'static [(&'static str, Form)];

const DYLIB: Fields = &[
    ("name", Str),
    ("timestamp", U32),
    ("current_version", Form::DylibVersion),
    ("compatibility_version", Form::DylibVersion),
];
const LINKEDIT: Fields = &[("dataoff", U32), ("datasize", U32)];
const SYMSEG: Fields = &[("offset", U32), ("size", U32)];
const THREAD: Fields = &[("flavor", U32), ("count", U32)];
const FVMLIB: Fields = &[
    ("name", Str),
    ("minor_version", U32),
    ("header_addr", Hex32),
];
const DYLINKER: Fields = &[("name", Str)];
const PREBOUND: Fields = &[("name", Str), ("nmodules", U32), ("linked_modules", U32)];
const VERSION_MIN: Fields = &[("version", Version), ("sdk", Version)];
const ENCRYPTION: Fields = &[("cryptoff", U32), ("cryptsize", U32), ("cryptid", U32)];
const DYLD_INFO: Fields = &[
    ("rebase_off", U32),
    ("rebase_size", U32),
    ("bind_off", U32),
    ("bind_size", U32),
    ("weak_bind_off", U32),
    ("weak_bind_size", U32),
    ("lazy_bind_off", U32),
    ("lazy_bind_size", U32),
    ("export_off", U32),
    ("export_size", U32),
];
const SEGMENT: Fields = &[
    ("segname", Name16),
    ("vmaddr", Hex32),
    ("vmsize", U32),
    ("fileoff", U32),
    ("filesize", U32),
    ("maxprot", U32),
    ("initprot", U32),
    ("nsects", U32),
    ("flags", Hex32),
];
const SEGMENT_64: Fields = &[
    ("segname", Name16),
    ("vmaddr", Hex64),
    ("vmsize", U64),
    ("fileoff", U64),
    ("filesize", U64),
    ("maxprot", U32),
    ("initprot", U32),
    ("nsects", U32),
    ("flags", Hex32),
];
const DYSYMTAB: Fields = &[
    ("ilocalsym", U32),
    ("nlocalsym", U32),
    ("iextdefsym", U32),
    ("nextdefsym", U32),
    ("iundefsym", U32),
    ("nundefsym", U32),
    ("tocoff", U32),
    ("ntoc", U32),
    ("modtaboff", U32),
    ("nmodtab", U32),
    ("extrefsymoff", U32),
    ("nextrefsyms", U32),
    ("indirectsymoff", U32),
    ("nindirectsyms", U32),
    ("extreloff", U32),
    ("nextrel", U32),
    ("locreloff", U32),
    ("nlocrel", U32),
];

/// Number, name, and the fields behind `cmd` and `cmdsize`, in their order.
pub(super) const COMMANDS: &[(u32, &str, Fields)] = &[
    (LC_SEGMENT, "LC_SEGMENT", SEGMENT),
    (
        LC_SYMTAB,
        "LC_SYMTAB",
        &[
            ("symoff", U32),
            ("nsyms", U32),
            ("stroff", U32),
            ("strsize", U32),
        ],
    ),
    (0x3, "LC_SYMSEG", SYMSEG),
    (LC_THREAD, "LC_THREAD", THREAD),
    (LC_UNIXTHREAD, "LC_UNIXTHREAD", THREAD),
    (0x6, "LC_LOADFVMLIB", FVMLIB),
    (0x7, "LC_IDFVMLIB", FVMLIB),
    (0x8, "LC_IDENT", &[]),
    (0x9, "LC_FVMFILE", &[("name", Str), ("header_addr", Hex32)]),
    (0xA, "LC_PREPAGE", &[]),
    (LC_DYSYMTAB, "LC_DYSYMTAB", DYSYMTAB),
    (LC_LOAD_DYLIB, "LC_LOAD_DYLIB", DYLIB),
    (LC_ID_DYLIB, "LC_ID_DYLIB", DYLIB),
    (LC_LOAD_DYLINKER, "LC_LOAD_DYLINKER", DYLINKER),
    (LC_ID_DYLINKER, "LC_ID_DYLINKER", DYLINKER),
    (0x10, "LC_PREBOUND_DYLIB", PREBOUND),
    (
        LC_ROUTINES,
        "LC_ROUTINES",
        &[("init_address", Hex32), ("init_module", U32)],
    ),
    (LC_SUB_FRAMEWORK, "LC_SUB_FRAMEWORK", &[("umbrella", Str)]),
    (LC_SUB_UMBRELLA, "LC_SUB_UMBRELLA", &[("sub_umbrella", Str)]),
    (LC_SUB_CLIENT, "LC_SUB_CLIENT", &[("client", Str)]),
    (LC_SUB_LIBRARY, "LC_SUB_LIBRARY", &[("sub_library", Str)]),
    (
        0x16,
        "LC_TWOLEVEL_HINTS",
        &[("offset", U32), ("nhints", U32)],
    ),
    (0x17, "LC_PREBIND_CKSUM", &[("cksum", Hex32)]),
    (LC_LOAD_WEAK_DYLIB, "LC_LOAD_WEAK_DYLIB", DYLIB),
    (LC_SEGMENT_64, "LC_SEGMENT_64", SEGMENT_64),
    (
        LC_ROUTINES_64,
        "LC_ROUTINES_64",
        &[("init_address", Hex64), ("init_module", U64)],
    ),
    (LC_UUID, "LC_UUID", &[("uuid", Form::Uuid)]),
    (LC_RPATH, "LC_RPATH", &[("path", Str)]),
    (LC_CODE_SIGNATURE, "LC_CODE_SIGNATURE", LINKEDIT),
    (0x1E, "LC_SEGMENT_SPLIT_INFO", LINKEDIT),
    (LC_REEXPORT_DYLIB, "LC_REEXPORT_DYLIB", DYLIB),
    (LC_LAZY_LOAD_DYLIB, "LC_LAZY_LOAD_DYLIB", DYLIB),
    (LC_ENCRYPTION_INFO, "LC_ENCRYPTION_INFO", ENCRYPTION),
    (LC_DYLD_INFO, "LC_DYLD_INFO", DYLD_INFO),
    (LC_DYLD_INFO_ONLY, "LC_DYLD_INFO_ONLY", DYLD_INFO),
    (LC_LOAD_UPWARD_DYLIB, "LC_LOAD_UPWARD_DYLIB", DYLIB),
    (LC_VERSION_MIN_MACOSX, "LC_VERSION_MIN_MACOSX", VERSION_MIN),
    (
        LC_VERSION_MIN_IPHONEOS,
        "LC_VERSION_MIN_IPHONEOS",
        VERSION_MIN,
    ),
    (LC_FUNCTION_STARTS, "LC_FUNCTION_STARTS", LINKEDIT),
    (LC_DYLD_ENVIRONMENT, "LC_DYLD_ENVIRONMENT", DYLINKER),
    (LC_MAIN, "LC_MAIN", &[("entryoff", U64), ("stacksize", U64)]),
    (LC_DATA_IN_CODE, "LC_DATA_IN_CODE", LINKEDIT),
    (
        LC_SOURCE_VERSION,
        "LC_SOURCE_VERSION",
        &[("version", SourceVersion)],
    ),
    (0x2B, "LC_DYLIB_CODE_SIGN_DRS", LINKEDIT),
    (LC_ENCRYPTION_INFO_64, "LC_ENCRYPTION_INFO_64", ENCRYPTION),
    (LC_LINKER_OPTION, "LC_LINKER_OPTION", &[("count", U32)]),
    (0x2E, "LC_LINKER_OPTIMIZATION_HINT", LINKEDIT),
    (LC_VERSION_MIN_TVOS, "LC_VERSION_MIN_TVOS", VERSION_MIN),
    (
        LC_VERSION_MIN_WATCHOS,
        "LC_VERSION_MIN_WATCHOS",
        VERSION_MIN,
    ),
    (
        LC_NOTE,
        "LC_NOTE",
        &[("data_owner", Name16), ("offset", U64), ("size", U64)],
    ),
    (
        LC_BUILD_VERSION,
        "LC_BUILD_VERSION",
        &[
            ("platform", Form::Platform),
            ("minos", Version),
            ("sdk", Version),
            ("ntools", U32),
        ],
    ),
    (LC_DYLD_EXPORTS_TRIE, "LC_DYLD_EXPORTS_TRIE", LINKEDIT),
    (LC_DYLD_CHAINED_FIXUPS, "LC_DYLD_CHAINED_FIXUPS", LINKEDIT),
    (
        LC_FILESET_ENTRY,
        "LC_FILESET_ENTRY",
        &[
            ("vmaddr", Hex64),
            ("fileoff", U64),
            ("entry_id", Str),
            ("reserved", Skip),
        ],
    ),
    (0x36, "LC_ATOM_INFO", LINKEDIT),
    (0x37, "LC_FUNCTION_VARIANTS", LINKEDIT),
    (0x38, "LC_FUNCTION_VARIANT_FIXUPS", LINKEDIT),
    (0x39, "LC_TARGET_TRIPLE", &[("triple", Str)]),
];

macro_rules! numbers {
    ($($name:ident = $value:literal,)*) => {$(
        #[doc = stringify!($name)]
        pub const $name: u32 = $value;
    )*};
}

numbers! {
    LC_SEGMENT = 0x1,
    LC_SYMTAB = 0x2,
    LC_THREAD = 0x4,
    LC_UNIXTHREAD = 0x5,
    LC_DYSYMTAB = 0xB,
    LC_LOAD_DYLIB = 0xC,
    LC_ID_DYLIB = 0xD,
    LC_LOAD_DYLINKER = 0xE,
    LC_ID_DYLINKER = 0xF,
    LC_ROUTINES = 0x11,
    LC_SUB_FRAMEWORK = 0x12,
    LC_SUB_UMBRELLA = 0x13,
    LC_SUB_CLIENT = 0x14,
    LC_SUB_LIBRARY = 0x15,
    LC_LOAD_WEAK_DYLIB = 0x8000_0018,
    LC_SEGMENT_64 = 0x19,
    LC_ROUTINES_64 = 0x1A,
    LC_UUID = 0x1B,
    LC_RPATH = 0x8000_001C,
    LC_CODE_SIGNATURE = 0x1D,
    LC_REEXPORT_DYLIB = 0x8000_001F,
    LC_LAZY_LOAD_DYLIB = 0x20,
    LC_ENCRYPTION_INFO = 0x21,
    LC_DYLD_INFO = 0x22,
    LC_DYLD_INFO_ONLY = 0x8000_0022,
    LC_LOAD_UPWARD_DYLIB = 0x8000_0023,
    LC_VERSION_MIN_MACOSX = 0x24,
    LC_VERSION_MIN_IPHONEOS = 0x25,
    LC_FUNCTION_STARTS = 0x26,
    LC_DYLD_ENVIRONMENT = 0x27,
    LC_MAIN = 0x8000_0028,
    LC_DATA_IN_CODE = 0x29,
    LC_SOURCE_VERSION = 0x2A,
    LC_ENCRYPTION_INFO_64 = 0x2C,
    LC_LINKER_OPTION = 0x2D,
    LC_VERSION_MIN_TVOS = 0x2F,
    LC_VERSION_MIN_WATCHOS = 0x30,
    LC_NOTE = 0x31,
    LC_BUILD_VERSION = 0x32,
    LC_DYLD_EXPORTS_TRIE = 0x8000_0033,
    LC_DYLD_CHAINED_FIXUPS = 0x8000_0034,
    LC_FILESET_ENTRY = 0x8000_0035,
}

/// Commands that load a library.
pub const LOADS_DYLIB: &[u32] = &[
    LC_LOAD_DYLIB,
    LC_LOAD_WEAK_DYLIB,
    LC_REEXPORT_DYLIB,
    LC_LAZY_LOAD_DYLIB,
    LC_LOAD_UPWARD_DYLIB,
];

/// Platforms, as `vtool -show-build` prints them.
pub const PLATFORMS: &[(u64, &str)] = &[
    (1, "MACOS"),
    (2, "IOS"),
    (3, "TVOS"),
    (4, "WATCHOS"),
    (5, "BRIDGEOS"),
    (6, "MACCATALYST"),
    (7, "IOSSIMULATOR"),
    (8, "TVOSSIMULATOR"),
    (9, "WATCHOSSIMULATOR"),
    (10, "DRIVERKIT"),
    (11, "VISIONOS"),
    (12, "VISIONOSSIMULATOR"),
    (13, "FIRMWARE"),
    (14, "SEPOS"),
];

/// Tools that build, as `vtool -show-build` prints them.
pub const TOOLS: &[(u64, &str)] = &[
    (1, "CLANG"),
    (2, "SWIFT"),
    (3, "LD"),
    (4, "LLD"),
    (1024, "METAL"),
    (1025, "AIRLLD"),
    (1026, "AIRNT"),
    (1027, "AIRNT_PLUGIN"),
    (1028, "AIRPACK"),
    (1031, "GPUARCHIVER"),
    (1032, "METAL_FRAMEWORK"),
];

/// A number by its name, else in decimal digits.
pub fn named(value: u32, names: &[(u64, &'static str)]) -> Cow<'static, str> {
    match Symbolic::of(u64::from(value), names) {
        Symbolic::Named(name) => Cow::Borrowed(name),
        Symbolic::Number(value) => Cow::Owned(value.to_string()),
    }
}

/// The name of a command, or its number.
pub fn command_name(cmd: u32) -> Symbolic {
    COMMANDS
        .iter()
        .find(|row| row.0 == cmd)
        .map_or(Symbolic::Number(u64::from(cmd)), |row| {
            Symbolic::Named(row.1)
        })
}

/// `X.Y`, or `X.Y.Z` where `Z` is not zero.
pub fn version(value: u32) -> String {
    let (major, minor, patch) = (value >> 16, value >> 8 & 0xFF, value & 0xFF);
    match patch {
        0 => format!("{major}.{minor}"),
        _ => format!("{major}.{minor}.{patch}"),
    }
}

/// The version of a library: always three numbers, as `otool -L` prints it.
pub fn dylib_version(value: u32) -> String {
    format!("{}.{}.{}", value >> 16, value >> 8 & 0xFF, value & 0xFF)
}

/// `A.B`, `A.B.C`, ... : as many parts as are needed, two at least.
pub fn source_version(value: u64) -> String {
    let parts = [
        value >> 40,
        value >> 30 & 0x3FF,
        value >> 20 & 0x3FF,
        value >> 10 & 0x3FF,
        value & 0x3FF,
    ];
    let used = parts.iter().rposition(|&part| part != 0).unwrap_or(0);
    let shown: Vec<String> = parts
        .iter()
        .take(used.max(1) + 1)
        .map(u64::to_string)
        .collect();
    shown.join(".")
}

/// As `dwarfdump --uuid` prints it.
pub fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02X}"));
    }
    text
}

/// A name of at most 16 bytes, which a NUL ends.
pub fn name16(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mach-o/loader.h`: `X.Y.Z is encoded in nibbles xxxx.yy.zz`, `A.B.C.D.E
    /// packed as a24.b10.c10.d10.e10`.
    #[test]
    fn versions_are_written_as_the_header_packs_them() {
        assert_eq!(version(0x000A_0F00), "10.15");
        assert_eq!(version(0x000A_0F07), "10.15.7");
        assert_eq!(dylib_version(0x0001_0000), "1.0.0");
        assert_eq!(
            source_version(1292 << 40 | 100 << 30 | 5 << 20),
            "1292.100.5"
        );
        assert_eq!(source_version(0), "0.0");
        assert_eq!(source_version(7 << 40 | 1), "7.0.0.0.1");
    }

    #[test]
    fn no_command_stands_twice() {
        for (at, row) in COMMANDS.iter().enumerate() {
            for other in &COMMANDS[..at] {
                assert!(row.0 != other.0 && row.1 != other.1, "{}", row.1);
            }
        }
    }
}
