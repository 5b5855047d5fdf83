//! The shape of a record, as tables.
//!
//! Members are listed in canonical order, which is also the order in which a
//! canonical record gives them.

use super::path::Pointer;
use super::problem::Reason;
use crate::digest::Digest;
use crate::json::{MAX_SAFE_INTEGER, Value};

/// What may stand in a place.
#[derive(Debug)]
pub(super) enum Rule {
    /// Any JSON, kept as given.
    Free,
    /// Any JSON object, kept as given.
    FreeObject,
    /// A string, possibly empty.
    Text,
    /// A string with at least one character.
    NonEmpty,
    /// A string or `null`.
    TextOrNull,
    /// A prefix and 64 lower-case hexadecimal digits.
    Id(&'static str),
    /// [`Rule::Id`] or `null`; in unknowns, which are checked in memory.
    IdOrNull(&'static str),
    /// [`Rule::NonEmpty`] or `null`; likewise.
    NonEmptyOrNull,
    /// A whole number from 1 to 2^53-1; likewise.
    Ordinal,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or `null`.
    WordOrNull(&'static [&'static str]),
    /// Exactly these members.
    Object(&'static Shape),
    /// Exactly these members, or `null`.
    ObjectOrNull(&'static Shape),
    /// An array of such elements.
    List(&'static Rule),
    /// A location object.
    Location,
}

impl Rule {
    /// What is acceptable, as the end of a sentence.
    pub fn describe(&self) -> String {
        match self {
            Self::Free => "any JSON value".to_owned(),
            Self::FreeObject | Self::Object(_) => "an object".to_owned(),
            Self::ObjectOrNull(_) => "an object or null".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::NonEmpty => "a string that is not empty".to_owned(),
            Self::TextOrNull => "a string or null".to_owned(),
            Self::Id("") => "64 lower-case hexadecimal digits".to_owned(),
            Self::Id(prefix) => format!("{prefix} and 64 lower-case hexadecimal digits"),
            Self::IdOrNull(prefix) => format!("null or {}", Self::Id(prefix).describe()),
            Self::NonEmptyOrNull => "null or a string that is not empty".to_owned(),
            Self::Ordinal => "a whole number from 1 to 2^53-1".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::WordOrNull(words) => format!("null or one of {}", words.join(", ")),
            Self::List(_) => "an array".to_owned(),
            Self::Location => "a location object".to_owned(),
        }
    }

    /// Whether `null` is acceptable.
    pub fn takes_null(&self) -> bool {
        matches!(
            self,
            Self::Free
                | Self::TextOrNull
                | Self::WordOrNull(_)
                | Self::ObjectOrNull(_)
                | Self::IdOrNull(_)
                | Self::NonEmptyOrNull
        )
    }

    /// Judges a string, of which `text` is the start or, if `whole`, all.
    pub fn check_text(&self, text: &[u8], whole: bool) -> Result<(), (Reason, String)> {
        let known = |words: &[&str]| whole && words.iter().any(|word| word.as_bytes() == text);
        let reason = match self {
            Self::Free | Self::Text | Self::TextOrNull => return Ok(()),
            Self::NonEmpty | Self::NonEmptyOrNull if !text.is_empty() => return Ok(()),
            Self::NonEmpty | Self::NonEmptyOrNull => Reason::OutOfRange,
            Self::Id(prefix) | Self::IdOrNull(prefix) => {
                let digits = text.strip_prefix(prefix.as_bytes()).unwrap_or_default();
                if whole && Digest::from_hex(digits).is_some() {
                    return Ok(());
                }
                Reason::InvalidFormat
            }
            Self::Word(words) | Self::WordOrNull(words) if known(words) => return Ok(()),
            Self::Word(_) | Self::WordOrNull(_) => Reason::InvalidValue,
            _ => Reason::InvalidType,
        };
        Err((reason, format!("must be {}", self.describe())))
    }
}

/// A place, a kind of problem, and the problem in words.
pub(super) type Finding = (Pointer, Reason, String);

/// Checks a value in memory; every problem goes to `found`. Nesting is bounded
/// by the rule's.
pub(super) fn check_value(
    rule: &Rule,
    value: &Value,
    at: &Pointer,
    found: &mut dyn FnMut(Finding),
) {
    match (rule, value) {
        (rule, Value::Null) if rule.takes_null() => {}
        (Rule::Free, _) | (Rule::FreeObject, Value::Object(_)) => {}
        (Rule::Object(shape) | Rule::ObjectOrNull(shape), Value::Object(object)) => {
            for (name, value) in object.iter() {
                let at = at.clone().named(name.as_bytes());
                match shape.members.iter().find(|(member, _)| name == member) {
                    Some((_, rule)) => check_value(rule, value, &at, found),
                    None => {
                        let message = format!("{} has no such member", shape.name);
                        found((at, Reason::UnknownArgument, message));
                    }
                }
            }
            for (name, _) in shape.members {
                if object.get(name).is_none() {
                    let message = format!("{} lacks the member {name}", shape.name);
                    found((at.clone().member(name), Reason::MissingArgument, message));
                }
            }
        }
        (Rule::List(rule), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                check_value(rule, item, &at.clone().element(index as u64), found);
            }
        }
        (Rule::Ordinal, Value::Number(number)) => {
            let whole = number.fract() == 0.0;
            if !whole || !(1.0..=MAX_SAFE_INTEGER as f64).contains(number) {
                let message = format!("{} must be {}", at.dotted(), rule.describe());
                found((at.clone(), Reason::OutOfRange, message));
            }
        }
        (rule, Value::String(text)) => {
            if let Err((reason, message)) = rule.check_text(text.as_bytes(), true) {
                found((at.clone(), reason, format!("{} {message}", at.dotted())));
            }
        }
        (rule, _) => {
            let message = format!("{} must be {}", at.dotted(), rule.describe());
            found((at.clone(), Reason::InvalidType, message));
        }
    }
}

/// The members of a strict object. All are required, others are refused.
#[derive(Debug)]
pub(super) struct Shape {
    /// What the object is called in messages.
    pub name: &'static str,
    /// Names and rules, in canonical order.
    pub members: &'static [(&'static str, Rule)],
}

impl Shape {
    /// The place of a member in the table.
    pub fn member(&self, name: &[u8]) -> Option<usize> {
        self.members
            .iter()
            .position(|(member, _)| member.as_bytes() == name)
    }
}

const DIGEST: Rule = Rule::Id("");

/// The record itself.
pub(super) static ENVELOPE: Shape = Shape {
    name: "the record",
    members: &[
        ("analysis_profile", Rule::ObjectOrNull(&PROFILE)),
        ("authority", Rule::Word(AUTHORITIES)),
        ("confidence", Rule::Word(CONFIDENCES)),
        ("environment", Rule::ObjectOrNull(&ENVIRONMENT)),
        ("evidence_id", Rule::Id("ev_")),
        ("evidence_links", Rule::List(&Rule::Id("ev_"))),
        ("limitations", Rule::List(&Rule::Text)),
        ("locations", Rule::List(&Rule::Location)),
        ("normalized_result", Rule::Free),
        ("operation", Rule::NonEmpty),
        ("parameters", Rule::FreeObject),
        ("predicate_type", Rule::NonEmpty),
        ("provider", Rule::Object(&PROVIDER)),
        ("raw_result", Rule::Free),
        ("subject", Rule::ObjectOrNull(&SUBJECT)),
    ],
};

/// `analysis_profile`
pub(super) static PROFILE: Shape = Shape {
    name: "analysis_profile",
    members: &[
        ("digest", DIGEST),
        ("parameters", Rule::FreeObject),
        ("provider", Rule::Object(&PROFILE_PROVIDER)),
    ],
};

/// `analysis_profile.provider`: a profile needs a concrete version.
pub(super) static PROFILE_PROVIDER: Shape = Shape {
    name: "analysis_profile.provider",
    members: &[
        ("id", Rule::NonEmpty),
        ("name", Rule::NonEmpty),
        ("version", Rule::NonEmpty),
    ],
};

/// `provider`
pub(super) static PROVIDER: Shape = Shape {
    name: "provider",
    members: &[
        ("id", Rule::NonEmpty),
        ("name", Rule::NonEmpty),
        ("version", Rule::TextOrNull),
    ],
};

/// `environment`
pub(super) static ENVIRONMENT: Shape = Shape {
    name: "environment",
    members: &[
        ("architecture", Rule::NonEmpty),
        ("id", Rule::NonEmpty),
        ("isolation", Rule::Word(ISOLATIONS)),
        ("platform", Rule::NonEmpty),
    ],
};

/// `subject`
pub(super) static SUBJECT: Shape = Shape {
    name: "subject",
    members: &[
        ("architecture", Rule::WordOrNull(ARCHITECTURES)),
        ("digest", Rule::Object(&SUBJECT_DIGEST)),
        ("format", Rule::Word(FORMATS)),
        ("local_path", Rule::Text),
        ("name", Rule::NonEmpty),
    ],
};

/// `subject.digest`
pub(super) static SUBJECT_DIGEST: Shape = Shape {
    name: "subject.digest",
    members: &[("sha256", DIGEST)],
};

/// What a member of a location holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocationRule {
    /// A string with at least one character.
    NonEmpty,
    /// A whole number from 0 to 2^53-1.
    Offset,
}

