//! What the environment says to a server; read once, at the start (section 6
//! of the contract).

use std::fmt;

use crate::error::{Code, Error, Result};

/// The least that a receive buffer may be, which is also the usual.
pub const RESPONSE_BYTES: u64 = 10_485_760;
/// What of a receive buffer is not for the reply.
const RESERVED: u64 = 1024;

/// How much of the input schemas is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputProfile {
    /// What a model needs to form a call.
    #[default]
    Compact,
    /// Everything.
    Full,
}

/// Whether output schemas are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputProfile {
    /// They are.
    #[default]
    Full,
    /// They are not; results are the same.
    Off,
}

impl OutputProfile {
    /// The name in the environment.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Off => "off",
        }
    }
}

/// The level from which on lines are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Everything.
    Trace = 10,
    /// For debugging.
    Debug = 20,
    /// What was done.
    Info = 30,
    /// What was odd.
    Warn = 40,
    /// What failed.
    Error = 50,
    /// What ended the process.
    Fatal = 60,
    /// Nothing.
    Silent = 70,
}

const LEVELS: [(&str, Level); 7] = [
    ("trace", Level::Trace),
    ("debug", Level::Debug),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
    ("fatal", Level::Fatal),
    ("silent", Level::Silent),
];

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes that a client can receive at once (`REA_MCP_MAX_RESPONSE_BYTES`).
    pub max_response_bytes: u64,
    /// `REA_MCP_INPUT_SCHEMA_PROFILE`.
    pub input_profile: InputProfile,
    /// `REA_MCP_OUTPUT_SCHEMA_PROFILE`.
    pub output_profile: OutputProfile,
    /// The provider that is selected where a call names none
    /// (`REA_ANALYSIS_PROVIDER`); `auto` is `None`.
    pub provider: Option<String>,
    /// `REA_LOG_LEVEL`.
    pub log_level: Level,
    /// `REA_BUILD_COMMIT`.
    pub build_commit: Option<String>,
    /// Where to listen (`MCP_HOST`).
    pub host: String,
    /// The port to listen on, 0 for any (`MCP_PORT`).
    pub port: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_response_bytes: RESPONSE_BYTES,
            input_profile: InputProfile::default(),
            output_profile: OutputProfile::default(),
            provider: None,
            log_level: Level::Info,
            build_commit: None,
            host: "127.0.0.1".to_owned(),
            port: 0,
        }
    }
}

/// Deadlines of external engines: looked at, so that a wrong one is told, and
/// not used by the built-in engine.
const DEADLINES: [&str; 3] = [
    "REA_GHIDRA_STARTUP_TIMEOUT_MS",
    "REA_HOPPER_STARTUP_TIMEOUT_MS",
    "REA_SWIFTC_COMPILE_TIMEOUT_MS",
];

impl Settings {
    /// Reads the settings with `variable`, which knows the environment.
    ///
    /// # Errors
    /// `configuration_invalid` for a value that cannot be.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut settings = Self::default();
        if let Some(text) = variable("REA_MCP_MAX_RESPONSE_BYTES") {
            let number = digits(&text)
                .filter(|number| (RESPONSE_BYTES..=crate::json::MAX_SAFE_INTEGER).contains(number));
            settings.max_response_bytes = number.ok_or_else(|| {
                let expected = format!("a whole number of at least {RESPONSE_BYTES}");
                invalid("REA_MCP_MAX_RESPONSE_BYTES", &text, &expected)
            })?;
        }
        if let Some(text) = variable("REA_MCP_INPUT_SCHEMA_PROFILE") {
            settings.input_profile = match text.as_str() {
                "compact" => InputProfile::Compact,
                "full" => InputProfile::Full,
                _ => {
                    let name = "REA_MCP_INPUT_SCHEMA_PROFILE";
                    return Err(invalid(name, &text, "`compact` or `full`"));
                }
            };
        }
        if let Some(text) = variable("REA_MCP_OUTPUT_SCHEMA_PROFILE") {
            settings.output_profile = match text.as_str() {
                "full" => OutputProfile::Full,
                "off" => OutputProfile::Off,
                _ => {
                    let name = "REA_MCP_OUTPUT_SCHEMA_PROFILE";
                    return Err(invalid(name, &text, "`full` or `off`"));
                }
            };
        }
        if let Some(text) = variable("REA_ANALYSIS_PROVIDER") {
            if !is_provider_id(&text) {
                let expected = "`auto` or the id of a provider";
                return Err(invalid("REA_ANALYSIS_PROVIDER", &text, expected));
            }
            settings.provider = Some(text).filter(|id| id != "auto");
        }
        if let Some(text) = variable("REA_LOG_LEVEL") {
            let level = LEVELS.into_iter().find(|&(name, _)| name == text);
            let Some((_, level)) = level else {
                let expected = "trace, debug, info, warn, error, fatal or silent";
                return Err(invalid("REA_LOG_LEVEL", &text, expected));
            };
            settings.log_level = level;
        }
        for name in DEADLINES {
            if let Some(text) = variable(name)
                && !digits(&text).is_some_and(|number| (1..=2_147_483_647).contains(&number))
            {
                return Err(invalid(name, &text, "1 to 2147483647 milliseconds"));
            }
        }
        settings.build_commit = variable("REA_BUILD_COMMIT").filter(|text| !text.is_empty());
        if let Some(text) = variable("MCP_HOST") {
            settings.host = host(&text).map_err(|expected| invalid("MCP_HOST", &text, expected))?;
        }
        if let Some(text) = variable("MCP_PORT") {
            let port = digits(&text).and_then(|port| u16::try_from(port).ok());
            settings.port = port.ok_or_else(|| invalid("MCP_PORT", &text, "0 to 65535"))?;
        }
        Ok(settings)
    }

    /// Bytes that one frame may have.
    pub fn budget(&self) -> u64 {
        self.max_response_bytes - RESERVED
    }
}

