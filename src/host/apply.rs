//! Doing what a plan says: all of it, or nothing.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::plan::{Action, Change, Kind, Plan};
use crate::error::{Code, Error, Result, io_reason};
use crate::publish::{Publisher, display_path};

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The actions, in order.
    pub actions: Vec<Action>,
}

/// Does what `plan` says. Every file is written beside its place first, then
/// put there in one step, then read back.
///
/// # Errors
/// `configuration_invalid` where the plan is blocked; `artifact_changed`
/// where a file is no longer what the plan was made from; those of writing.
/// Files that were changed before are as they were; where that failed too, it
/// is `cleanup_incomplete`.
pub fn apply(plan: &Plan, operation: &str) -> Result<Applied> {
    if let Some(blocked) = plan.blocked.first() {
        let message = format!(
            "{} stands in the way: {}; nothing was changed",
            display_path(&blocked.path),
            blocked.reason
        );
        return Err(Error::new(Code::ConfigurationInvalid, message)
            .action("Correct that file, or leave its client out with --client.")
            .detail("operation", operation)
            .detail("path", display_path(&blocked.path).into_owned())
            .detail("reason", blocked.reason.as_str()));
    }
    let changes: Vec<&Change> = plan
        .actions
        .iter()
        .flat_map(|action| &action.changes)
        .collect();
    for change in &changes {
        unchanged(change, operation)?;
    }
    let mut made = Vec::new();
    let staged = stage(&changes, &mut made);
    let mut done = Vec::new();
    let outcome = staged.and_then(|staged| {
        for (change, publisher) in changes.iter().copied().zip(staged) {
            unchanged(change, operation)?;
            done.push(change);
            commit(change, publisher)?;
        }
        Ok(())
    });
    match outcome {
        Ok(()) => {
            remove_empty_folders(plan);
            Ok(Applied {
                actions: plan.actions.clone(),
            })
        }
        Err(error) => Err(undo(error, &done, &made)),
    }
}

fn unchanged(change: &Change, operation: &str) -> Result<()> {
    let path = display_path(&change.file);
    let now = match fs::read(&change.file) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::file_io("read", &path, &error)),
    };
    if now == change.before {
        return Ok(());
    }
    let message = format!("{path} was changed by another program meanwhile; nothing was changed");
    Err(Error::new(Code::ArtifactChanged, message)
        .action("Close the client that writes it, and run this again.")
        .detail("operation", operation)
        .detail("path", path.into_owned()))
}

/// Writes all files beside their places. `made` are folders that it made.
fn stage(changes: &[&Change], made: &mut Vec<PathBuf>) -> Result<Vec<Option<Publisher>>> {
    let mut staged = Vec::with_capacity(changes.len());
    for change in changes {
        let Some(after) = &change.after else {
            staged.push(None);
            continue;
        };
        let path = display_path(&change.file);
        if let Some(folder) = change.file.parent() {
            make_folders(folder, made).map_err(|error| {
                Error::file_io("write", &display_path(folder), &error)
                    .action("Make the folder, or allow writing where it belongs.")
            })?;
        }
        let mut publisher = Publisher::create(&change.file, change.before.is_some())?;
        publisher
            .write_all(after)
            .map_err(|error| Error::file_io("write", &path, &error))?;
        staged.push(Some(publisher));
    }
    Ok(staged)
}

/// Makes a folder and those above it, and remembers each.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folders(above, made)?;
    }
    fs::create_dir(folder)?;
    made.push(folder.to_owned());
    Ok(())
}

fn commit(change: &Change, publisher: Option<Publisher>) -> Result<()> {
    let path = display_path(&change.file);
    let failed = |error: io::Error| Error::file_io("write", &path, &error);
    match publisher {
        None => fs::remove_file(&change.file).map_err(failed)?,
        Some(publisher) => {
            publisher.commit()?;
            restore_mode(change).map_err(failed)?;
        }
    }
    let now = match fs::read(&change.file) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::file_io("read", &path, &error)),
    };
    if now == change.after {
        return Ok(());
    }
    let message = format!("{path} does not hold what was written to it");
    Err(Error::new(Code::ExecutionFailure, message)
        .detail("operation", "write")
        .detail("path", path.into_owned()))
}

fn restore_mode(change: &Change) -> io::Result<()> {
    match change.mode {
        Some(mode) => fs::set_permissions(&change.file, fs::Permissions::from_mode(mode)),
        None => Ok(()),
    }
}

