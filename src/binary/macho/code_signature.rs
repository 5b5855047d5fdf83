//! What the code signature says of itself (`LC_CODE_SIGNATURE`, xnu's
//! `kern/cs_blobs.h`): its blobs and code directories. Whether it is true is
//! not judged here.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256, Sha384};

use super::commands::LC_CODE_SIGNATURE;
use super::image::Image;
use crate::binary::layout::rows::{Hex, Range};
use crate::binary::{Bytes, Notes, name_text};
use crate::json::{WriteJson, Writer};

/// Code directories whose digests are computed; a signature has two at most.
const DIRECTORIES: usize = 8;
/// Blobs that are told; a signature has about ten.
const BLOBS: u32 = 4096;

/// `CSMAGIC_...`
const MAGICS: &[(u32, &str)] = &[
    (0xFADE_0C00, "CSMAGIC_REQUIREMENT"),
    (0xFADE_0C01, "CSMAGIC_REQUIREMENTS"),
    (0xFADE_0C02, "CSMAGIC_CODEDIRECTORY"),
    (0xFADE_0CC0, "CSMAGIC_EMBEDDED_SIGNATURE"),
    (0xFADE_0CC1, "CSMAGIC_DETACHED_SIGNATURE"),
    (0xFADE_0B01, "CSMAGIC_BLOBWRAPPER"),
    (0xFADE_7171, "CSMAGIC_EMBEDDED_ENTITLEMENTS"),
    (0xFADE_7172, "CSMAGIC_EMBEDDED_DER_ENTITLEMENTS"),
    (0xFADE_8181, "CSMAGIC_EMBEDDED_LAUNCH_CONSTRAINT"),
];

/// `CSSLOT_...`
const SLOTS: &[(u32, &str)] = &[
    (0, "CSSLOT_CODEDIRECTORY"),
    (1, "CSSLOT_INFOSLOT"),
    (2, "CSSLOT_REQUIREMENTS"),
    (3, "CSSLOT_RESOURCEDIR"),
    (4, "CSSLOT_APPLICATION"),
    (5, "CSSLOT_ENTITLEMENTS"),
    (6, "CSSLOT_REP_SPECIFIC"),
    (7, "CSSLOT_DER_ENTITLEMENTS"),
    (8, "CSSLOT_LAUNCH_CONSTRAINT_SELF"),
    (9, "CSSLOT_LAUNCH_CONSTRAINT_PARENT"),
    (10, "CSSLOT_LAUNCH_CONSTRAINT_RESPONSIBLE"),
    (11, "CSSLOT_LIBRARY_CONSTRAINT"),
    (0x1000, "CSSLOT_ALTERNATE_CODEDIRECTORIES"),
    (0x1_0000, "CSSLOT_SIGNATURESLOT"),
    (0x1_0001, "CSSLOT_IDENTIFICATIONSLOT"),
    (0x1_0002, "CSSLOT_TICKETSLOT"),
];

/// Flags of a code directory, as `codesign` prints them (binaries section 4).
const FLAGS: &[(u32, &str)] = &[
    (0x1, "host"),
    (0x2, "adhoc"),
    (0x100, "hard"),
    (0x200, "kill"),
    (0x400, "expires"),
    (0x800, "restrict"),
    (0x1000, "enforcement"),
    (0x2000, "library-validation"),
    (0x1_0000, "runtime"),
    (0x2_0000, "linker-signed"),
];

/// `runtime`: the hardened runtime.
pub const CS_RUNTIME: u32 = 0x1_0000;
/// `library-validation`
pub const CS_REQUIRE_LV: u32 = 0x2000;
/// `restrict`
pub const CS_RESTRICT: u32 = 0x800;

const CODEDIRECTORY: u32 = 0xFADE_0C02;
const EMBEDDED_SIGNATURE: u32 = 0xFADE_0CC0;

/// One blob of the index.
#[derive(Clone, Copy, Debug)]
pub struct Blob {
    /// Its slot.
    pub slot: u32,
    /// Its magic; `None` where it is not there.
    pub magic: Option<u32>,
    /// Where it stands in the file.
    pub location: Range,
}

