//! What is wrong with an artifact, in the words of the error contract.

use std::io;

use super::containers::Fault;
use super::graph::Contradiction;
use super::limitation::Limitation;
use crate::error::{ArtifactReason, Code, Error};

/// The path cannot be opened.
pub(crate) fn path_error(error: &io::Error, shown: &str, operation: &str) -> Error {
    if error.kind() == io::ErrorKind::PermissionDenied {
        return Error::new(
            Code::AccessDenied,
            format!("{shown} may not be read: permission denied"),
        )
        .action("Run as a user who may read it, or inspect a copy.")
        .detail("operation", operation)
        .detail("path", shown)
        .detail("system_code", "EACCES")
        .detail("boundary", "filesystem-read");
    }
    let reason = crate::error::io_reason(error);
    Error::new(
        Code::TargetUnavailable,
        format!("{shown} cannot be opened: {reason}"),
    )
    .action("Check the path; it must name an existing file or folder.")
    .detail("path", shown)
    .detail("reason", reason)
}
/// Damage that the caller wants recorded instead of told as an error.
pub(super) fn damage_limitation(fault: &Fault) -> Limitation {
    let text = match fault {
        Fault::Damage(damage) => format!(
            "The container is damaged at offset {}: {}; its members are not listed.",
            damage.offset, damage.text
        ),
        _ => "The container could not be read; its members are not listed.".to_owned(),
    };
    Limitation::new(109, text)
}
/// A table of slices that lies: no damage of the file (decision 9).
pub(super) fn table_limitation(fault: &Fault) -> Limitation {
    let Fault::Damage(damage) = fault else {
        return damage_limitation(fault);
    };
    let text = format!(
        "Its table of slices lies at offset {}: {}; no slices are listed.",
        damage.offset, damage.text
    );
    Limitation::new(109, text)
}

/// A fault at the root, in the words of the error contract.
pub(super) fn fault_error(
    fault: Fault,
    shown: &str,
    member: Option<&str>,
    operation: &str,
) -> Error {
    let within = match member {
        Some(member) => format!("{shown}, member {member}"),
        None => shown.to_owned(),
    };
    let with_member = |error: Error| match member {
        Some(member) => error.detail("logical_path", member),
        None => error,
    };
    match fault {
        Fault::Stop(error) | Fault::Refused(error) => error,
        Fault::Damage(damage) => {
            let message = format!(
                "{within}: damaged at offset {}: {}",
                damage.offset, damage.text
            );
            with_member(Error::artifact(operation, damage.reason, message))
                .action("Get an undamaged copy, or run again with --on-damage record to keep what can be read.")
                .detail("path", shown)
                .detail("offset", damage.offset)
                .detail("detail", damage.text)
        }
        Fault::Limit(limit) => {
            let option = limit
                .name
                .strip_prefix("max_")
                .map(|_| format!("--{}", limit.name.replace('_', "-")));
            let message = format!("{within}: over the limit {} = {}", limit.name, limit.value);
            let error = with_member(Error::artifact(operation, ArtifactReason::Limit, message))
                .detail("path", shown)
                .detail("limit", limit.name)
                .detail("value", limit.value);
            match option {
                Some(option) => error
                    .action(format!(
                        "Raise {option} if you trust the input, or inspect a part of it."
                    ))
                    .detail("option", option),
                None => error.action("Inspect a part of it; this limit is fixed."),
            }
        }
        Fault::Io(io::ErrorKind::PermissionDenied, _) => {
            path_error(&io::ErrorKind::PermissionDenied.into(), shown, operation)
        }
        Fault::Io(_, reason) => {
            let message = format!("{within}: cannot be read: {reason}");
            with_member(Error::artifact(operation, ArtifactReason::Io, message))
                .action("Check the disk or share it is on, or inspect a copy.")
                .detail("path", shown)
                .detail("detail", reason)
        }
        Fault::Unavailable(_) | Fault::UnavailableBecause(_) => {
            let message = format!("{within}: cannot be read");
            with_member(Error::artifact(
                operation,
                ArtifactReason::Unavailable,
                message,
            ))
        }
    }
}
/// A member contradicts the digest that its container declares.
pub(super) fn contradicted(contradiction: &Contradiction, shown: &str) -> Error {
    let message = format!(
        "{shown}, member {}: its bytes contradict the SHA-256 that its container declares{}",
        contradiction.path,
        if contradiction.unpacked {
            " (unpacked companions are often signed or stripped after packing)"
        } else {
            ""
        }
    );
    Error::new(Code::ArtifactIntegrityMismatch, message)
        .action("Get a copy that fits, or run again with --integrity-policy record-and-continue to record the contradiction.")
        .detail("logical_path", contradiction.path.as_str())
        .detail("declared_sha256", contradiction.declared.to_hex())
        .detail("calculated_sha256", contradiction.observed.to_hex())
        .detail("unpacked", contradiction.unpacked)
}
