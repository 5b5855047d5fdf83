//! Looking at everything that `rea` needs to work here, without changing it.

use std::path::{Path, PathBuf};

use rea::Result;
use rea::error::Error;
use rea::host::{self, Check, Class, Client, Homes, Standing, State};
use rea::mcp::{Engine, Opener, Settings};
use rea::operation::Context;
use rea::publish::display_path;
use serde_json::{Value, json};

use super::{Detail, identity};
use crate::mcp::engine::{BuiltIn, Files};
use crate::mcp::{server, settings};

/// What to look at beside the machine.
#[derive(Debug, Default)]
pub struct Scope {
    /// A file that must open.
    pub target: Option<PathBuf>,
    /// Clients in which this program must be registered.
    pub clients: Vec<&'static Client>,
    /// Providers that must be there, and take the target.
    pub providers: Vec<String>,
    /// Whether the skill must be installed.
    pub skill: bool,
}

impl Scope {
    fn is_explicit(&self) -> bool {
        self.target.is_some()
            || !self.clients.is_empty()
            || !self.providers.is_empty()
            || self.skill
    }
}

/// What was found.
#[derive(Debug)]
pub struct Examination {
    explicit: bool,
    /// Of the machine.
    pub environment: Vec<Check>,
    /// Of what can analyse.
    pub engine: Check,
    provider: Value,
    /// Of what was asked for.
    pub scope: Vec<Check>,
    /// In all clients, as far as they can be found.
    pub standings: Vec<Standing>,
    identity: Value,
}

/// Looks at the machine and at `scope`.
pub fn examine(scope: &Scope, context: &Context) -> Result<Examination> {
    let mut environment = host::environment();
    let known = settings();
    environment.push(match &known {
        Ok(_) => Check::healthy("settings", "all settings of the environment are valid"),
        Err(error) => drift("settings", error),
    });
    let program = host::program();
    let engine = BuiltIn::new();
    let engine_check = check_engine(&engine, program.as_deref().ok(), context);
    context.check()?;

    let homes = Homes::read(|name| std::env::var_os(name));
    let standings = match (&homes, &program) {
        (Ok(homes), Ok(program)) => host::standings(homes, program),
        _ => Vec::new(),
    };
    let mut checks = Vec::new();
    if let Some(path) = &scope.target {
        checks.push(check_target(path, scope, &engine, context));
        context.check()?;
    }
    let provider = engine.provider();
    for id in &scope.providers {
        let name = format!("provider:{id}");
        checks.push(match id == provider.id {
            true => Check::healthy(name, format!("{} {}", provider.name, provider.version)),
            false => Check::failed(
                name,
                Class::MissingAnalysisEngine,
                format!("there is no provider {id}"),
                "`rea providers` lists those that there are.",
            ),
        });
    }
    let wanted = !scope.clients.is_empty() || scope.skill;
    for error in [homes.err(), program.err()]
        .into_iter()
        .flatten()
        .filter(|_| wanted)
    {
        checks.push(drift("clients", &error));
    }
    for standing in &standings {
        let chosen = scope
            .clients
            .iter()
            .any(|client| client.id == standing.client.id);
        if chosen {
            checks.push(check_registration(standing));
        }
        // Without a choice, those that are there and have skills.
        let open = scope.clients.is_empty() && standing.detected;
        if scope.skill && (chosen || open) {
            checks.extend(check_skill(standing));
        }
    }
    Ok(Examination {
        explicit: scope.is_explicit(),
        environment,
        engine: engine_check,
        provider: json!({"id": provider.id, "version": provider.version}),
        scope: checks,
        standings,
        identity: identity(&server(known.unwrap_or_else(|_| Settings::default()))),
    })
}

fn drift(name: &str, error: &Error) -> Check {
    Check::failed(name, Class::ConfigDrift, error.message(), error.remedy())
}

/// Lets the engine read something whose format is known: this program.
fn check_engine(engine: &BuiltIn, program: Option<&str>, context: &Context) -> Check {
    let who = engine.provider();
    let failed = |detail: String| {
        let remedy = "Install rea again.";
        Check::failed("engine", Class::MissingAnalysisEngine, detail, remedy)
    };
    if let Some(rejection) = engine.unavailable() {
        return failed(rejection.reason);
    }
    let Some(program) = program else {
        return failed("the program cannot be found to be read".to_owned());
    };
    match Files.open(Path::new(program), false, context) {
        Err(error) => failed(error.message().to_owned()),
        Ok(target) => match engine.rejects(&target) {
            Some(rejection) => failed(rejection.reason),
            None => Check::healthy(
                "engine",
                format!(
                    "{} {} is built in and reads {}",
                    who.name, who.version, target.format
                ),
            ),
        },
    }
}

