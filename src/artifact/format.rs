//! Formats by their bytes, and the roles that paths give them.
//!
//! [`of_bytes`] names a format from the first bytes alone; [`role`]
//! combines it with the path into the kind and format that an
//! occurrence carries.

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[allow(missing_docs)] // each variant is its name in records
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($variant,)* }
        impl $name {
            /// The name in records.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

vocabulary! {
    /// What something is, by its bytes or by its bytes and path together.
    Format {
        Directory = "directory", File = "file", Unknown = "unknown",
        Zip = "zip", Ipa = "ipa", Apk = "apk", Msix = "msix", Appx = "appx",
        Asar = "asar", Dmg = "dmg", Pkg = "pkg",
        Plist = "plist", Entitlements = "entitlements",
        JavascriptBundle = "javascript-bundle", SourceMap = "source-map",
        MachO = "mach-o", MachOUniversal = "mach-o-universal", Elf = "elf",
        Pe = "pe", DosMz = "dos-mz",
        Gzip = "gzip", Xz = "xz", Bzip2 = "bzip2", Zstd = "zstd", Lzma = "lzma",
        Ar = "ar", Deb = "deb", Rpm = "rpm", Cpio = "cpio", Tar = "tar",
        SevenZip = "7z", Cab = "cab", Xar = "xar",
        Wasm = "wasm", Dex = "dex", Axml = "axml", JavaClass = "java-class",
    }
}

vocabulary! {
    /// The part something plays in the software.
    Kind {
        Container = "container", Executable = "executable",
        DynamicLibrary = "dynamic-library", Framework = "framework",
        NativeAddon = "native-addon", Javascript = "javascript",
        SourceMap = "source-map", Plist = "plist", Entitlements = "entitlements",
        Resource = "resource", UniversalSlice = "universal-slice", Unknown = "unknown",
    }
}

vocabulary! {
    /// What kind of entry a container lists.
    EntryKind {
        File = "file", Directory = "directory", Symlink = "symlink", Slice = "slice",
    }
}

/// How many first bytes [`of_bytes`] wants to see.
pub const HEAD: usize = 4096;
/// How many last bytes [`is_dmg`] wants to see.
pub const TAIL: usize = 512;

/// The format of a file from its first [`HEAD`] bytes (all of them where the
/// file is shorter) and its size. First match wins; the order is the contract's.
pub fn of_bytes(head: &[u8], size: u64) -> Format {
    if head.starts_with(b"PK") && matches!(head.get(2..4), Some([3, 4] | [5, 6] | [7, 8])) {
        return Format::Zip;
    }
    if head.starts_with(b"bplist00") {
        return Format::Plist;
    }
    if let Some(magic) = word_be(head, 0) {
        match magic {
            0xCAFE_BABE => return fat_or_class(head),
            0xBEBA_FECA | 0xCAFE_BABF | 0xBFBA_FECA => return Format::MachOUniversal,
            0xFEED_FACE | 0xFEED_FACF | 0xCEFA_EDFE | 0xCFFA_EDFE => return Format::MachO,
            _ => {}
        }
    }
    if head.starts_with(b"\x7FELF") {
        return Format::Elf;
    }
    if head.starts_with(b"MZ") {
        return mz(head, size);
    }
    by_own_magic(head, size)
}

/// The formats beyond the contract's list, in the order of decision 21.
fn by_own_magic(head: &[u8], size: u64) -> Format {
    const BZIP2_BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    const BZIP2_END: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
    let bzip2 = head.starts_with(b"BZh")
        && head
            .get(3)
            .is_some_and(|level| (b'1'..=b'9').contains(level))
        && head
            .get(4..10)
            .is_some_and(|magic| magic == BZIP2_BLOCK || magic == BZIP2_END);
    if head.starts_with(&[0x1F, 0x8B, 8]) {
        Format::Gzip
    } else if head.starts_with(&[0xFD, b'7', b'z', b'X', b'Z', 0]) {
        Format::Xz
    } else if bzip2 {
        Format::Bzip2
    } else if zstd(head) {
        Format::Zstd
    } else if head.starts_with(b"!<arch>\n") {
        if head.get(8..24).is_some_and(|name| {
            let name = name.trim_ascii_end();
            name.strip_suffix(b"/").unwrap_or(name) == b"debian-binary"
        }) {
            Format::Deb
        } else {
            Format::Ar
        }
    } else if head.starts_with(b"!<thin>\n") {
        Format::Ar
    } else if head.starts_with(&[0xED, 0xAB, 0xEE, 0xDB]) {
        Format::Rpm
    } else if cpio(head) {
        Format::Cpio
    } else if head.starts_with(&[b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C]) {
        Format::SevenZip
    } else if head.starts_with(b"MSCF") {
        Format::Cab
    } else if head.starts_with(b"xar!") {
        Format::Xar
    } else if head.starts_with(b"\0asm")
        && matches!(head.get(4..8), Some([1, 0, 0, 0] | [_, _, 1, 0]))
    {
        Format::Wasm
    } else if head.starts_with(b"dex\n")
        && head
            .get(4..7)
            .is_some_and(|version| version.iter().all(u8::is_ascii_digit))
        && head.get(7) == Some(&0)
    {
        Format::Dex
    } else if head.starts_with(&[3, 0, 8, 0])
        && word_le(head, 4).is_some_and(|own| u64::from(own) == size)
    {
        Format::Axml
    } else if tar(head) {
        Format::Tar
    } else {
        Format::File
    }
}

fn word_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word_le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half_le(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// `CAFEBABE` starts universal files (then a slice count) and Java classes
/// (then minor and major version, 45 and up).
fn fat_or_class(head: &[u8]) -> Format {
    match word_be(head, 4) {
        Some(1..=44) => Format::MachOUniversal,
        Some(_) => Format::JavaClass,
        None => Format::File,
    }
}

/// DOS and Windows executables. `e_lfarlc` at 24 is at least 64 where a header
/// of Windows is announced at `e_lfanew` (60).
fn mz(head: &[u8], size: u64) -> Format {
    if (head.len() as u64) < size.min(64) {
        return Format::Unknown;
    }
    let relocations_at = half_le(head, 24).unwrap_or(0);
    let announced = if size >= 64 {
        word_le(head, 60).unwrap_or(0)
    } else {
        0
    };
    if announced != 0 && (relocations_at >= 64 || pe_at(head, announced)) {
        return if pe_at(head, announced) {
            Format::Pe
        } else {
            Format::Unknown
        };
    }
    let valid = size >= 28 && dos_header_fits(head, size, relocations_at);
    if valid {
        Format::DosMz
    } else {
        Format::Unknown
    }
}

fn pe_at(head: &[u8], offset: u32) -> bool {
    let at = offset as usize;
    at >= 64
        && at
            .checked_add(4)
            .is_some_and(|end| head.get(at..end) == Some(b"PE\0\0"))
}

/// Pages, header and relocation table of the DOS header lie inside the file.
fn dos_header_fits(head: &[u8], size: u64, relocations_at: u16) -> bool {
    let (Some(last), Some(pages), Some(relocations), Some(paragraphs)) = (
        half_le(head, 2),
        half_le(head, 4),
        half_le(head, 6),
        half_le(head, 8),
    ) else {
        return false;
    };
    if pages == 0 || last > 511 {
        return false;
    }
    let tail = if last == 0 { 512 } else { u64::from(last) };
    let image = (u64::from(pages) - 1) * 512 + tail;
    let header = u64::from(paragraphs) * 16;
    let table = u64::from(relocations_at) + u64::from(relocations) * 4;
    header >= 28 && header <= image && image <= size && (relocations == 0 || table <= header)
}

/// A zstd frame, or skippable frames with one behind them as far as seen.
fn zstd(head: &[u8]) -> bool {
    let mut at = 0usize;
    loop {
        match word_le(head, at) {
            Some(0xFD2F_B528) => return true,
            Some(magic) if (0x184D_2A50..=0x184D_2A5F).contains(&magic) => {
                let Some(length) = word_le(head, at + 4) else {
                    return false;
                };
                at = at.saturating_add(8).saturating_add(length as usize);
            }
            _ => return false,
        }
    }
}

/// newc, crc and odc by their text magic; the binary form by a header that
/// could be one (a name of 1..4096 bytes, ending in NUL where it is seen).
fn cpio(head: &[u8]) -> bool {
    if head.starts_with(b"070701") || head.starts_with(b"070702") || head.starts_with(b"070707") {
        return true;
    }
    let read: fn(&[u8], usize) -> Option<u16> = match head.get(..2) {
        Some([0xC7, 0x71]) => half_le,
        Some([0x71, 0xC7]) => {
            |bytes, at| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
        }
        _ => return false,
    };
    let (Some(mode), Some(name_size)) = (read(head, 6), read(head, 20)) else {
        return false;
    };
    let type_known = matches!(mode >> 12, 0o1 | 0o2 | 0o4 | 0o6 | 0o10 | 0o12 | 0o14) || mode == 0;
    let name_size = usize::from(name_size);
    let ends = head
        .get(26 + name_size.saturating_sub(1))
        .is_none_or(|&last| last == 0);
    type_known && (1..=4096).contains(&name_size) && ends
}

/// A tar header: its checksum fits, and it has the ustar magic or what else
/// stands in a v7 header is plausible. POSIX pax, ustar interchange format.
pub(crate) fn tar(head: &[u8]) -> bool {
    let Some(block) = head.get(..512) else {
        return false;
    };
    let Some(stated) = octal(&block[148..156]) else {
        return false;
    };
    let outside = block[..148].iter().chain(&block[156..]);
    let unsigned: u64 = outside.clone().map(|&b| u64::from(b)).sum::<u64>() + 8 * 32;
    let signed: i64 = outside.map(|&b| i64::from(b as i8)).sum::<i64>() + 8 * 32;
    if stated != unsigned && i64::try_from(stated) != Ok(signed) {
        return false;
    }
    if &block[257..262] == b"ustar" {
        return true;
    }
    let numbers = octal(&block[100..108]).is_some() && octal(&block[124..136]).is_some();
    block[0] != 0 && numbers && (block[156] == 0 || block[156].is_ascii_graphic())
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = field.trim_ascii_start();
    let end = text
        .iter()
        .position(|b| !(b'0'..=b'7').contains(b))
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || !rest.iter().all(|&b| b == 0 || b == b' ') {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &b| {
        value.checked_mul(8)?.checked_add(u64::from(b - b'0'))
    })
}

/// Whether the bytes are a container whose inside `rea` may list.
pub fn is_container(format: Format) -> bool {
    use Format::*;
    matches!(
        format,
        Zip | Ipa
            | Apk
            | Msix
            | Appx
            | Asar
            | Dmg
            | Pkg
            | Gzip
            | Xz
            | Bzip2
            | Zstd
            | Lzma
            | Ar
            | Deb
            | Rpm
            | Cpio
            | Tar
            | SevenZip
            | Cab
            | Xar
    )
}

/// What the path alone says (contract 2.3), on the lower-cased path.
fn path_role(lower: &str) -> (Kind, Format) {
    let ends = |suffix: &str| lower.ends_with(suffix);
    if ends(".map") {
        (Kind::SourceMap, Format::SourceMap)
    } else if ends(".js") || ends(".mjs") || ends(".cjs") {
        (Kind::Javascript, Format::JavascriptBundle)
    } else if lower
        .split('/')
        .any(|segment| segment.ends_with(".framework"))
    {
        (Kind::Framework, Format::File)
    } else if ends(".node") {
        (Kind::NativeAddon, Format::File)
    } else if ends(".dylib") || ends(".so") {
        (Kind::DynamicLibrary, Format::File)
    } else if ends(".plist") {
        (Kind::Plist, Format::Plist)
    } else if ends(".entitlements") {
        (Kind::Entitlements, Format::Entitlements)
    } else {
        (Kind::Resource, Format::File)
    }
}

const PACKAGES: &[(&str, Format)] = &[
    (".zip", Format::Zip),
    (".ipa", Format::Ipa),
    (".apk", Format::Apk),
    (".msix", Format::Msix),
    (".msixbundle", Format::Msix),
    (".appx", Format::Appx),
    (".appxbundle", Format::Appx),
];

fn package(lower: &str) -> Option<Format> {
    PACKAGES
        .iter()
        .find(|(suffix, _)| lower.ends_with(suffix))
        .map(|&(_, format)| format)
}

/// The suffix of formats that only name and header together tell.
pub fn suffix_of(format: Format) -> Option<&'static str> {
    match format {
        Format::Asar => Some(".asar"),
        Format::Lzma => Some(".lzma"),
        _ => None,
    }
}

/// What is known of a file's content when its role is decided.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// [`of_bytes`] of it.
    pub format: Format,
    /// By its name and header, where the bytes alone do not tell: ASAR, lzma.
    pub named: Option<Format>,
    /// Whether its bytes end with the trailer of a disk image ([`is_dmg`]).
    pub dmg: bool,
}

