//! Values that complete an argument of a prompt (section 13).

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use unicode_normalization::UnicodeNormalization;

use super::prompts::Values;
use super::server::Server;
use crate::evidence::{EvidenceId, UnknownStatus};
use crate::view::Retained;

/// Characters that a value to complete may have.
const LONGEST: usize = 4096;
/// Candidates that are looked at.
const SCANNED: usize = 10_000;
/// Values that are told.
const TOLD: usize = 100;

/// Completes an argument.
///
/// # Errors
/// What is wrong with the request.
pub(super) fn complete(
    server: &Server,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, String> {
    let given = &request.argument.value;
    if given.chars().count() > LONGEST {
        return Err(format!(
            "a value to complete has at most {LONGEST} characters"
        ));
    }
    let Reference::Prompt(prompt) = &request.r#ref else {
        return Ok(CompleteResult::default());
    };
    let argument = server.prompts.find(&prompt.name).and_then(|template| {
        let mut arguments = template.arguments.iter();
        arguments.find(|argument| argument.name == request.argument.name)
    });
    // An unknown prompt has no values (decision 36).
    let values = argument.map_or(Values::None, |argument| argument.values);
    let prefix = folded(given);
    let mut found: Vec<String> = candidates(server, values)
        .into_iter()
        .take(SCANNED)
        .filter(|value| folded(value).starts_with(&prefix))
        .collect();
    found.sort();
    found.dedup();
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let more = found.len() > TOLD;
    found.truncate(TOLD);
    CompletionInfo::with_pagination(found, Some(total), more).map(CompleteResult::new)
}

fn folded(text: &str) -> String {
    text.nfkc().collect::<String>().to_lowercase()
}

fn candidates(server: &Server, values: Values) -> Vec<String> {
    let session = &server.session;
    let ids = |keep: &dyn Fn(&str) -> bool| -> Vec<String> {
        let bundle = session.ledger.bundle();
        let summary = bundle.summary(Default::default());
        let rows = summary.rows().take(SCANNED);
        rows.filter(|row| row.operation.as_str().is_some_and(keep))
            .map(|row| row.id.to_string())
            .collect()
    };
    match values {
        Values::None => Vec::new(),
        Values::Providers => {
            let engines = session
                .engines
                .iter()
                .map(|engine| engine.provider().id.to_owned());
            ["auto".to_owned()].into_iter().chain(engines).collect()
        }
        Values::Evidence => ids(&|_| true),
        Values::Captures => ids(&|operation| operation.starts_with("capture_")),
        Values::Manifests => graph_ids(server, "jag_manifest_"),
        Values::Occurrences => graph_ids(server, "jag_occurrence_"),
        Values::Unknowns => {
            let bundle = session.ledger.bundle();
            let heads = bundle.unknowns().heads().take(SCANNED);
            heads
                .filter(|head| head.status != UnknownStatus::Resolved)
                .map(|head| head.unknown_id.to_string())
                .collect()
        }
    }
}

/// Ids of artifact graphs, as they stand in the texts of records.
fn graph_ids(server: &Server, prefix: &str) -> Vec<String> {
    let ledger = &server.session.ledger;
    let mut found = Vec::new();
    for id in ledger.ids(SCANNED) {
        let Some(text) = text_of(ledger, id) else {
            continue;
        };
        let digits = 64;
        for at in memchr::memmem::find_iter(&text, prefix.as_bytes()) {
            let end = at + prefix.len() + digits;
            let id = text
                .get(at..end)
                .and_then(|id| std::str::from_utf8(id).ok());
            found.extend(id.map(str::to_owned));
            if found.len() >= SCANNED {
                return found;
            }
        }
    }
    found
}

fn text_of(ledger: &super::ledger::Ledger, id: EvidenceId) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    ledger.open(id)?.read_to_end(&mut text).ok()?;
    Some(text)
}
