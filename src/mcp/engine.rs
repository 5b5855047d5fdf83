//! Providers of deep analysis as candidates, and which of them a target gets
//! (section 9.5 of the contract). Nothing is started by choosing.

use std::path::Path;

use serde_json::{Value, json};

use super::session::Target;
use crate::digest::Digest;
use crate::error::{Code, Error, Result};
use crate::json::{Object, Writer, written};
use crate::operation::Context;

/// Why a candidate is not taken.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// One of the contract's codes.
    pub code: &'static str,
    /// The same in words.
    pub reason: String,
    /// Whether it is the target that does not fit.
    pub by_target: bool,
}

/// What can analyse targets.
pub trait Engine: Send + Sync {
    /// `{id, name, version}`.
    fn provider(&self) -> crate::evidence::Provider;

    /// Every setting that changes what it says.
    fn parameters(&self) -> Object;

    /// Why it cannot run here at all; `None` where it can.
    fn unavailable(&self) -> Option<Rejection>;

    /// Why it does not take a target; `None` where it does.
    fn rejects(&self, target: &Target) -> Option<Rejection>;

    /// The operations that it offers.
    fn operations(&self) -> &[&'static str];
}

/// What names a file and says what it is, without a provider.
pub trait Opener: Send + Sync {
    /// Reads the file or application at `path`. `dos_com`: it is a headerless
    /// program, whatever its bytes look like.
    fn open(&self, path: &Path, dos_com: bool, context: &Context) -> Result<Target>;
}

/// A provider that was chosen for a target.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Which one.
    pub provider: crate::evidence::Provider,
    /// What chose it: `request`, `environment` or `auto-single-candidate`.
    pub source: &'static str,
    /// Its settings and their digest (evidence section 3).
    pub profile: Value,
}

impl Binding {
    fn new(engine: &dyn Engine, source: &'static str) -> Self {
        Self {
            provider: engine.provider(),
            source,
            profile: profile(engine),
        }
    }

    /// As `binary_session` tells it.
    pub fn to_value(&self) -> Value {
        json!({
            "provider": provider(self.provider),
            "selection_source": self.source,
            "analysis_profile": self.profile,
        })
    }
}

/// The members of a provider.
pub(super) fn provider(provider: crate::evidence::Provider) -> Value {
    json!({"id": provider.id, "name": provider.name, "version": provider.version})
}

/// The profile of an engine: its settings and the digest of them.
pub fn profile(engine: &dyn Engine) -> Value {
    let who = engine.provider();
    let parameters = engine.parameters();
    let write = |w: &mut Writer<'_>| {
        w.begin_object();
        w.member("parameters", &parameters);
        w.member("provider", who);
        w.end_object();
    };
    let digest = Digest::of_json(write);
    let mut profile: Value = serde_json::from_slice(&written(write)).unwrap_or_default();
    if let Some(members) = profile.as_object_mut() {
        members.insert("digest".to_owned(), digest.to_hex().into());
    }
    profile
}

