//! Values that complete an argument of a prompt (section 13).

use std::collections::BTreeSet;
use std::io::Read;

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use unicode_normalization::UnicodeNormalization;

use super::prompts::Values;
use super::server::Server;
use crate::evidence::UnknownStatus;
use crate::view::Retained;

/// Characters that a value to complete may have.
const LONGEST: usize = 4096;
/// Candidates that are looked at.
const SCANNED: usize = 10_000;
/// Bytes of a record that are looked at at a time.
const PIECE: u64 = 1 << 16;
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
        Values::Manifests => graph_ids(server, "jag_manifest_").into_iter().collect(),
        Values::Occurrences => graph_ids(server, "jag_occurrence_").into_iter().collect(),
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
fn graph_ids(server: &Server, prefix: &str) -> BTreeSet<String> {
    let ledger = &server.session.ledger;
    let mut found = BTreeSet::new();
    for id in ledger.ids(SCANNED) {
        if let Some(mut record) = ledger.open(id) {
            find_ids(&mut record, prefix.as_bytes(), &mut found);
        }
        if found.len() >= SCANNED {
            break;
        }
    }
    found
}

/// Adds the ids in a text that begin with `prefix`, a piece of the text after
/// the other: records can be long.
fn find_ids(mut text: &mut dyn Read, prefix: &[u8], found: &mut BTreeSet<String>) {
    const DIGITS: u64 = 64;
    let length = prefix.len() + DIGITS as usize;
    let mut piece: Vec<u8> = Vec::new();
    loop {
        let more = (&mut text).take(PIECE).read_to_end(&mut piece);
        for at in memchr::memmem::find_iter(&piece, prefix) {
            let id = piece.get(at..at + length);
            let id = id.and_then(|id| std::str::from_utf8(id).ok());
            found.extend(id.map(str::to_owned));
            if found.len() >= SCANNED {
                return;
            }
        }
        if !matches!(more, Ok(1..)) {
            return;
        }
        // An id may stand across two pieces.
        let seen = piece.len().saturating_sub(length - 1);
        piece.drain(..seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_wherever_pieces_of_a_text_end() {
        let id = |digit: char| format!("jag_x_{}", digit.to_string().repeat(64));
        for shift in [0, 1, 35, 69, 70, 71] {
            let mut text = vec![b' '; PIECE as usize - shift];
            text.extend_from_slice(id('a').as_bytes());
            text.extend_from_slice(b"jag_x_cut");
            text.extend_from_slice(id('b').as_bytes());
            let mut found = BTreeSet::new();
            find_ids(&mut &text[..], b"jag_x_", &mut found);
            assert!(
                found.contains(&id('a')) && found.contains(&id('b')),
                "{shift}"
            );
        }
    }
}