/// A code directory.
#[derive(Clone, Debug)]
pub struct CodeDirectory<'a> {
    /// Its slot.
    pub slot: u32,
    /// Where it stands in the file.
    pub location: Range,
    /// `version`
    pub version: u32,
    /// `flags`
    pub flags: u32,
    /// The identifier.
    pub identifier: Option<&'a [u8]>,
    /// The team.
    pub team: Option<&'a [u8]>,
    /// Digests of pages.
    pub code_slots: u32,
    /// Digests of other parts.
    pub special_slots: u32,
    /// `hashType`
    pub hash_type: u8,
    /// `platform`
    pub platform: u8,
    /// The page size as a power of two.
    pub page_size: u8,
    /// How far the pages go.
    pub code_limit: u64,
    /// `execSegFlags`, from version 0x20400 on.
    pub executable_segment_flags: Option<u64>,
    /// The runtime's version, from version 0x20500 on.
    pub runtime: Option<u32>,
    /// The first 20 bytes of its digest; `None` for digests that are not
    /// known.
    pub cdhash: Option<[u8; 20]>,
}

/// A signature's blobs.
#[derive(Clone, Debug)]
pub struct CodeSignature<'a> {
    /// Where it stands in the file.
    pub location: Range,
    /// The index.
    pub blobs: Vec<Blob>,
    /// Code directories, in index order.
    pub directories: Vec<CodeDirectory<'a>>,
}

impl<'a> CodeSignature<'a> {
    /// Reads the signature that the command names.
    pub fn read(image: &Image<'a>, notes: &mut Notes) -> Option<Self> {
        let command = *image.only(&[LC_CODE_SIGNATURE], notes)?;
        let (offset, data) = image.linkedit(&command, notes)?;
        let start = image.file_offset(offset);
        let data = Bytes::big(data.data());
        let mut signature = Self {
            location: image.range(offset, data.len()),
            blobs: Vec::new(),
            directories: Vec::new(),
        };
        if data.u32(0) != Some(EMBEDDED_SIGNATURE) {
            let reason = "the signature does not start with the magic of embedded signatures";
            notes.at("code signature", start, reason);
            return Some(signature);
        }
        let count = data.u32(8).unwrap_or(0);
        for index in 0..count.min(BLOBS) {
            let at = 12 + 8 * u64::from(index);
            let Some((slot, offset)) = data.u32(at).zip(data.u32(at + 4)) else {
                let reason = format!("{count} blobs are announced, {index} are there");
                notes.at("code signature", start, reason);
                break;
            };
            let offset = u64::from(offset);
            let magic = data.u32(offset);
            let length = data.u32(offset + 4).map_or(0, u64::from);
            let location = Range {
                offset: start.saturating_add(offset),
                bytes: length,
            };
            let body = data.part(offset, length);
            if body.is_none() || magic.is_none() {
                let reason = format!("the blob of slot {slot:#x} is not inside the signature");
                notes.at("code signature", start.saturating_add(at), reason);
            }
            signature.blobs.push(Blob {
                slot,
                magic,
                location,
            });
            if let Some(body) = body
                && magic == Some(CODEDIRECTORY)
                && signature.directories.len() < DIRECTORIES
            {
                match directory(body, slot, location) {
                    Some(directory) => signature.directories.push(directory),
                    None => {
                        let reason = "the code directory is cut";
                        notes.at("code directory", location.offset, reason);
                    }
                }
            }
        }
        if count > BLOBS {
            let reason = format!("{count} blobs are announced; {BLOBS} are told");
            notes.at("code signature", start, reason);
        }
        Some(signature)
    }

    /// The first code directory: what the kernel looks at where it knows no
    /// better.
    pub fn directory(&self) -> Option<&CodeDirectory<'a>> {
        self.directories.first()
    }
}

