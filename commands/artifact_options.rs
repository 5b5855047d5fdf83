//! The options that `inspect-artifact` and `inventory-artifact` share.

use clap::{Args, ValueEnum, value_parser};
use rea::artifact::{self, Options};
use rea::json::MAX_SAFE_INTEGER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{ByteSize, safe_integer};

/// Declares an enum of the command line beside the engine's of that name.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[derive(ValueEnum, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        impl From<$name> for artifact::$name {
            fn from(choice: $name) -> Self {
                match choice { $($name::$variant => Self::$variant,)* }
            }
        }
    };
}

choices! {
    /// What to do where a container declares a digest and the bytes differ.
    IntegrityPolicy {
        /// End with an error
        #[default]
        Fail,
        /// Record the contradiction and go on
        RecordAndContinue,
    }
}

choices! {
    /// Which containers inside the root are opened.
    Nesting {
        /// All, within the limits
        #[default]
        All,
        /// Only the root itself
        None,
    }
}

choices! {
    /// What to do where the root container is damaged.
    OnDamage {
        /// End with an error that names the place
        #[default]
        Fail,
        /// Keep what could be read and say what could not
        Record,
    }
}

// No doc comment here: clap would take it for the help of every command.
#[derive(Clone, Debug, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArtifactOptions {
    /// Where a container declares a digest and the bytes differ
    #[arg(long, value_name = "POLICY", default_value = "fail")]
    pub integrity_policy: IntegrityPolicy,

    /// Which containers inside the root to open
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub nested: Nesting,

    /// Where the root container is damaged
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub on_damage: OnDamage,

    /// Levels of containers inside containers
    #[arg(long, value_name = "N", default_value_t = usual().max_nesting, help_heading = "Limits",
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub max_nesting: u64,

    /// Levels of folders, prefixes of nested containers included
    #[arg(long, value_name = "N", default_value_t = usual().max_depth, help_heading = "Limits",
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub max_depth: u64,

    /// Entries of the root, and of all nested containers together
    #[arg(long, value_name = "N", default_value_t = usual().max_entries, help_heading = "Limits",
          value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub max_entries: u64,

    /// Bytes of one entry
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(usual().max_entry_bytes),
          help_heading = "Limits")]
    pub max_entry_bytes: ByteSize,

    /// Bytes of all entries
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(usual().max_total_bytes),
          help_heading = "Limits")]
    pub max_total_bytes: ByteSize,

    /// Expanded over stored bytes, beyond 1GiB of output
    #[arg(long, value_name = "N", default_value_t = usual().max_compression_ratio,
          help_heading = "Limits", value_parser = value_parser!(u64).range(..=MAX_SAFE_INTEGER))]
    #[serde(deserialize_with = "safe_integer")]
    #[schemars(range(max = MAX_SAFE_INTEGER))]
    pub max_compression_ratio: u64,

    /// Bytes of history that a decoder may keep
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(usual().max_decoder_window),
          help_heading = "Limits")]
    pub max_decoder_window: ByteSize,

    /// Bytes of extension headers of one archive entry
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(usual().max_header_bytes),
          help_heading = "Limits")]
    pub max_header_bytes: ByteSize,
}

fn usual() -> Options {
    Options::default()
}

impl Default for ArtifactOptions {
    fn default() -> Self {
        let usual = usual();
        Self {
            integrity_policy: IntegrityPolicy::default(),
            nested: Nesting::default(),
            on_damage: OnDamage::default(),
            max_nesting: usual.max_nesting,
            max_depth: usual.max_depth,
            max_entries: usual.max_entries,
            max_entry_bytes: ByteSize(usual.max_entry_bytes),
            max_total_bytes: ByteSize(usual.max_total_bytes),
            max_compression_ratio: usual.max_compression_ratio,
            max_decoder_window: ByteSize(usual.max_decoder_window),
            max_header_bytes: ByteSize(usual.max_header_bytes),
        }
    }
}

impl From<&ArtifactOptions> for Options {
    fn from(given: &ArtifactOptions) -> Self {
        Self {
            integrity_policy: given.integrity_policy.into(),
            nested: given.nested.into(),
            on_damage: given.on_damage.into(),
            max_nesting: given.max_nesting,
            max_depth: given.max_depth,
            max_entries: given.max_entries,
            max_entry_bytes: given.max_entry_bytes.0,
            max_total_bytes: given.max_total_bytes.0,
            max_compression_ratio: given.max_compression_ratio,
            max_decoder_window: given.max_decoder_window.0,
            max_header_bytes: given.max_header_bytes.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::FromArgMatches;

    #[test]
    fn the_usual_options_are_the_engines() {
        assert_eq!(
            Options::from(&ArtifactOptions::default()),
            Options::default()
        );
        let command = ArtifactOptions::augment_args(clap::Command::new("x"));
        let parsed = command.try_get_matches_from(["x"]).unwrap();
        let parsed = ArtifactOptions::from_arg_matches(&parsed).unwrap();
        assert_eq!(Options::from(&parsed), Options::default());
    }
}
