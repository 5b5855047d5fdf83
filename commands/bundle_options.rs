//! What the commands that read bundles share: the operand, the guard against
//! lost updates, ids as arguments, and the bundle in reports.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use rea::digest::Digest;
use rea::error::Code;
use rea::evidence::{Bundle, EvidenceId, LockedBundle, Source, UnknownId, read_bundle};
use rea::json::Limits;
use rea::operation::Context;
use rea::{Error, Result};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

use crate::quantity::{ByteSize, counted};
use crate::report::Report;

// No doc comment here: clap would take it for the help of every command.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
pub struct BundleOptions {
    /// The bundle's file, `-` for standard input where it is only read
    pub bundle: PathBuf,

    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
}

// The same reason.
#[derive(Clone, Debug, Args, Deserialize, JsonSchema)]
pub struct ReadingOptions {
    /// Go on only if this is the SHA-256 of the bundle
    #[arg(long, value_name = "SHA256")]
    #[serde(default)]
    pub expect_sha256: Option<Sha256>,

    /// Bytes to read of the file at most
    #[arg(long, value_name = "BYTES", default_value_t = usual_max_input_bytes())]
    #[serde(default = "usual_max_input_bytes")]
    pub max_input_bytes: ByteSize,
}

pub fn usual_max_input_bytes() -> ByteSize {
    ByteSize(Limits::default().max_input_bytes)
}

/// The reader's limits with another number of bytes.
pub fn limits(max_input_bytes: ByteSize) -> Limits {
    Limits {
        max_input_bytes: max_input_bytes.0,
        ..Limits::default()
    }
}

impl BundleOptions {
    /// Reads the bundle, which must be the expected one.
    pub fn read(&self, context: &Context) -> Result<Bundle> {
        self.reading.read(&self.bundle, context)
    }

    /// Locks the file and reads it, to change it.
    pub fn lock(&self, context: &Context) -> Result<(LockedBundle, Bundle)> {
        if self.bundle.as_os_str() == "-" {
            let message = "a bundle from standard input cannot be changed";
            let (at, reason) = (["bundle"], "invalid_value");
            return Err(
                Error::invalid_request(context.operation, &at, reason, message)
                    .action("Name the bundle's file."),
            );
        }
        let locked = LockedBundle::open(&self.bundle, context)?;
        let bundle = locked.read(limits(self.reading.max_input_bytes), context)?;
        self.reading.check(&bundle, context)?;
        Ok((locked, bundle))
    }
}

impl ReadingOptions {
    /// Reads a bundle, which must be the expected one.
    pub fn read(&self, path: &Path, context: &Context) -> Result<Bundle> {
        let bundle = read_bundle(Source::open(path)?, limits(self.max_input_bytes), context)?;
        self.check(&bundle, context)?;
        Ok(bundle)
    }

    fn check(&self, bundle: &Bundle, context: &Context) -> Result<()> {
        let Some(Sha256(expected)) = self.expect_sha256 else {
            return Ok(());
        };
        let found = bundle.digest(context)?;
        if found == expected {
            return Ok(());
        }
        let message = format!("The bundle is another one than expected: its SHA-256 is {found}");
        Err(Error::new(Code::RevisionConflict, message)
            .action("Look at what changed, then expect the bundle that is there.")
            .detail("reason", "revision-conflict")
            .detail("expected_sha256", expected.to_hex())
            .detail("sha256", found.to_hex()))
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal, $pattern:literal, $read:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub $inner);

        impl FromStr for $name {
            type Err = &'static str;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let read: fn(&[u8]) -> Option<$inner> = $read;
                read(text.as_bytes())
                    .map(Self)
                    .ok_or(concat!($prefix, "64 lower-case hexadecimal digits are needed"))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({"type": "string", "pattern": $pattern})
            }
        }
    )*};
}

ids! {
    /// A SHA-256.
    Sha256(Digest), "", "^[a-f0-9]{64}$", Digest::from_hex;
    /// The id of a record.
    RecordId(EvidenceId), "`ev_` and ", "^ev_[a-f0-9]{64}$", EvidenceId::from_text;
    /// The id of an unknown.
    QuestionId(UnknownId), "`unk_` and ", "^unk_[a-f0-9]{64}$", UnknownId::from_text;
}

/// Says what a bundle holds.
pub fn describe_counts(bundle: &Bundle, report: &mut Report) {
    report.fact("records", counted(bundle.len() as u64, "record", "records"));
    let unknowns = counted(bundle.unknowns().len() as u64, "unknown", "unknowns");
    let revisions = counted(bundle.unknowns().revisions(), "revision", "revisions");
    report.fact("unknowns", format!("{unknowns}, {revisions}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let digits = "ab".repeat(32);
        assert!(digits.parse::<Sha256>().is_ok());
        assert!(format!("ev_{digits}").parse::<RecordId>().is_ok());
        assert!(format!("unk_{digits}").parse::<QuestionId>().is_ok());
        assert!(digits.to_uppercase().parse::<Sha256>().is_err());
        assert!(digits.parse::<RecordId>().is_err());
        let error = format!("ev_{digits}").parse::<QuestionId>().unwrap_err();
        assert_eq!(
            error,
            "`unk_` and 64 lower-case hexadecimal digits are needed"
        );
    }
}
