//! The options of an inventory and how they enter a record's `parameters`.

use crate::json::{WriteJson, Writer};

/// What to do where a container declares a digest and the bytes differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntegrityPolicy {
    /// End with an error.
    #[default]
    Fail,
    /// Record the contradiction and go on.
    RecordAndContinue,
}

impl IntegrityPolicy {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::RecordAndContinue => "record-and-continue",
        }
    }
}

/// Which containers inside the root are expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// All, within the budgets.
    #[default]
    All,
    /// None: only the root itself.
    None,
}

/// What to do where the root container is damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// End with an error.
    #[default]
    Fail,
    /// Keep what could be read and say what could not.
    Record,
}

/// Options of an inventory. Those not at their default enter `parameters`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Declared digests that do not fit.
    pub integrity_policy: IntegrityPolicy,
    /// Containers inside the root.
    pub nested: Nesting,
    /// A damaged root.
    pub on_damage: OnDamage,
    /// Containers inside containers, levels.
    pub max_nesting: u64,
    /// Folder recursion and nested prefixes, levels.
    pub max_depth: u64,
    /// Entries of the root, and of all nested expansion together.
    pub max_entries: u64,
    /// Bytes of one member.
    pub max_entry_bytes: u64,
    /// Bytes of all members.
    pub max_total_bytes: u64,
    /// Expanded over stored bytes, counted beyond 1 GiB of output.
    pub max_compression_ratio: u64,
    /// Bytes of history a decoder may keep.
    pub max_decoder_window: u64,
    /// Bytes of extension headers in one archive entry.
    pub max_header_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            integrity_policy: IntegrityPolicy::Fail,
            nested: Nesting::All,
            on_damage: OnDamage::Fail,
            max_nesting: 16,
            max_depth: 1024,
            max_entries: 5_000_000,
            max_entry_bytes: 64 << 30,
            max_total_bytes: 256 << 30,
            max_compression_ratio: 1000,
            max_decoder_window: 256 << 20,
            max_header_bytes: 1 << 20,
        }
    }
}

/// `parameters`: the integrity policy always, the rest only off its default.
impl WriteJson for Options {
    fn write_json(&self, w: &mut Writer<'_>) {
        w.begin_object();
        self.write_members(w);
        w.end_object();
    }
}

impl Options {
    /// The members of `parameters`, for operations that have more of them.
    pub(super) fn write_members(&self, w: &mut Writer<'_>) {
        let default = Self::default();
        let number = |w: &mut Writer<'_>, name, value: u64, usual: u64| {
            if value != usual {
                w.member(name, value);
            }
        };
        w.member("integrity_policy", self.integrity_policy.as_str());
        number(
            w,
            "max_compression_ratio",
            self.max_compression_ratio,
            default.max_compression_ratio,
        );
        number(
            w,
            "max_decoder_window",
            self.max_decoder_window,
            default.max_decoder_window,
        );
        number(w, "max_depth", self.max_depth, default.max_depth);
        number(w, "max_entries", self.max_entries, default.max_entries);
        number(
            w,
            "max_entry_bytes",
            self.max_entry_bytes,
            default.max_entry_bytes,
        );
        number(
            w,
            "max_header_bytes",
            self.max_header_bytes,
            default.max_header_bytes,
        );
        number(w, "max_nesting", self.max_nesting, default.max_nesting);
        number(
            w,
            "max_total_bytes",
            self.max_total_bytes,
            default.max_total_bytes,
        );
        if self.nested == Nesting::None {
            w.member("nested", "none");
        }
        if self.on_damage == OnDamage::Record {
            w.member("on_damage", "record");
        }
    }
}