/// Kind and format of a file, root or member (contract 2.4 and 2.5 with
/// decision 21).
pub fn role(path: &str, content: Content) -> (Kind, Format) {
    let lower = path.to_lowercase();
    let by_path = path_role(&lower);
    if let Some(named) = content.named.filter(|named| {
        content.format == Format::File
            && suffix_of(*named).is_some_and(|suffix| lower.ends_with(suffix))
    }) {
        return (Kind::Container, named);
    }
    if content.format == Format::Xar && lower.ends_with(".pkg") {
        return (Kind::Container, Format::Pkg);
    }
    if content.format == Format::File && lower.ends_with(".dmg") && content.dmg {
        return (Kind::Container, Format::Dmg);
    }
    if content.format == Format::File || content.format == by_path.1 {
        return by_path;
    }
    match content.format {
        Format::Unknown => (Kind::Unknown, Format::Unknown),
        Format::Zip => (Kind::Container, package(&lower).unwrap_or(Format::Zip)),
        Format::Plist => (Kind::Plist, Format::Plist),
        Format::Axml => (Kind::Resource, Format::Axml),
        format if is_container(format) => (Kind::Container, format),
        format => {
            let kind = match by_path.0 {
                kind @ (Kind::NativeAddon | Kind::DynamicLibrary) => kind,
                _ => Kind::Executable,
            };
            (kind, format)
        }
    }
}

/// Kind and format of a slice: a Mach-O file, unless its bytes are a container
/// (static libraries).
pub fn slice_role(bytes: Format) -> (Kind, Format) {
    let format = if is_container(bytes) {
        bytes
    } else {
        Format::MachO
    };
    (Kind::UniversalSlice, format)
}

/// Kind and format of a directory.
pub fn directory_role(path: &str) -> (Kind, Format) {
    if path.to_lowercase().ends_with(".framework") {
        (Kind::Framework, Format::Directory)
    } else {
        (Kind::Container, Format::Directory)
    }
}

/// Kind and format of a member whose bytes were not read as a file's: links
/// and what is unavailable. The flag says that a container's suffix was not
/// checked against bytes.
pub fn unread_role(path: &str) -> (Kind, Format, bool) {
    let lower = path.to_lowercase();
    if lower.ends_with(".asar") || package(&lower).is_some() {
        return (Kind::Unknown, Format::Unknown, true);
    }
    let (kind, format) = path_role(&lower);
    (kind, format, false)
}

/// The trailer of an Apple disk image stands 512 bytes before its end.
pub fn is_dmg(tail: &[u8]) -> bool {
    tail.len() >= TAIL && tail[tail.len() - TAIL..].starts_with(b"koly")
}
