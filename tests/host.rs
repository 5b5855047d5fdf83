//! The commands about this machine, on homes made for the purpose.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Files of a home: path below it, text.
type Files = BTreeMap<String, String>;

struct Home(tempfile::TempDir);

#[cfg(target_os = "macos")]
const DESKTOP: &str = "Library/Application Support/Claude/claude_desktop_config.json";
#[cfg(not(target_os = "macos"))]
const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
#[cfg(target_os = "macos")]
const VSCODE: &str = "Library/Application Support/Code/User/mcp.json";
#[cfg(not(target_os = "macos"))]
const VSCODE: &str = ".config/Code/User/mcp.json";

const CONFIGS: [(&str, &str); 7] = [
    ("claude-code", ".claude.json"),
    ("claude-desktop", DESKTOP),
    ("codex", ".codex/config.toml"),
    ("cursor", ".cursor/mcp.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("vscode", VSCODE),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
];

fn program() -> String {
    let path = Path::new(env!("CARGO_BIN_EXE_rea")).canonicalize().unwrap();
    path.to_str().unwrap().to_owned()
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            home.write(path, text);
        }
        home
    }

    /// Folders of clients that were never started.
    fn with_folders() -> Self {
        let home = Self::new(&[]);
        fs::create_dir_all(home.at(".claude")).unwrap();
        for (_, config) in &CONFIGS[1..] {
            fs::create_dir_all(home.at(config).parent().unwrap()).unwrap();
        }
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn files(&self) -> Files {
        fn walk(root: &Path, folder: &Path, files: &mut Files) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(root, &path, files);
                } else {
                    let name = path
                        .strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned();
                    files.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mut files = Files::new();
        walk(self.0.path(), self.0.path(), &mut files);
        files
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rea"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.0.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let output = self.command(arguments).output().unwrap();
        let text = if output.stdout.is_empty() {
            &output.stderr
        } else {
            &output.stdout
        };
        let document = serde_json::from_slice(text)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(text)));
        (output.status.code(), document)
    }

    fn setup(&self, more: &[&str]) -> Value {
        let (status, document) = self.run(&[&["setup", "--yes"], more].concat());
        assert_eq!(status, Some(0), "{document}");
        document
    }

    fn uninstall(&self, more: &[&str]) -> Value {
        let (status, document) = self.run(&[&["uninstall", "--yes"], more].concat());
        assert_eq!(status, Some(0), "{document}");
        document
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn states(document: &Value) -> BTreeMap<&str, &str> {
    let clients = document["clients"].as_array().unwrap().iter();
    clients
        .map(|client| {
            (
                client["client"].as_str().unwrap(),
                client["state"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_fresh_home_gets_entries_and_loses_them_again() {
    let home = Home::with_folders();
    let done = home.setup(&["--all-detected", "--skill"]);
    assert_eq!(done["status"], "applied");
    assert_eq!(done["plannedActions"], done["appliedActions"]);
    assert_eq!(done["doctor"]["healthy"], true, "{done}");
    assert_eq!(states(&done).len(), 7);
    assert!(states(&done).values().all(|state| *state == "aligned"));

    for (client, path) in CONFIGS.iter().filter(|(client, _)| *client != "codex") {
        let text = home.read(path);
        let servers = if *client == "vscode" {
            "servers"
        } else {
            "mcpServers"
        };
        let entry = &json(&text)[servers]["rea"];
        assert_eq!(entry["command"], program(), "{client}");
        assert_eq!(entry["args"], json(r#"["mcp"]"#), "{client}");
        let typed = matches!(*client, "claude-code" | "vscode");
        assert_eq!(entry["type"] == "stdio", typed, "{client}");
        assert_eq!(entry["timeout"] == 600_000, *client == "gemini-cli");
        let mode = fs::metadata(home.at(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{client}");
    }
    let expected = format!(
        "[mcp_servers.rea]\ncommand = \"{}\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 30\ntool_timeout_sec = 120\n",
        program()
    );
    assert_eq!(home.read(".codex/config.toml"), expected);
    let skill = home.read(".claude/skills/rea/SKILL.md");
    assert!(skill.starts_with("---\nname: rea\n"), "{skill}");

    let before = home.files();
    let again = home.setup(&["--all-detected", "--skill"]);
    assert_eq!(again["status"], "unchanged");
    assert_eq!(again["plannedActions"], json("[]"));
    assert_eq!(home.files(), before);

    assert_eq!(home.uninstall(&[])["status"], "applied");
    assert!(home.files().is_empty(), "{:?}", home.files().keys());
    assert!(!home.at(".claude/skills/rea").exists());
    assert_eq!(home.uninstall(&[])["status"], "unchanged");
}

/// Settings as people have them: other servers, comments, odd formatting.
const LIVED_IN: [(&str, &str); 7] = [
    (
        ".claude.json",
        "{\n  \"numStartups\": 5,\n  \"mcpServers\": {\n    \"other\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"x\"\n      ],\n      \"env\": {}\n    }\n  },\n  \"projects\": {\"/p\": {\"mcpServers\": {\"rea\": {\"command\": \"mine\"}}}}\n}",
    ),
    (
        DESKTOP,
        "{\"globalShortcut\":\"\",\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
    ),
    (
        ".codex/config.toml",
        "# my settings\nmodel = \"o\"  # the one\n\n[mcp_servers.docs]\ncommand = \"docs\"   # local\nargs = []\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
    ),
    (".cursor/mcp.json", "{\r\n\t\"mcpServers\": {}\r\n}\r\n"),
    (
        ".gemini/settings.json",
        "{\n  // how it looks\n  \"theme\": \"Default\",\n}\n",
    ),
    (
        VSCODE,
        "// servers of mine\n{\n\t\"servers\": {\n\t\t\"git\": { \"type\": \"stdio\", \"command\": \"uvx\" }, // git\n\t\t/* more to come */\n\t},\n\t\"inputs\": [],\n}\n",
    ),
    (".codeium/windsurf/mcp_config.json", ""),
];

#[test]
fn what_others_wrote_stays_and_comes_back_byte_for_byte() {
    let home = Home::new(&LIVED_IN);
    fs::set_permissions(
        home.at(".cursor/mcp.json"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    let before = home.files();
    let done = home.setup(&[]);
    assert_eq!(done["status"], "applied");
    assert_eq!(states(&done).len(), 7);

    // Every line that was there is still there, in order, but for commas.
    for (path, text) in &LIVED_IN {
        let after = home.read(path);
        let mut lines = after.lines();
        for line in text.lines().filter(|_| *path != DESKTOP) {
            let wanted = line
                .trim_end_matches(['\r', '}', ' '])
                .trim_end_matches('{');
            let found = lines.any(|found| found.starts_with(wanted));
            assert!(found, "{path}: {line:?} is gone\n{after}");
        }
        assert_eq!(home.read(&format!("{path}.rea-backup-1")), *text);
    }
    let projects = &json(&home.read(".claude.json"))["projects"];
    assert_eq!(projects["/p"]["mcpServers"]["rea"]["command"], "mine");
    let mode = fs::metadata(home.at(".cursor/mcp.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
    assert_eq!(home.setup(&[])["status"], "unchanged");

    assert_eq!(home.uninstall(&[])["status"], "applied");
    assert_eq!(home.files(), before);
}

#[test]
fn changes_since_survive_and_copies_stay_until_they_are_purged() {
    let home = Home::new(&LIVED_IN);
    home.setup(&[]);
    let text = home
        .read(".claude.json")
        .replace("\"numStartups\": 5", "\"numStartups\": 6");
    home.write(".claude.json", &text);
    home.write(
        ".codex/config.toml",
        &(home.read(".codex/config.toml") + "\n[tui]\nnotifications = true\n"),
    );
    home.uninstall(&[]);
    let left = json(&home.read(".claude.json"));
    assert_eq!(left["numStartups"], 6);
    assert!(left["mcpServers"]["rea"].is_null() && left["mcpServers"]["other"].is_object());
    let expected = LIVED_IN[2].1.to_owned() + "\n[tui]\nnotifications = true\n";
    assert_eq!(home.read(".codex/config.toml"), expected);
    assert!(home.at(".claude.json.rea-backup-1").exists());
    assert!(home.at(".claude.json.rea-backup-2").exists());

    home.uninstall(&["--purge-data"]);
    let names: Vec<String> = home.files().into_keys().collect();
    assert!(names.iter().all(|name| !name.contains("rea")), "{names:?}");
    assert_eq!(names.len(), 7);
}

#[test]
fn an_older_entry_is_updated_and_keeps_what_the_user_gave_it() {
    let home = Home::new(&[
        (
            ".cursor/mcp.json",
            "{\"mcpServers\": {\"rea\": {\"command\": \"/old/bin/rea\", \"args\": [\"mcp\"], \"env\": {\"REA_LOG_LEVEL\": \"warn\"}}}}",
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.rea]\ncommand = \"/old/bin/rea\" # here\nargs = [\"mcp\"]\ntool_timeout_sec = 900\nenv = { REA_LOG_LEVEL = \"warn\" }\n",
        ),
    ]);
    let (status, plan) = home.run(&["setup", "--dry-run"]);
    assert_eq!(status, Some(0));
    assert_eq!(plan["status"], "planned");
    assert_eq!(states(&plan)["cursor"], "stale");
    home.setup(&[]);
    let entry = &json(&home.read(".cursor/mcp.json"))["mcpServers"]["rea"];
    assert_eq!(entry["command"], program());
    assert_eq!(entry["env"]["REA_LOG_LEVEL"], "warn");
    let expected = format!(
        "[mcp_servers.rea]\ncommand = \"{}\" # here\nargs = [\"mcp\"]\ntool_timeout_sec = 900\nenv = {{ REA_LOG_LEVEL = \"warn\" }}\nstartup_timeout_sec = 30\n",
        program()
    );
    assert_eq!(home.read(".codex/config.toml"), expected);
}

#[test]
fn a_deadline_that_is_missing_is_supplied() {
    let text = format!(
        "[mcp_servers.rea]\ncommand = \"{}\"\nargs = [\"mcp\"]\ntool_timeout_sec = 0\n",
        program()
    );
    let home = Home::new(&[(".codex/config.toml", &text)]);
    let (_, plan) = home.run(&["setup", "--json"]);
    assert_eq!(states(&plan)["codex"], "aligned");
    assert_eq!(plan["plannedActions"][0]["action"], "update");
    let (_, doctor) = home.run(&["doctor"]);
    assert_eq!(doctor["informational_drift_count"], 1);
    home.setup(&[]);
    let after = home.read(".codex/config.toml");
    assert!(
        after.contains("tool_timeout_sec = 120\nstartup_timeout_sec = 30\n"),
        "{after}"
    );
}

#[test]
fn one_file_that_is_refused_keeps_all_others_from_changing() {
    for (path, text, reason) in [
        (".cursor/mcp.json", "{\"mcpServers\": {", "malformed"),
        (".cursor/mcp.json", "{ // a comment\n}", "malformed"),
        (".cursor/mcp.json", "{\"a\": 1, \"a\": 2}", "malformed"),
        (".cursor/mcp.json", "[]", "malformed"),
        (
            ".cursor/mcp.json",
            "{\"mcpServers\": []}",
            "no list of servers",
        ),
        (
            ".cursor/mcp.json",
            "{\"mcpServers\": {\"rea\": {\"url\": \"http://x\"}}}",
            "another kind",
        ),
        (
            ".cursor/mcp.json",
            "{\"mcpServers\": {\"rea\": {\"command\": \"node\"}}}",
            "another program",
        ),
        (".codex/config.toml", "[mcp_servers", "malformed"),
        (
            ".codex/config.toml",
            "mcp_servers = 1\n",
            "no list of servers",
        ),
        (".gemini/settings.json", "{ /* no end }", "malformed"),
    ] {
        let home = Home::new(&[(".claude.json", "{}"), (".cursor/mcp.json", "{}")]);
        home.write(path, text);
        let before = home.files();
        for more in [&["--yes"][..], &["--json"]] {
            let (status, document) = home.run(&[&["setup"], more].concat());
            assert_eq!(status, Some(1), "{text}");
            assert_eq!(document["status"], "blocked");
            let said = document["blocked"][0]["reason"].as_str().unwrap();
            assert!(said.contains(reason), "{said}");
            assert!(
                document["blocked"][0]["path"]
                    .as_str()
                    .unwrap()
                    .ends_with(path)
            );
        }
        assert_eq!(home.files(), before);
        // The others are done where it is left out.
        home.setup(&["--client", "claude-code"]);
        assert!(home.read(".claude.json").contains("rea"));
        assert_eq!(home.read(path), text);
    }
}

#[test]
fn links_are_followed_and_stay() {
    let home = Home::new(&[("dotfiles/mcp.json", "{\n  \"mcpServers\": {}\n}\n")]);
    fs::create_dir_all(home.at(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.at(".cursor/mcp.json")).unwrap();
    home.setup(&[]);
    assert!(home.at(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/mcp.json").contains(&program()));
    home.uninstall(&[]);
    assert!(home.at(".cursor/mcp.json").is_symlink());
    assert_eq!(
        home.read("dotfiles/mcp.json"),
        "{\n  \"mcpServers\": {}\n}\n"
    );

    let home = Home::new(&[]);
    fs::create_dir_all(home.at(".cursor")).unwrap();
    symlink("nowhere", home.at(".cursor/mcp.json")).unwrap();
    let (status, document) = home.run(&["setup", "--yes"]);
    assert_eq!(status, Some(1));
    let said = document["blocked"][0]["reason"].as_str().unwrap();
    assert!(said.contains("link to nowhere"), "{said}");
}

#[test]
fn a_file_that_is_protected_is_not_replaced() {
    let home = Home::new(&[(".claude.json", "{}"), (".cursor/mcp.json", "{}")]);
    let protected = fs::Permissions::from_mode(0o444);
    fs::set_permissions(home.at(".cursor/mcp.json"), protected).unwrap();
    let (status, document) = home.run(&["setup", "--yes"]);
    assert_eq!(status, Some(1));
    assert_eq!(document["blocked"][0]["reason"], "it is read-only");
    assert_eq!(home.read(".claude.json"), "{}");

    let home = Home::new(&[(".claude.json", "{}")]);
    fs::create_dir_all(home.at(".cursor/mcp.json")).unwrap();
    let (status, document) = home.run(&["setup", "--yes"]);
    assert_eq!(status, Some(1));
    assert_eq!(document["blocked"][0]["reason"], "it is no regular file");
    assert_eq!(home.read(".claude.json"), "{}");
}

#[test]
fn nobody_is_asked_in_a_pipe_and_a_plan_changes_nothing() {
    let home = Home::with_folders();
    let (status, error) = home.run(&["setup"]);
    assert_eq!(status, Some(1));
    assert_eq!(error["error"]["code"], "invalid_request");
    for plan in [
        &["setup", "--json"][..],
        &["setup", "--dry-run"],
        &["setup", "--json", "--yes"],
    ] {
        let (status, document) = home.run(plan);
        assert_eq!(status, Some(0));
        assert_eq!(document["status"], "planned");
        assert_eq!(document["plannedActions"].as_array().unwrap().len(), 7);
        assert_eq!(document["appliedActions"], json("[]"));
    }
    assert!(home.files().is_empty());

    let empty = Home::new(&[]);
    let (status, document) = empty.run(&["setup", "--yes"]);
    assert_eq!(
        (status, &document["status"]),
        (Some(0), &json("\"unchanged\""))
    );
    assert!(
        document["remediation"]
            .as_str()
            .unwrap()
            .contains("--client")
    );
    // A client that is named is registered with, found or not.
    empty.setup(&["--client", "windsurf"]);
    assert!(empty.read(CONFIGS[6].1).contains(&program()));

    let mut homeless = Home::new(&[]).command(&["setup", "--yes"]);
    let output = homeless.env("HOME", "relative").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME"));
}

/// XDG_CONFIG_HOME is not for macOS.
#[cfg(not(target_os = "macos"))]
#[test]
fn folders_that_the_environment_names_are_used() {
    let home = Home::new(&[]);
    let mut command = home.command(&["setup", "--yes", "--client", "codex", "--client", "vscode"]);
    command
        .env("CODEX_HOME", home.at("c"))
        .env("XDG_CONFIG_HOME", home.at("x"));
    assert!(command.output().unwrap().status.success());
    let mut command = home.command(&["setup", "--yes", "--client", "claude-code", "--skill"]);
    command.env("CLAUDE_CONFIG_DIR", home.at("l"));
    assert!(command.output().unwrap().status.success());
    let names: Vec<String> = home.files().into_keys().collect();
    let expected = [
        "c/config.toml",
        "l/.claude.json",
        "l/skills/rea/SKILL.md",
        "x/Code/User/mcp.json",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_skill_that_is_not_ours_is_not_touched() {
    let mine = ".claude/skills/rea/SKILL.md";
    let home = Home::new(&[(mine, "# my own\n")]);
    let (status, document) = home.run(&["setup", "--yes", "--skill"]);
    assert_eq!(status, Some(1), "{document}");
    assert!(!home.at(".claude.json").exists());
    home.setup(&[]);
    home.uninstall(&["--purge-data"]);
    assert_eq!(
        home.files(),
        Files::from([(mine.to_owned(), "# my own\n".to_owned())])
    );
}

#[test]
fn doctor_tells_what_decides_from_what_is_merely_odd() {
    let home = Home::new(&[(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\"rea\": {\"command\": \"/old/rea\", \"args\": [\"mcp\"]}}}",
    )]);
    let (status, document) = home.run(&["doctor"]);
    assert_eq!(status, Some(0), "{document}");
    assert_eq!(document["healthy"], true);
    assert_eq!(document["scope"], "audit-wide");
    assert_eq!(document["informational_drift_count"], 1);
    assert_eq!(document["live_server"]["state"], "unknown");
    assert_eq!(document["providers"][0]["available"], true);
    assert_eq!(document["registrations"].as_array().unwrap().len(), 7);

    let (status, document) = home.run(&["doctor", "--client", "cursor", "--detail", "summary"]);
    assert_eq!(status, Some(1));
    assert_eq!(document["scope"], "explicit");
    assert_eq!(document["environment_healthy"], true);
    let failed = &document["failed_scope_checks"];
    assert_eq!(failed.as_array().unwrap().len(), 1);
    assert_eq!(failed[0]["name"], "client:cursor");
    assert_eq!(failed[0]["classification"], "config_drift");
    assert!(document["checks"].is_null());
    home.setup(&["--skill"]);
    let (status, _) = home.run(&["doctor", "--client", "cursor", "--skill"]);
    assert_eq!(status, Some(0));

    for (arguments, class) in [
        (&["--provider", "ghidra"][..], "missing_analysis_engine"),
        (&["--target", "/no/such"], "missing_dependency"),
        (&["--client", "codex"], "config_drift"),
    ] {
        let (status, document) = home.run(&[&["doctor"], arguments].concat());
        assert_eq!(status, Some(1));
        assert_eq!(document["failed_scope_checks"][0]["classification"], class);
    }
    let rea = program();
    let (status, _) = home.run(&["doctor", "--target", &rea]);
    assert_eq!(status, Some(0));
    let config = home.at(".cursor/mcp.json");
    let config = config.to_str().unwrap();
    let (status, _) = home.run(&["doctor", "--target", config]);
    assert_eq!(status, Some(0));
    let provider = document_of(home.command(&["providers"]).output().unwrap());
    let id = provider["analysis_provider_candidates"][0]["provider"]["id"]
        .as_str()
        .unwrap();
    let (status, document) = home.run(&["doctor", "--target", config, "--provider", id]);
    assert_eq!(status, Some(1), "{document}");

    // The machine.
    let output = home
        .command(&["doctor"])
        .env("TMPDIR", "/no/such")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let document = document_of(output);
    assert_eq!(document["environment_healthy"], false);
    assert_eq!(
        document["failed_scope_checks"][0]["name"],
        "temporary_space"
    );
    let output = home
        .command(&["doctor"])
        .env("MCP_PORT", "x")
        .output()
        .unwrap();
    let document = document_of(output);
    assert_eq!(document["failed_scope_checks"][0]["name"], "settings");
    assert_eq!(
        document["failed_scope_checks"][0]["classification"],
        "config_drift"
    );
    let script = format!("ulimit -n 64; exec '{rea}' doctor");
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).env("HOME", home.0.path());
    let document = document_of(limited.output().unwrap());
    assert_eq!(document["failed_scope_checks"][0]["name"], "open_files");
}

/// Runs it on a terminal whose user types `typed`; what was seen.
fn on_a_terminal(mut command: Command, typed: &str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let control = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&control).unwrap();
    unlockpt(&control).unwrap();
    let name = ptsname(&control, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let terminal = rustix::fs::open(&name, flags, rustix::fs::Mode::empty()).unwrap();
    let mut control = fs::File::from(control);
    control.write_all(typed.as_bytes()).unwrap();
    let mut child = command
        .env("TERM", "dumb")
        .stdin(terminal.try_clone().unwrap())
        .stdout(terminal.try_clone().unwrap())
        .stderr(terminal)
        .spawn()
        .unwrap();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut seen = Vec::new();
    // Linux says EIO, others the end, once the program has closed its side.
    let _ = control.read_to_end(&mut seen);
    let seen = String::from_utf8(seen).unwrap().replace("\r\n", "\n");
    (child.wait().unwrap().code(), seen)
}

#[test]
fn a_person_sees_the_plan_and_is_asked() {
    let home = Home::new(&[(".claude.json", "{}"), (".cursor/mcp.json", "{}")]);
    let before = home.files();
    let (status, seen) = on_a_terminal(home.command(&["setup", "--all-detected"]), "what\nn\n");
    assert_eq!(status, Some(0), "{seen}");
    assert_eq!(seen.matches("Do this? [Y/n]").count(), 2, "{seen}");
    assert!(
        seen.find("adds rea").unwrap() < seen.find("Do this?").unwrap(),
        "{seen}"
    );
    assert!(seen.contains("rea setup: declined"), "{seen}");
    assert_eq!(home.files(), before);

    // One by one; an empty line is yes.
    let (_, seen) = on_a_terminal(home.command(&["setup"]), "n\n\n");
    assert!(seen.contains("Do this for Claude Code?"), "{seen}");
    assert!(seen.contains("rea setup: applied"), "{seen}");
    assert_eq!(home.read(".claude.json"), "{}");
    assert!(home.read(".cursor/mcp.json").contains(&program()));
    // The end of input is no agreement.
    let (status, seen) = on_a_terminal(home.command(&["uninstall"]), "\u{4}");
    assert_eq!(status, Some(0), "{seen}");
    assert!(seen.contains("rea uninstall: declined"), "{seen}");
    let (_, seen) = on_a_terminal(home.command(&["uninstall"]), "y\n");
    assert!(seen.contains("rea uninstall: applied"), "{seen}");
    assert_eq!(home.files(), before);
}

fn document_of(output: Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_server_is_started_and_checked() {
    let home = Home::new(&[]);
    let (status, document) = home.run(&["mcp", "doctor"]);
    assert_eq!(status, Some(0), "{document}");
    assert_eq!(document["healthy"], true);
    assert_eq!(document["adapter"], "production-stdio");
    let tools = &document["inventory"]["tools"];
    assert_eq!(tools["expected"], tools["observed"]);
    assert!(tools["expected"].as_u64().unwrap() > 20);
    assert_eq!(document["inventory"]["prompts"]["missing"], json("[]"));
    assert_eq!(document["identity"]["alignment"]["state"], "aligned");
    let flow = document["request_flow"].as_array().unwrap().iter();
    let methods: Vec<&str> = flow.map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(
        methods,
        ["initialize", "tools/list", "prompts/list", "tools/call"]
    );
    let (_, catalog) = home.run(&["catalog"]);
    assert_eq!(catalog["catalog"], document["identity"]["catalog"]);
    let (_, capabilities) = home.run(&["capabilities"]);
    assert_eq!(
        catalog["catalog"],
        capabilities["server_identity"]["catalog"]
    );

    // A server that does not start says why.
    let output = home
        .command(&["mcp", "doctor"])
        .env("REA_LOG_LEVEL", "loud")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let document = document_of(output);
    assert_eq!(document["healthy"], false);
    let said = document["diagnostics"]["stderr"].as_str().unwrap();
    assert!(said.contains("REA_LOG_LEVEL"), "{said}");
    assert_eq!(
        home.command(&["mcp", "doctor", "--http"])
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_target_decides_what_is_available() {
    let home = Home::new(&[("notes.txt", "text")]);
    let notes = home.at("notes.txt");
    let (_, document) = home.run(&["capabilities", "--target", notes.to_str().unwrap()]);
    assert_eq!(document["open"], true);
    assert!(document["analysis_provider_binding"].is_null());
    let rows = document["capabilities"].as_array().unwrap();
    let reason = |name: &str| {
        let row = rows.iter().find(|row| row["operation"] == name).unwrap();
        row["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason("read_bytes"), "target_unsupported");
    assert_eq!(reason("inspect_artifact"), "available");
    let (_, document) = home.run(&["capabilities", "--target", &program()]);
    assert_eq!(document["summary"]["unavailable"], 0);
    assert!(document["analysis_provider_binding"].is_object());
    let (_, document) = home.run(&["providers", "--target", &program()]);
    assert_eq!(
        document["analysis_provider_candidates"][0]["selected"],
        true
    );
    let (status, _) = home.run(&["providers", "--target", "/no/such"]);
    assert_eq!(status, Some(1));
}

#[test]
fn the_catalog_is_the_same_every_time() {
    let home = Home::new(&[]);
    let once = home.command(&["catalog"]).output().unwrap().stdout;
    let twice = home
        .command(&["catalog", "-j", "1"])
        .output()
        .unwrap()
        .stdout;
    assert_eq!(once, twice);
    let off = home
        .command(&["catalog"])
        .env("REA_MCP_OUTPUT_SCHEMA_PROFILE", "off")
        .output()
        .unwrap();
    let (on, off): (Value, Value) = (serde_json::from_slice(&once).unwrap(), document_of(off));
    let digest = |catalog: &Value| catalog["catalog"]["digests"]["tools_sha256"].clone();
    assert_ne!(digest(&on), digest(&off));
    let commands = on["cli_commands"].as_array().unwrap();
    assert_eq!(
        commands.len() as u64,
        on["catalog"]["counts"]["cli_commands"].as_u64().unwrap()
    );
}
