//! The skill: a page that teaches an agent how to work with the tools.

use super::entry::State;

const TEMPLATE: &str = include_str!("SKILL.md");
/// The line by which a page is known as ours.
const MARK: &str = "  installed-by: rea setup";

/// The page of this version.
pub(super) fn text() -> String {
    TEMPLATE.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
}

/// Judges what is at the place of the page.
pub(super) fn judge(found: Option<&[u8]>) -> State {
    let Some(found) = found else {
        return State::Missing;
    };
    if found == text().as_bytes() {
        return State::Aligned;
    }
    let ours = std::str::from_utf8(found)
        .is_ok_and(|found| found.lines().take(12).any(|line| line == MARK));
    match ours {
        true => State::Stale("it is of another version, or was edited".to_owned()),
        false => State::Invalid("there is a skill of this name that is not ours".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_apart() {
        assert_eq!(judge(None), State::Missing);
        assert_eq!(judge(Some(text().as_bytes())), State::Aligned);
        let older = TEMPLATE.replace("@VERSION@", "0.0.1");
        assert_eq!(judge(Some(older.as_bytes())).as_str(), "stale");
        assert_eq!(judge(Some(b"# rea\n")).as_str(), "invalid");
        assert!(text().contains(env!("CARGO_PKG_VERSION")) && text().contains(MARK));
        assert!(!text().contains('@'));
    }
}