/// The candidates for a target, or without one, by id.
pub(super) fn candidates(
    engines: &[Box<dyn Engine>],
    target: Option<&Target>,
    bound: Option<&Binding>,
) -> Value {
    let mut rows: Vec<_> = engines
        .iter()
        .map(|engine| {
            let who = engine.provider();
            let told = |rejection: Option<Rejection>, good: &str, bad: &str, reason: &str| match rejection {
                None => json!({"status": good, "code": null, "reason": reason, "diagnostics": []}),
                Some(found) => json!({
                    "status": bad, "code": found.code, "reason": found.reason, "diagnostics": []
                }),
            };
            let support = match target {
                Some(target) => {
                    let rejection = engine.rejects(target);
                    told(rejection, "supported", "unsupported", "The target can be analysed.")
                }
                None => json!({
                    "status": "unknown", "code": null,
                    "reason": "No target is open.", "diagnostics": []
                }),
            };
            let selected = bound.is_some_and(|binding| binding.provider.id == who.id);
            let row = json!({
                "provider": provider(who),
                "availability": told(engine.unavailable(), "available", "unavailable", "It is built in."),
                "target_support": support,
                "selected": selected,
                "capabilities": engine.operations(),
            });
            (who.id, row)
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Chooses a provider for a target.
///
/// # Errors
/// `provider_unavailable` and `capability_unavailable` with the reasons for
/// which each candidate was not taken. `Ok(None)`: the target is open, and
/// what needs a provider will say that there is none.
pub(super) fn select(
    engines: &[Box<dyn Engine>],
    target: &Target,
    requested: Option<&str>,
    environment: Option<&str>,
    operation: &str,
) -> Result<Option<Binding>> {
    let mut candidates: Vec<&dyn Engine> = engines.iter().map(AsRef::as_ref).collect();
    candidates.sort_by_key(|engine| engine.provider().id);
    let judged: Vec<_> = candidates
        .iter()
        .map(|engine| engine.rejects(target).or_else(|| engine.unavailable()))
        .collect();
    let all_reject = judged.iter().all(|verdict| {
        verdict
            .as_ref()
            .is_some_and(|rejection| rejection.by_target)
    });
    let (wanted, source) = match (requested, environment) {
        (Some("auto"), _) | (None, None) => (None, "auto-single-candidate"),
        (Some(id), _) => (Some(id), "request"),
        (None, Some(_)) if all_reject => return Ok(None),
        (None, Some(id)) => (Some(id), "environment"),
    };
    let refuse = |code, reason: &str, message: String| {
        let rejections: Vec<crate::json::Value> = candidates
            .iter()
            .zip(&judged)
            .filter_map(|(engine, verdict)| {
                let rejection = verdict.as_ref()?;
                let mut row = Object::new();
                row.insert("provider_id", engine.provider().id);
                row.insert("code", rejection.code);
                row.insert("reason", rejection.reason.as_str());
                row.insert("diagnostics", Vec::<crate::json::Value>::new());
                Some(row.into())
            })
            .collect();
        let ids: Vec<crate::json::Value> = candidates
            .iter()
            .map(|engine| engine.provider().id.into())
            .collect();
        Error::new(code, message)
            .action("Open the target with provider_id `auto`, or with one of candidate_ids.")
            .detail("operation", operation)
            .detail("selection_reason", reason)
            .detail("requested_provider_id", wanted.unwrap_or("auto"))
            .detail("candidate_ids", ids)
            .detail("rejections", rejections)
    };
    let Some(id) = wanted else {
        let usable: Vec<_> = candidates
            .iter()
            .zip(&judged)
            .filter(|(_, verdict)| verdict.is_none())
            .map(|(engine, _)| *engine)
            .collect();
        return match usable.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(Binding::new(*one, source))),
            _ => {
                let message = "several providers can analyse the target".to_owned();
                Err(refuse(Code::CapabilityUnavailable, "ambiguous", message))
            }
        };
    };
    let found = candidates
        .iter()
        .zip(&judged)
        .find(|(engine, _)| engine.provider().id == id);
    match found {
        None => {
            let message = format!("there is no provider {id}");
            Err(refuse(
                Code::CapabilityUnavailable,
                "unknown_provider",
                message,
            ))
        }
        Some((_, Some(rejection))) if rejection.by_target => {
            let message = format!("{id} does not take the target: {}", rejection.reason);
            Err(refuse(
                Code::CapabilityUnavailable,
                "target_unsupported",
                message,
            ))
        }
        Some((_, Some(rejection))) => {
            let message = format!("{id} is not available: {}", rejection.reason);
            Err(refuse(
                Code::ProviderUnavailable,
                "provider_unavailable",
                message,
            ))
        }
        Some((engine, None)) => Ok(Some(Binding::new(*engine, source))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Provider;

    struct Fake {
        id: &'static str,
        missing: bool,
        formats: &'static [&'static str],
    }

    impl Engine for Fake {
        fn provider(&self) -> Provider {
            Provider {
                id: self.id,
                name: self.id,
                version: "1",
            }
        }

        fn parameters(&self) -> Object {
            Object::new()
        }

        fn unavailable(&self) -> Option<Rejection> {
            self.missing.then(|| Rejection {
                code: "executable_missing",
                reason: "it is not installed".to_owned(),
                by_target: false,
            })
        }

        fn rejects(&self, target: &Target) -> Option<Rejection> {
            (!self.formats.contains(&target.format)).then(|| Rejection {
                code: "target_format_unsupported",
                reason: "another format".to_owned(),
                by_target: true,
            })
        }

        fn operations(&self) -> &[&'static str] {
            &[]
        }
    }

    fn engine(
        id: &'static str,
        missing: bool,
        formats: &'static [&'static str],
    ) -> Box<dyn Engine> {
        Box::new(Fake {
            id,
            missing,
            formats,
        })
    }

    fn target(format: &'static str) -> Target {
        Target {
            path: "x".to_owned(),
            source_path: "x".to_owned(),
            sha256: Digest::of_json(|w| w.null()),
            kind: "executable",
            format,
            architecture: None,
            available_architectures: Vec::new(),
        }
    }

    fn chosen(
        engines: &[Box<dyn Engine>],
        format: &'static str,
        request: Option<&str>,
        environment: Option<&str>,
    ) -> std::result::Result<Option<(&'static str, &'static str)>, String> {
        select(
            engines,
            &target(format),
            request,
            environment,
            "open_binary",
        )
        .map(|bound| bound.map(|binding| (binding.provider.id, binding.source)))
        .map_err(|error| {
            let reason = error.details().get("selection_reason").unwrap();
            format!("{} {}", error.code().as_str(), reason.as_str().unwrap())
        })
    }

    /// The rules of section 9.5.
    #[test]
    fn selection_follows_the_contract() {
        let one = [engine("built-in", false, &["elf"])];
        let auto = Ok(Some(("built-in", "auto-single-candidate")));
        assert_eq!(chosen(&one, "elf", None, None), auto);
        assert_eq!(chosen(&one, "elf", Some("auto"), Some("ghidra")), auto);
        let requested = Ok(Some(("built-in", "request")));
        assert_eq!(chosen(&one, "elf", Some("built-in"), None), requested);
        let environment = Ok(Some(("built-in", "environment")));
        assert_eq!(chosen(&one, "elf", None, Some("built-in")), environment);
        let unknown = Err("capability_unavailable unknown_provider".to_owned());
        assert_eq!(chosen(&one, "elf", Some("ghidra"), None), unknown);
        assert_eq!(chosen(&one, "elf", None, Some("ghidra")), unknown);
        let unsupported = Err("capability_unavailable target_unsupported".to_owned());
        assert_eq!(chosen(&one, "zip", Some("built-in"), None), unsupported);
        assert_eq!(chosen(&one, "zip", None, None), Ok(None));
        assert_eq!(chosen(&one, "zip", None, Some("built-in")), Ok(None));

        let two = [engine("b", false, &["elf"]), engine("a", true, &["elf"])];
        let missing = Err("provider_unavailable provider_unavailable".to_owned());
        assert_eq!(chosen(&two, "elf", Some("a"), None), missing);
        assert_eq!(
            chosen(&two, "elf", None, None),
            Ok(Some(("b", "auto-single-candidate")))
        );
        let both = [engine("b", false, &["elf"]), engine("a", false, &["elf"])];
        let ambiguous = Err("capability_unavailable ambiguous".to_owned());
        assert_eq!(chosen(&both, "elf", None, None), ambiguous);
    }
}
