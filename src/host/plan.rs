//! What setting up and removing would change, worked out completely before
//! anything is written.

use std::path::{Path, PathBuf};

use super::clients::{CLIENTS, Client, Homes};
use super::entry::{self, NAME, State};
use super::found::Found;
use super::skill;
use crate::json::{Object, Value};
use crate::publish::display_path;

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Adds our entry.
    Register,
    /// Changes our entry.
    Update,
    /// Takes our entry out.
    Unregister,
    /// Writes the skill.
    InstallSkill,
    /// Replaces an older skill.
    UpdateSkill,
    /// Removes the skill.
    RemoveSkill,
    /// Removes a copy that an earlier run kept.
    RemoveBackup,
}

impl Kind {
    /// The name in plans.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Update => "update",
            Self::Unregister => "unregister",
            Self::InstallSkill => "install_skill",
            Self::UpdateSkill => "update_skill",
            Self::RemoveSkill => "remove_skill",
            Self::RemoveBackup => "remove_backup",
        }
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub kind: Kind,
    /// The id of the client.
    pub client: &'static str,
    /// The file that it is about, as the client knows it.
    pub path: PathBuf,
    /// What changes, in words.
    pub detail: String,
    /// Where what was there before is kept.
    pub backup: Option<PathBuf>,
    pub(super) changes: Vec<Change>,
}

/// A file before and after; `None` is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub file: PathBuf,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
    /// Who may do what with it; for a new file its owner alone.
    pub mode: Option<u32>,
}

/// Why nothing of a plan is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The id of the client.
    pub client: &'static str,
    /// The file that stands in the way.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What there is of ours in a client.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The client.
    pub client: &'static Client,
    /// Whether there are traces of the client.
    pub detected: bool,
    /// The file of its settings.
    pub path: PathBuf,
    /// Our entry.
    pub state: State,
    /// What is odd and does not keep it from working.
    pub notes: Vec<String>,
    /// The skill's file and what there is of it, where the client has skills.
    pub skill: Option<(PathBuf, State)>,
}

/// What would be done.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The clients that it is about.
    pub standings: Vec<Standing>,
    /// In order; empty where nothing is to be done.
    pub actions: Vec<Action>,
    /// Where this is not empty, nothing is done.
    pub blocked: Vec<Blocked>,
}

/// What there is of ours in all clients. `program` is what should be started.
pub fn standings(homes: &Homes, program: &str) -> Vec<Standing> {
    CLIENTS
        .iter()
        .map(|client| standing(client, homes, program))
        .collect()
}

fn standing(client: &'static Client, homes: &Homes, program: &str) -> Standing {
    let path = client.config(homes);
    let mut notes = Vec::new();
    let read = Found::look(&path).and_then(|found| found.settings(client));
    let state = match &read {
        Err(reason) => State::Invalid(reason.clone()),
        Ok(settings) => {
            let ours = entry::find(client, settings.value());
            if let Some(ours) = ours {
                for (name, _) in entry::missing_deadlines(client, Some(ours)) {
                    notes.push(format!("{name} is not set"));
                }
                if entry::is_off(ours) {
                    notes.push("the client has it switched off".to_owned());
                }
            }
            entry::judge(client, settings.value(), program)
        }
    };
    let skill = client.skill(homes).map(|path| {
        let state = match Found::look(&path) {
            Ok(found) => skill::judge(found.bytes.as_deref()),
            Err(reason) => State::Invalid(reason),
        };
        (path, state)
    });
    Standing {
        client,
        detected: client.is_there(homes),
        path,
        state,
        notes,
        skill,
    }
}