fn directory<'a>(body: Bytes<'a>, slot: u32, location: Range) -> Option<CodeDirectory<'a>> {
    let version = body.u32(8)?;
    let text = |offset: u32| body.string(offset.into()).filter(|_| offset != 0);
    let since = |first: u32, at: u64| body.u32(at).filter(|_| version >= first);
    let limit = u64::from(body.u32(32)?);
    let limit_64 = body
        .u64(56)
        .filter(|&limit| version >= 0x2_0300 && limit != 0);
    let hash_type = body.u8(37)?;
    Some(CodeDirectory {
        slot,
        location,
        version,
        flags: body.u32(12)?,
        identifier: text(body.u32(20)?),
        special_slots: body.u32(24)?,
        code_slots: body.u32(28)?,
        code_limit: limit_64.unwrap_or(limit),
        hash_type,
        platform: body.u8(38)?,
        page_size: body.u8(39)?,
        team: since(0x2_0200, 48).and_then(text),
        executable_segment_flags: body.u64(80).filter(|_| version >= 0x2_0400),
        runtime: since(0x2_0500, 88),
        cdhash: cdhash(body.data(), hash_type),
    })
}

/// `CS_HASHTYPE_...`
const HASHES: &[(u8, &str)] = &[
    (1, "sha1"),
    (2, "sha256"),
    (3, "sha256-truncated"),
    (4, "sha384"),
];

fn cdhash(bytes: &[u8], hash_type: u8) -> Option<[u8; 20]> {
    match hash_type {
        1 => sha1::Sha1::digest(bytes).first_chunk().copied(),
        2 | 3 => Sha256::digest(bytes).first_chunk().copied(),
        4 => Sha384::digest(bytes).first_chunk().copied(),
        _ => None,
    }
}

fn named<N: Copy + PartialEq + std::fmt::LowerHex>(
    value: N,
    names: &[(N, &'static str)],
) -> Cow<'static, str> {
    match names.iter().find(|row| row.0 == value) {
        Some(row) => Cow::Borrowed(row.1),
        None => Cow::Owned(format!("{value:#x}")),
    }
}

impl CodeDirectory<'_> {
    /// Its flags by name, unknown bits as `0x...`.
    pub fn flag_names(&self) -> Vec<String> {
        let mut rest = self.flags;
        let mut names = Vec::new();
        for &(bit, name) in FLAGS {
            if rest & bit != 0 {
                names.push(name.to_owned());
                rest &= !bit;
            }
        }
        if rest != 0 {
            names.push(format!("{rest:#x}"));
        }
        names
    }
}

impl WriteJson for CodeDirectory<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        let hex =
            |hash: [u8; 20]| -> String { hash.iter().map(|byte| format!("{byte:02x}")).collect() };
        w.member("cdhash", self.cdhash.map(hex));
        w.member("code_limit", Hex(self.code_limit));
        w.member("code_slots", self.code_slots);
        let executable_segment_flags = self.executable_segment_flags.map(Hex);
        w.member("executable_segment_flags", executable_segment_flags);
        w.member("flag_names", self.flag_names());
        w.member("flags", Hex(self.flags.into()));
        w.member("hash_type", named(self.hash_type, HASHES));
        w.member("identifier", self.identifier.map(name_text));
        w.member("location", self.location);
        w.member("page_size", 1u64.checked_shl(self.page_size.into()));
        w.member("platform", self.platform);
        let runtime_version = self
            .runtime
            .filter(|&version| version != 0)
            .map(super::commands::version);
        w.member("runtime_version", runtime_version);
        w.member("slot", named(self.slot, SLOTS));
        w.member("special_slots", self.special_slots);
        w.member("team_identifier", self.team.map(name_text));
        w.member("version", format!("{:x}", self.version));
        w.end_object();
    }
}

impl WriteJson for Blob {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("location", self.location);
        w.member("magic", self.magic.map(|magic| named(magic, MAGICS)));
        w.member("slot", named(self.slot, SLOTS));
        w.end_object();
    }
}

impl WriteJson for CodeSignature<'_> {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        w.member("blobs", &self.blobs);
        w.member("code_directories", &self.directories);
        w.member("location", self.location);
        w.end_object();
    }
}