/// The members beside `kind` that a location has.
type LocationMembers = &'static [(&'static str, LocationRule)];

/// The kinds of locations and their members beside `kind`.
pub(super) static LOCATIONS: &[(&str, LocationMembers)] = &[
    ("address", &[("address", LocationRule::NonEmpty)]),
    (
        "address-range",
        &[
            ("end", LocationRule::NonEmpty),
            ("start", LocationRule::NonEmpty),
        ],
    ),
    ("artifact-path", &[("path", LocationRule::NonEmpty)]),
    ("file-offset", &[("offset", LocationRule::Offset)]),
    (
        "file-offset-range",
        &[
            ("end", LocationRule::Offset),
            ("start", LocationRule::Offset),
        ],
    ),
];

/// All member names that some kind of location has.
pub(super) static LOCATION_MEMBERS: [&str; 6] =
    ["address", "end", "kind", "offset", "path", "start"];

/// `authority`
pub(super) static AUTHORITIES: &[&str] = &[
    "shipped-artifact",
    "controlled-replay",
    "historical-reference",
    "external-service",
    "analyst-inference",
];

/// `confidence`
pub(super) static CONFIDENCES: &[&str] = &["observed", "derived", "inferred"];

/// `environment.isolation`
pub(super) static ISOLATIONS: &[&str] = &["none", "process", "container", "virtual-machine"];