/// Registers `program` with `clients`, and installs the skill where `skill`
/// says so and the client has skills.
pub fn setup(homes: &Homes, program: &str, clients: &[&'static Client], skill: bool) -> Plan {
    let mut plan = Plan::default();
    for &client in clients {
        plan.standings.push(standing(client, homes, program));
        let path = client.config(homes);
        match registration(client, &path, program) {
            Ok(action) => plan.actions.extend(action),
            Err(reason) => plan.block(client, path, reason),
        }
        if let Some(path) = client.skill(homes).filter(|_| skill) {
            match installation(client, &path) {
                Ok(action) => plan.actions.extend(action),
                Err(reason) => plan.block(client, path, reason),
            }
        }
    }
    plan
}

impl Plan {
    fn block(&mut self, client: &Client, path: PathBuf, reason: String) {
        self.blocked.push(Blocked {
            client: client.id,
            path,
            reason,
        });
    }
}

fn registration(
    client: &'static Client,
    path: &Path,
    program: &str,
) -> Result<Option<Action>, String> {
    let found = Found::look(path)?;
    let settings = found.settings(client)?;
    let state = entry::judge(client, settings.value(), program);
    if let State::Invalid(reason) = state {
        return Err(format!(
            "{reason}; rename or remove it there if `{NAME}` shall be this program"
        ));
    }
    let ours = entry::find(client, settings.value());
    let members = entry::members(client, ours, program, state == State::Aligned);
    if members.is_empty() {
        return Ok(None);
    }
    found.check_writable()?;
    let after = settings.set(client.path(), &members)?;
    let read = client.read(&after)?;
    let aligned = entry::judge(client, read.value(), program) == State::Aligned;
    if !aligned || others(client, read.value()) != others(client, settings.value()) {
        return Err("it cannot be edited without changing other settings".to_owned());
    }
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let (kind, mut detail) = match ours {
        None => (Kind::Register, format!("adds {NAME} to {}", client.servers)),
        Some(_) => (Kind::Update, format!("sets {} of {NAME}", names.join(", "))),
    };
    if found.bytes.is_none() {
        detail.push_str("; the file is new");
    }
    let copy = found.copy();
    Ok(Some(Action {
        kind,
        client: client.id,
        path: path.to_owned(),
        detail,
        backup: copy.as_ref().map(|copy| copy.file.clone()),
        changes: copy
            .into_iter()
            .chain([found.change(Some(after.into_bytes()))])
            .collect(),
    }))
}

/// Settings without our entry, and without the list if nothing else is in it.
fn others(client: &Client, settings: &Value) -> Value {
    let Value::Object(members) = settings else {
        return settings.clone();
    };
    let mut members: Object = members.clone();
    if let Some(Value::Object(mut servers)) = members.remove(client.servers) {
        servers.remove(NAME);
        if !servers.is_empty() {
            members.insert(client.servers, servers);
        }
    }
    Value::Object(members)
}

fn installation(client: &'static Client, path: &Path) -> Result<Option<Action>, String> {
    let found = Found::look(path)?;
    let (kind, copy) = match skill::judge(found.bytes.as_deref()) {
        State::Aligned => return Ok(None),
        State::Invalid(reason) => return Err(reason),
        State::Missing => (Kind::InstallSkill, None),
        State::Stale(_) => (Kind::UpdateSkill, found.copy()),
    };
    found.check_writable()?;
    Ok(Some(Action {
        kind,
        client: client.id,
        path: path.to_owned(),
        detail: "teaches agents how to work with the tools".to_owned(),
        backup: copy.as_ref().map(|copy| copy.file.clone()),
        changes: copy
            .into_iter()
            .chain([found.change(Some(skill::text().into_bytes()))])
            .collect(),
    }))
}

/// Takes out what is ours of `clients`; with `purge` also the copies that
/// earlier runs kept.
pub fn removal(homes: &Homes, program: &str, clients: &[&'static Client], purge: bool) -> Plan {
    let mut plan = Plan::default();
    for &client in clients {
        plan.standings.push(standing(client, homes, program));
        let config = client.config(homes);
        match unregistration(client, &config, program, purge) {
            Ok(action) => plan.actions.extend(action),
            Err(reason) => plan.block(client, config.clone(), reason),
        }
        let skill = client.skill(homes);
        if let Some(path) = &skill {
            match deinstallation(client, path, purge) {
                Ok(action) => plan.actions.extend(action),
                Err(reason) => plan.block(client, path.clone(), reason),
            }
        }
        if purge {
            for path in [Some(config), skill].into_iter().flatten() {
                plan.purge(client, &path);
            }
        }
    }
    plan
}

impl Plan {
    /// Removes the copies of a file, unless that is planned already.
    fn purge(&mut self, client: &'static Client, path: &Path) {
        // What cannot be looked at was reported before, if it matters.
        let Ok(found) = Found::look(path) else {
            return;
        };
        for file in found.copies() {
            let known = self
                .actions
                .iter()
                .flat_map(|action| &action.changes)
                .any(|change| change.file == file);
            let Ok(copy) = Found::look(&file) else {
                continue;
            };
            if !known {
                self.actions.push(Action {
                    kind: Kind::RemoveBackup,
                    client: client.id,
                    path: file,
                    detail: "removes a copy that an earlier run kept".to_owned(),
                    backup: None,
                    changes: vec![copy.change(None)],
                });
            }
        }
    }
}

fn unregistration(
    client: &'static Client,
    path: &Path,
    program: &str,
    purge: bool,
) -> Result<Option<Action>, String> {
    let found = match Found::look(path) {
        Ok(found) if found.bytes.is_some() => found,
        // Nothing of ours can be in it.
        Ok(_) => return Ok(None),
        Err(reason) => return Err(reason),
    };
    let settings = match found.settings(client) {
        Ok(settings) => settings,
        Err(reason) => {
            let bytes = found.bytes.as_deref().unwrap_or_default();
            let text = String::from_utf8_lossy(bytes);
            let named = [
                format!("\"{NAME}\""),
                format!(".{NAME}"),
                format!("'{NAME}'"),
            ];
            return match named.iter().any(|name| text.contains(name)) {
                true => Err(reason),
                false => Ok(None),
            };
        }
    };
    // Another server of that name is not ours to remove.
    if !matches!(
        entry::judge(client, settings.value(), program),
        State::Aligned | State::Stale(_)
    ) {
        return Ok(None);
    }
    found.check_writable()?;
    let ours = entry::find(client, settings.value()).and_then(entry::command);
    let (detail, after, used) = match undone(client, &found, ours.unwrap_or(program)) {
        Some(Undone::Copy(bytes, copy)) => (
            "restores the file as it was before".to_owned(),
            Some(bytes),
            Some(copy),
        ),
        Some(Undone::New) => (
            "removes the file, which holds nothing else".to_owned(),
            None,
            None,
        ),
        None => {
            let after = settings.remove(client.path())?;
            let read = client.read(&after)?;
            let gone = entry::find(client, read.value()).is_none();
            if !gone || others(client, read.value()) != others(client, settings.value()) {
                return Err("it cannot be edited without changing other settings".to_owned());
            }
            let detail = format!("takes {NAME} out of {}", client.servers);
            (detail, Some(after.into_bytes()), None)
        }
    };
    // What is restored or made anew loses nothing.
    let edited = used.is_none() && after.is_some();
    let copy = found.copy().filter(|_| edited && !purge);
    Ok(Some(Action {
        kind: Kind::Unregister,
        client: client.id,
        path: path.to_owned(),
        detail,
        backup: copy.as_ref().map(|copy| copy.file.clone()),
        changes: copy
            .into_iter()
            .chain([found.change(after)])
            .chain(used)
            .collect(),
    }))
}

enum Undone {
    /// The bytes as they were, and the copy of them that is no longer needed.
    Copy(Vec<u8>, Change),
    /// There was no file.
    New,
}

/// What the file was before, where registering with it gives exactly what is
/// there now.
fn undone(client: &Client, found: &Found, command: &str) -> Option<Undone> {
    let members = entry::members(client, None, command, false);
    let now = found.text().ok()?;
    let gives = |text: &str| {
        let settings = client.read(text).ok()?;
        let missing = entry::judge(client, settings.value(), command) == State::Missing;
        let after = settings.set(client.path(), &members).ok()?;
        (missing && after == now).then_some(())
    };
    for path in found.copies() {
        let Ok(copy) = Found::look(&path) else {
            continue;
        };
        if copy.text().ok().and_then(gives).is_some() {
            let bytes = copy.bytes.clone()?;
            return Some(Undone::Copy(bytes, copy.change(None)));
        }
    }
    gives("").map(|()| Undone::New)
}

fn deinstallation(
    client: &'static Client,
    path: &Path,
    purge: bool,
) -> Result<Option<Action>, String> {
    let found = Found::look(path)?;
    let copy = match skill::judge(found.bytes.as_deref()) {
        State::Missing | State::Invalid(_) => return Ok(None),
        State::Aligned => None,
        State::Stale(_) => found.copy().filter(|_| !purge),
    };
    found.check_writable()?;
    Ok(Some(Action {
        kind: Kind::RemoveSkill,
        client: client.id,
        path: path.to_owned(),
        detail: "removes the skill".to_owned(),
        backup: copy.as_ref().map(|copy| copy.file.clone()),
        changes: copy.into_iter().chain([found.change(None)]).collect(),
    }))
}

impl Action {
    /// What it does, as one sentence.
    pub fn sentence(&self) -> String {
        let mut text = format!("{}: {}", display_path(&self.path), self.detail);
        if let Some(backup) = &self.backup {
            text.push_str(&format!("; a copy stays as {}", display_path(backup)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "{\r\n\t// a\r\n\t\"mcpServers\": {\"x\": [1, {}], /* b */ \"y\": \"z\\\"\",},\r\n\t\"q\": {}, \"r\": [],\r\n}\r\n";
    const LINES: &str = "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"rea\": {\n      \"command\": \"/p/rea\"\n    },\n    \"z\": {}\n  }\n}\n";
    const TOML: &str = "# a\nx = 'y' # b\n[mcp_servers.c] # d\ne = [1,\n 2]\n\n[mcp_servers.rea.env]\nA = \"1\"\n# f\n[[g]]\nh = {i = 1}\n";

    /// Whatever stands in a file: it is refused, or nothing but our entry
    /// changes when that is set and taken out again.
    fn holds(client: &Client, text: &str) -> bool {
        let Ok(settings) = client.read(text) else {
            return false;
        };
        let ours = entry::find(client, settings.value());
        let members = entry::members(client, ours, "/p/rea", false);
        let Ok(after) = settings.set(client.path(), &members) else {
            return false;
        };
        // Some TOML is only seen to lose formatting once it was written: a plan
        // reads what it would write, and refuses it then.
        let toml = client.format == crate::host::clients::Format::Toml;
        let read = match client.read(&after) {
            Err(_) if toml => return false,
            read => read.unwrap_or_else(|reason| panic!("{reason}\n{text}\n---\n{after}")),
        };
        assert_eq!(
            others(client, read.value()),
            others(client, settings.value()),
            "{text}\n---\n{after}"
        );
        let found = entry::find(client, read.value()).and_then(entry::command);
        let elsewhere = ours.is_some_and(|ours| entry::command(ours).is_none());
        assert!(found == Some("/p/rea") || elsewhere, "{text}\n---\n{after}");
        let without = read.remove(client.path()).unwrap();
        let left = match client.read(&without) {
            Err(_) if toml => return false,
            left => left.unwrap_or_else(|reason| panic!("{reason}\n{after}\n---\n{without}")),
        };
        assert!(entry::find(client, left.value()).is_none());
        assert_eq!(
            others(client, left.value()),
            others(client, settings.value()),
            "{after}\n---\n{without}"
        );
        true
    }

    #[test]
    fn damaged_settings_are_refused_or_edited_without_harm() {
        let mut edited = 0;
        for (id, text) in [("gemini-cli", JSON), ("gemini-cli", LINES), ("codex", TOML)] {
            let client = Client::find(id).unwrap();
            assert!(holds(client, text), "{text}");
            for at in 0..text.len() {
                let (before, after) = (&text[..at], &text[at + 1..]);
                edited += usize::from(holds(client, before));
                edited += usize::from(holds(client, &format!("{before}{after}")));
                for byte in "{}[],:\"/*#=.\n\r a1'".chars() {
                    edited += usize::from(holds(client, &format!("{before}{byte}{after}")));
                    edited += usize::from(holds(client, &format!("{before}{byte}{}", &text[at..])));
                }
            }
        }
        assert!(edited > 1000, "{edited}");
    }
}