fn check_target(path: &Path, scope: &Scope, engine: &BuiltIn, context: &Context) -> Check {
    let shown = display_path(path);
    let target = match Files.open(path, false, context) {
        Ok(target) => target,
        Err(error) => {
            let class = Class::MissingDependency;
            return Check::failed("target", class, error.message(), error.remedy());
        }
    };
    let detail = format!("{shown} is a {} of format {}", target.kind, target.format);
    match engine.rejects(&target) {
        None => Check::healthy("target", detail),
        // The other tools take every file; only who asks for an engine needs it.
        Some(rejection) if scope.providers.is_empty() => {
            Check::healthy("target", format!("{detail}; {}", rejection.reason))
        }
        Some(rejection) => Check::failed(
            "target",
            Class::MissingAnalysisEngine,
            format!("{detail}; {}", rejection.reason),
            "`rea inspect-artifact` says what can be done with it.",
        ),
    }
}

fn check_registration(standing: &Standing) -> Check {
    let name = format!("client:{}", standing.client.id);
    let mut detail = format!(
        "{} in {}",
        standing.state.as_str(),
        display_path(&standing.path)
    );
    for more in standing
        .state
        .reason()
        .into_iter()
        .chain(standing.notes.iter().map(String::as_str))
    {
        detail.push_str(&format!("; {more}"));
    }
    let remedy = match &standing.state {
        State::Aligned => return Check::healthy(name, detail),
        State::Stale(_) | State::Missing => {
            format!("Run `rea setup --client {}`.", standing.client.id)
        }
        State::Invalid(_) => "Correct that file; it is not changed as it is.".to_owned(),
    };
    Check::failed(name, Class::ConfigDrift, detail, remedy)
}

fn check_skill(standing: &Standing) -> Option<Check> {
    let (path, state) = standing.skill.as_ref()?;
    let name = format!("skill:{}", standing.client.id);
    let detail = format!("{} at {}", state.as_str(), display_path(path));
    Some(match state {
        State::Aligned => Check::healthy(name, detail),
        _ => Check::failed(
            name,
            Class::ConfigDrift,
            detail,
            format!("Run `rea setup --client {} --skill`.", standing.client.id),
        ),
    })
}

impl Examination {
    /// Whether the machine is in order.
    pub fn is_environment_healthy(&self) -> bool {
        self.environment.iter().all(Check::is_healthy)
    }

    /// Whether everything is in order that was looked at for its own sake.
    pub fn is_healthy(&self) -> bool {
        self.checks().all(Check::is_healthy)
    }

    /// Everything that decides whether it is healthy.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        let engine = std::iter::once(&self.engine);
        self.environment.iter().chain(engine).chain(&self.scope)
    }

    /// What is odd in clients, which decides nothing.
    pub fn drift(&self) -> u64 {
        let odd = self.standings.iter().map(|standing| {
            let entry = matches!(standing.state, State::Stale(_) | State::Invalid(_));
            let skill = matches!(&standing.skill, Some((_, State::Stale(_))));
            u64::from(entry) + u64::from(!standing.notes.is_empty()) + u64::from(skill)
        });
        odd.sum()
    }

    /// `audit-wide` or `explicit`.
    pub fn scope_name(&self) -> &'static str {
        match self.explicit {
            true => "explicit",
            false => "audit-wide",
        }
    }

    /// As a document.
    pub fn to_value(&self, detail: Detail) -> Value {
        let failed = self.checks().filter(|check| !check.is_healthy());
        let mut value = json!({
            "healthy": self.is_healthy(),
            "environment_healthy": self.is_environment_healthy(),
            "scope": self.scope_name(),
            "providers": [{
                "id": self.provider["id"],
                "configured": true,
                "available": self.engine.is_healthy(),
                "provider_version": self.provider["version"],
                "failed_checks": match self.engine.is_healthy() {
                    true => json!([]),
                    false => json!([self.engine.name]),
                },
            }],
            "failed_scope_checks": failed.map(check_value).collect::<Vec<_>>(),
            "informational_drift_count": self.drift(),
            "identity": self.identity,
        });
        if let (Detail::Full, Some(members)) = (detail, value.as_object_mut()) {
            let checks: Vec<Value> = self.checks().map(check_value).collect();
            members.insert("checks".to_owned(), checks.into());
            let registrations: Vec<Value> = self.standings.iter().map(standing_value).collect();
            members.insert("registrations".to_owned(), registrations.into());
            // Servers that clients run are theirs; nobody is asked.
            members.insert("live_server".to_owned(), json!({"state": "unknown"}));
        }
        value
    }
}

fn check_value(check: &Check) -> Value {
    json!({
        "name": check.name,
        "classification": check.class.as_str(),
        "detail": check.detail,
        "remediation": check.remediation,
    })
}

/// What there is in a client, as a document.
pub fn standing_value(standing: &Standing) -> Value {
    json!({
        "client": standing.client.id,
        "name": standing.client.name,
        "detected": standing.detected,
        "config_path": display_path(&standing.path),
        "state": standing.state.as_str(),
        "detail": standing.state.reason(),
        "notes": standing.notes,
        "skill": standing.skill.as_ref().map(|(path, state)| json!({
            "path": display_path(path),
            "state": state.as_str(),
        })),
    })
}