/// `subject.architecture`; the last two lines are additions of this project.
pub(super) static ARCHITECTURES: &[&str] = &[
    "x86",
    "x86_64",
    "arm",
    "arm64", //
    "mips",
    "mips64",
    "riscv32",
    "riscv64",
    "ppc",
    "ppc64", //
    "s390x",
    "loongarch64",
    "wasm32",
];

/// `subject.format`; the last two lines are additions of this project.
#[rustfmt::skip]
pub(super) static FORMATS: &[&str] = &[
    "hopper", "analysis-database", "mach-o", "elf", "pe", "dos-mz", "dos-com",
    "zip", "ipa", "apk", "msix", "appx", "asar", "dmg", "pkg", "plist",
    "javascript", "source-map", "directory", "file", "unknown",
    "mach-o-universal", "javascript-bundle", "entitlements",
    "gzip", "xz", "bzip2", "zstd", "lzma", "ar", "deb", "rpm", "cpio", "tar",
    "7z", "cab", "xar", "wasm", "dex", "axml", "java-class",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check_order(shape: &Shape) {
        assert!(
            shape.members.is_sorted_by(|a, b| a.0 < b.0),
            "{}",
            shape.name
        );
        assert!(shape.members.len() <= 32);
        for (_, rule) in shape.members {
            if let Rule::Object(inner) | Rule::ObjectOrNull(inner) = rule {
                check_order(inner);
            }
        }
    }

    #[test]
    fn tables_are_in_canonical_order() {
        check_order(&ENVELOPE);
        assert_eq!(ENVELOPE.members.len(), 15);
        for (_, members) in LOCATIONS {
            assert!(members.is_sorted_by(|a, b| a.0 < b.0));
            for (name, _) in *members {
                assert!(LOCATION_MEMBERS.contains(name));
            }
        }
    }
}
