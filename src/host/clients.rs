//! Clients that start servers, and where each keeps its list of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::json_text::{Item, JsonText};
use super::toml_text::TomlText;
use crate::error::{Code, Error, Result};
use crate::json::Value;

/// A client.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// What `--client` calls it.
    pub id: &'static str,
    /// What it calls itself.
    pub name: &'static str,
    pub(super) format: Format,
    /// The member of its settings that holds servers.
    pub(super) servers: &'static str,
    /// Whether an entry says that it is `stdio`.
    pub(super) typed: bool,
    /// Deadlines that an entry of ours must have, with what is supplied where
    /// it has none that is positive.
    pub(super) deadlines: &'static [(&'static str, u64)],
    config: fn(&Homes) -> PathBuf,
    marker: fn(&Homes) -> PathBuf,
    skills: fn(&Homes) -> Option<PathBuf>,
}

/// How settings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    /// JSON with comments and trailing commas, which the client reads.
    Commented,
    Toml,
}

/// Seconds in which the server must have started.
const STARTUP_SECONDS: u64 = 30;
/// Seconds that a call may take: what an external engine needs to start, which
/// is nothing here, and two minutes.
const CALL_SECONDS: u64 = 120;
/// Gemini CLI's own allowance, in milliseconds, said explicitly.
const GEMINI_MILLISECONDS: u64 = 600_000;

/// All clients, in the order in which they are listed.
pub static CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        format: Format::Json,
        servers: "mcpServers",
        typed: true,
        deadlines: &[],
        config: |homes| match &homes.claude {
            Some(folder) => folder.join(".claude.json"),
            None => homes.home.join(".claude.json"),
        },
        marker: |homes| match &homes.claude {
            Some(folder) => folder.clone(),
            None => homes.home.join(".claude"),
        },
        skills: |homes| match &homes.claude {
            Some(folder) => Some(folder.join("skills")),
            None => Some(homes.home.join(".claude/skills")),
        },
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        format: Format::Json,
        servers: "mcpServers",
        typed: false,
        deadlines: &[],
        config: |homes| homes.applications.join("Claude/claude_desktop_config.json"),
        marker: |homes| homes.applications.join("Claude"),
        skills: |_| None,
    },
    Client {
        id: "codex",
        name: "Codex",
        format: Format::Toml,
        servers: "mcp_servers",
        typed: false,
        deadlines: &[
            ("startup_timeout_sec", STARTUP_SECONDS),
            ("tool_timeout_sec", CALL_SECONDS),
        ],
        config: |homes| homes.codex.join("config.toml"),
        marker: |homes| homes.codex.clone(),
        skills: |homes| Some(homes.codex.join("skills")),
    },
    Client {
        id: "cursor",
        name: "Cursor",
        format: Format::Json,
        servers: "mcpServers",
        typed: false,
        deadlines: &[],
        config: |homes| homes.home.join(".cursor/mcp.json"),
        marker: |homes| homes.home.join(".cursor"),
        skills: |homes| Some(homes.home.join(".cursor/skills")),
    },
    Client {
        id: "gemini-cli",
        name: "Gemini CLI",
        format: Format::Commented,
        servers: "mcpServers",
        typed: false,
        deadlines: &[("timeout", GEMINI_MILLISECONDS)],
        config: |homes| homes.home.join(".gemini/settings.json"),
        marker: |homes| homes.home.join(".gemini"),
        skills: |homes| Some(homes.home.join(".gemini/skills")),
    },
    Client {
        id: "vscode",
        name: "VS Code",
        format: Format::Commented,
        servers: "servers",
        typed: true,
        deadlines: &[],
        config: |homes| homes.applications.join("Code/User/mcp.json"),
        marker: |homes| homes.applications.join("Code"),
        skills: |homes| Some(homes.home.join(".copilot/skills")),
    },
    Client {
        id: "windsurf",
        name: "Windsurf",
        format: Format::Json,
        servers: "mcpServers",
        typed: false,
        deadlines: &[],
        config: |homes| homes.home.join(".codeium/windsurf/mcp_config.json"),
        marker: |homes| homes.home.join(".codeium/windsurf"),
        skills: |homes| Some(homes.home.join(".codeium/windsurf/skills")),
    },
];

impl Client {
    /// The client of that id.
    pub fn find(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// The file of its settings.
    pub fn config(&self, homes: &Homes) -> PathBuf {
        (self.config)(homes)
    }

    /// Whether there are traces of it.
    pub fn is_there(&self, homes: &Homes) -> bool {
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        exists(&(self.marker)(homes)) || exists(&self.config(homes))
    }

    /// Where its skill of ours is, if it has skills.
    pub fn skill(&self, homes: &Homes) -> Option<PathBuf> {
        Some((self.skills)(homes)?.join(super::NAME).join("SKILL.md"))
    }

    /// Reads its settings.
    pub(super) fn read(&self, text: &str) -> std::result::Result<Settings, String> {
        Ok(match self.format {
            Format::Json => Settings::Json(JsonText::read(text, false)?),
            Format::Commented => Settings::Json(JsonText::read(text, true)?),
            Format::Toml => Settings::Toml(TomlText::read(text)?),
        })
    }

    pub(super) fn path(&self) -> [&'static str; 2] {
        [self.servers, super::NAME]
    }
}

/// The settings of a client, to be edited.
pub(super) enum Settings {
    Json(JsonText),
    Toml(TomlText),
}

impl Settings {
    pub fn value(&self) -> &Value {
        match self {
            Self::Json(text) => text.value(),
            Self::Toml(text) => text.value(),
        }
    }

    pub fn set(
        &self,
        path: [&'static str; 2],
        members: &[(&'static str, Item)],
    ) -> std::result::Result<String, String> {
        match self {
            Self::Json(text) => text.set(path, members),
            Self::Toml(text) => text.set(path, members),
        }
    }

    pub fn remove(&self, path: [&'static str; 2]) -> std::result::Result<String, String> {
        match self {
            Self::Json(text) => text.remove(path),
            Self::Toml(text) => text.remove(path),
        }
    }
}

/// The folders in which clients keep things.
#[derive(Clone, Debug)]
pub struct Homes {
    /// The user's own.
    pub home: PathBuf,
    applications: PathBuf,
    codex: PathBuf,
    claude: Option<PathBuf>,
}

impl Homes {
    /// The folders that the environment names: HOME, XDG_CONFIG_HOME (not on
    /// macOS), CODEX_HOME and CLAUDE_CONFIG_DIR.
    ///
    /// # Errors
    /// `configuration_invalid` where HOME is no absolute path.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let folder = |name: &str| {
            let path = PathBuf::from(variable(name)?);
            // As the XDG specification wants it: a relative path is no setting.
            path.is_absolute().then_some(path)
        };
        let home = folder("HOME").ok_or_else(|| {
            Error::new(
                Code::ConfigurationInvalid,
                "HOME names no folder; the settings of clients cannot be found",
            )
            .action("Set HOME to the path of your home folder, from the root.")
        })?;
        let applications = match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support"),
            false => folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        };
        Ok(Self {
            applications,
            codex: folder("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            claude: folder("CLAUDE_CONFIG_DIR"),
            home,
        })
    }
}