/// Puts back what `done` changed, the last first, and removes the folders that
/// were made.
fn undo(error: Error, done: &[&Change], made: &[PathBuf]) -> Error {
    let mut left = Vec::new();
    for change in done.iter().rev() {
        let path = display_path(&change.file);
        let now = fs::read(&change.file).ok();
        if now == change.before {
            continue;
        }
        // Another program's change is not ours to undo.
        let ours = now == change.after;
        let restored = match &change.before {
            _ if !ours => Err("it was changed by another program".to_owned()),
            None => fs::remove_file(&change.file).map_err(|error| io_reason(&error)),
            Some(bytes) => put_back(change, bytes).map_err(|error| error.message().to_owned()),
        };
        if let Err(reason) = restored {
            left.push(format!("{path} could not be put back: {reason}"));
        }
    }
    for folder in made.iter().rev() {
        // Whatever is in it by now is not ours.
        let _ = fs::remove_dir(folder);
    }
    if left.is_empty() {
        return error.detail("rolled_back", true);
    }
    let message = format!("{}; {}", error.message(), left.join("; "));
    Error::new(Code::CleanupIncomplete, message)
        .action("Compare these files with the copies beside them.")
        .detail("cleanup", "incomplete")
        .detail("rolled_back", false)
}

fn put_back(change: &Change, bytes: &[u8]) -> Result<()> {
    let path = display_path(&change.file);
    let failed = |error: io::Error| Error::file_io("write", &path, &error);
    let mut publisher = Publisher::create(&change.file, true)?;
    publisher.write_all(bytes).map_err(failed)?;
    publisher.commit()?;
    restore_mode(change).map_err(failed)
}

/// The folder of a removed skill goes with it, if nothing else is in it.
fn remove_empty_folders(plan: &Plan) {
    let skills = plan
        .actions
        .iter()
        .filter(|action| matches!(action.kind, Kind::RemoveSkill | Kind::RemoveBackup));
    for action in skills {
        if let Some(folder) = action.path.parent()
            && folder.file_name().is_some_and(|name| name == super::NAME)
        {
            // It stays where somebody else's files are in it.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(file: PathBuf, before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            file,
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            mode: before.map(|_| 0o644),
        }
    }

    fn plan(changes: Vec<Change>) -> Plan {
        let action = Action {
            kind: Kind::Update,
            client: "cursor",
            path: PathBuf::from("x"),
            detail: String::new(),
            backup: None,
            changes,
        };
        Plan {
            actions: vec![action],
            ..Plan::default()
        }
    }

    #[test]
    fn all_changes_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        fs::write(at("gone"), "x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let first = || change(at("a"), Some("1"), Some("2"));
        let new = || change(at("deep/er/b"), None, Some("b"));
        let gone = || change(at("gone"), Some("x"), None);

        // The last cannot be read: it is a folder.
        let wrong = change(at("folder"), None, Some("c"));
        assert!(apply(&plan(vec![first(), new(), gone(), wrong]), "setup").is_err());
        assert_eq!(fs::read(at("a")).unwrap(), b"1");
        assert!(at("gone").exists() && !at("deep").exists());

        // The last fails when the others are in place.
        let done = [first(), new(), gone()];
        let mut made = Vec::new();
        let staged = stage(&done.iter().collect::<Vec<_>>(), &mut made).unwrap();
        for (change, publisher) in done.iter().zip(staged) {
            commit(change, publisher).unwrap();
        }
        assert!(!at("gone").exists() && at("deep/er/b").exists());
        let error = Error::new(Code::ExecutionFailure, "no");
        let error = undo(error, &done.iter().collect::<Vec<_>>(), &made);
        assert_eq!(error.code(), Code::ExecutionFailure);
        assert_eq!(fs::read(at("a")).unwrap(), b"1");
        assert_eq!(fs::read(at("gone")).unwrap(), b"x");
        assert!(!at("deep").exists());

        // What another program wrote meanwhile is kept, and said.
        fs::write(at("a"), "3").unwrap();
        let error = Error::new(Code::ExecutionFailure, "no");
        let error = undo(error, &[&first()], &[]);
        assert_eq!(error.code(), Code::CleanupIncomplete);
        assert_eq!(fs::read(at("a")).unwrap(), b"3");
        let error = apply(&plan(vec![first()]), "setup").unwrap_err();
        assert_eq!(error.code(), Code::ArtifactChanged);

        fs::write(at("a"), "1").unwrap();
        fs::set_permissions(at("a"), fs::Permissions::from_mode(0o644)).unwrap();
        apply(&plan(vec![first(), new(), gone()]), "setup").unwrap();
        assert_eq!(fs::read(at("a")).unwrap(), b"2");
        let mode = fs::metadata(at("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o644);
        let mode = fs::metadata(at("deep/er/b")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert!(!at("gone").exists());
    }
}