/// A host that can be bound: a name or an address, without brackets.
///
/// # Errors
/// What is expected in its place.
pub fn host(text: &str) -> Result<String, &'static str> {
    if text.is_empty() || text.chars().any(char::is_whitespace) {
        return Err("a host name or an address");
    }
    if text.contains('%') {
        return Err("an address without a scope (`%` and what follows)");
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    Ok(bare.to_owned())
}

/// Whether it has the form of a provider's id; `auto` has.
pub fn is_provider_id(text: &str) -> bool {
    let tail = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(tail)
}

/// Decimal digits and nothing else.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn invalid(name: &str, text: &str, expected: impl fmt::Display) -> Error {
    let shown: String = text.chars().take(64).collect();
    let message = format!("{name} is {shown:?}; {expected} is needed");
    Error::new(Code::ConfigurationInvalid, message)
        .action(format!("Correct or unset {name} and start again."))
        .detail("variable", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Settings> {
        Settings::read(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn the_budget_is_digits_of_at_least_the_usual() {
        let name = "REA_MCP_MAX_RESPONSE_BYTES";
        for wrong in [
            "",
            "1e8",
            " 10485760",
            "1024",
            "+10485760",
            "10485760.0",
            "9007199254740992",
        ] {
            let error = read(name, wrong).unwrap_err();
            assert_eq!(error.code().as_str(), "configuration_invalid", "{wrong:?}");
        }
        assert_eq!(read(name, "10485760").unwrap().budget(), 10_484_736);
        assert_eq!(read(name, "20971520").unwrap().budget(), 20_970_496);
    }

    #[test]
    fn other_settings_are_checked_too() {
        for (name, wrong) in [
            ("REA_MCP_INPUT_SCHEMA_PROFILE", "Full"),
            ("REA_MCP_OUTPUT_SCHEMA_PROFILE", ""),
            ("REA_LOG_LEVEL", "INFO"),
            ("REA_ANALYSIS_PROVIDER", "Ghidra"),
            ("REA_ANALYSIS_PROVIDER", ""),
            ("REA_GHIDRA_STARTUP_TIMEOUT_MS", "0"),
            ("REA_SWIFTC_COMPILE_TIMEOUT_MS", "2147483648"),
            ("MCP_HOST", "fe80::1%eth0"),
            ("MCP_HOST", ""),
            ("MCP_PORT", "65536"),
            ("MCP_PORT", "-1"),
        ] {
            assert!(read(name, wrong).is_err(), "{name}={wrong}");
        }
        assert_eq!(read("MCP_HOST", "[::1]").unwrap().host, "::1");
        assert_eq!(
            read("REA_ANALYSIS_PROVIDER", "auto").unwrap().provider,
            None
        );
        assert_eq!(
            read("REA_LOG_LEVEL", "silent").unwrap().log_level,
            Level::Silent
        );
    }
}
