//! What a record never shows: credentials of the transport, and text that the
//! caller declares sensitive (web.md section 1.6).

use memchr::memmem;

use crate::json::{Kind, Node, Tape, Text};

/// Headers whose values are credentials.
const CREDENTIALS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Headers whose values are addresses that may hold a user and a password.
const ADDRESSES: [&str; 3] = ["location", "referer", "origin"];

/// Why something is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The value is a credential: `null`.
    Credential,
    /// The value is an address without its user and password.
    Userinfo,
    /// The value holds a declared literal: `null`.
    Explicit,
    /// The name of a member holds one: the member is left out.
    Name,
}

impl Edit {
    /// The reason in records.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Credential | Self::Userinfo => "transport-credential",
            Self::Explicit | Self::Name => EXPLICIT,
        }
    }
}

/// The reason of what the caller declared.
pub(super) const EXPLICIT: &str = "explicit-sensitive-value";

/// Text that must appear nowhere. Matching is exact, within strings.
#[derive(Debug, Default)]
pub struct Literals(Vec<Literal>);

#[derive(Debug)]
struct Literal {
    /// WTF-8.
    finder: memmem::Finder<'static>,
    /// The UTF-16 units, where it holds half of a surrogate pair: such a
    /// literal may be a part of a pair, and has no byte form.
    units: Option<Vec<u16>>,
}

impl Literals {
    /// Literals that are not empty.
    pub fn new(texts: &[Text]) -> Self {
        let literal = |text: &Text| Literal {
            finder: memmem::Finder::new(text.as_bytes()).into_owned(),
            units: text.as_str().is_none().then(|| units(text.as_bytes())),
        };
        Self(texts.iter().map(literal).collect())
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a string (WTF-8) holds one.
    pub fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|literal| match &literal.units {
            None => literal.finder.find(text).is_some(),
            Some(wanted) => {
                let found = units(text);
                found
                    .windows(wanted.len().max(1))
                    .any(|part| part == wanted)
            }
        })
    }

    /// Whether bytes hold the UTF-8 form of one.
    pub fn are_in_bytes(&self, bytes: &[u8]) -> bool {
        let mut whole = self.0.iter().filter(|literal| literal.units.is_none());
        whole.any(|literal| literal.finder.find(bytes).is_some())
    }
}

/// The UTF-16 units of WTF-8.
fn units(text: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&lead, after)) = rest.split_first() {
        let length = match lead {
            0xF0.. => 3,
            0xE0.. => 2,
            0xC0.. => 1,
            _ => 0,
        };
        let (tail, behind) = after.split_at(length.min(after.len()));
        let bits = if length == 0 { 0x7F } else { 0x3F >> length };
        let point = tail.iter().fold(u32::from(lead) & bits, |point, &byte| {
            point << 6 | u32::from(byte) & 0x3F
        });
        match point.checked_sub(0x1_0000) {
            Some(above) => units.extend([
                0xD800 + (above >> 10) as u16,
                0xDC00 + (above & 0x3FF) as u16,
            ]),
            None => units.push(point as u16),
        }
        rest = behind;
    }
    units
}

/// All edits of a part of the document, in its order.
pub(super) type Edits = Vec<(Node, Edit)>;

/// The edit of `node`.
pub(super) fn edit_of(edits: &[(Node, Edit)], node: Node) -> Option<Edit> {
    if edits.is_empty() {
        return None;
    }
    let at = edits.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    edits.get(at).map(|(_, edit)| *edit)
}

/// What an entry does not show.
pub(super) fn of_entry(tape: &Tape, entry: Node, literals: &Literals) -> Edits {
    let mut edits = Edits::new();
    for (side, address) in [("request", "url"), ("response", "redirectURL")] {
        let Some(side) = tape.member(entry, side) else {
            continue;
        };
        if let Some(address) = tape.member(side, address) {
            userinfo(tape, address, &mut edits);
        }
        if let Some(headers) = tape.member(side, "headers") {
            for header in tape.elements(headers) {
                of_header(tape, header, &mut edits);
            }
        }
        let cookies = tape.member(side, "cookies");
        for cookie in cookies
            .into_iter()
            .flat_map(|cookies| tape.elements(cookies))
        {
            if let Some(value) = tape.member(cookie, "value") {
                edits.push((value, Edit::Credential));
            }
        }
    }
    with_declared(tape, entry, edits, literals)
}

/// What the state of a native flow does not show: the same headers, those of
/// trailers and of the state that it had before it was edited, what stands
/// before the host of the authority, and who a proxy asked for.
pub(super) fn of_flow(tape: &Tape, state: Node, literals: &Literals) -> Edits {
    let mut edits = Edits::new();
    for flow in [Some(state), tape.member(state, "backup")] {
        let Some(flow) = flow else { continue };
        for side in ["request", "response"] {
            let Some(side) = tape.member(flow, side) else {
                continue;
            };
            for list in ["headers", "trailers"] {
                let list = tape.member(side, list);
                for header in list.into_iter().flat_map(|list| tape.elements(list)) {
                    let mut parts = tape.elements(header);
                    if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
                        named(tape, name, value, &mut edits);
                    }
                }
            }
            if let Some(path) = tape.member(side, "path")
                && !tape.text(path).starts_with(b"/")
            {
                userinfo(tape, path, &mut edits);
            }
            // Without a scheme it is no address that could be cut.
            if let Some(authority) = tape.member(side, "authority")
                && (tape.text(authority).contains(&b'@') || tape.kind(authority) == Kind::Null)
            {
                edits.push((authority, Edit::Credential));
            }
        }
        let proxied = tape
            .member(flow, "metadata")
            .and_then(|metadata| tape.member(metadata, "proxyauth"));
        if let Some(pair) = proxied {
            credential(tape, pair, &mut edits);
        }
    }
    with_declared(tape, state, edits, literals)
}

fn with_declared(tape: &Tape, entry: Node, mut edits: Edits, literals: &Literals) -> Edits {
    edits.sort_unstable_by_key(|(node, _)| *node);
    if literals.is_empty() {
        return edits;
    }
    let mut all = Edits::new();
    declared(tape, entry, None, &edits, literals, &mut all);
    all
}

/// What the document shows of itself beside its entries.
pub(super) fn of_container(tape: &Tape, entries: Node, literals: &Literals) -> Edits {
    let mut edits = Edits::new();
    if !literals.is_empty() {
        declared(tape, tape.root(), Some(entries), &[], literals, &mut edits);
    }
    edits
}

/// Adds that a value is not shown.
pub(super) fn hide(tape: &Tape, value: Node, edits: &mut Edits) {
    if is_left_out(tape, edits, value) {
        return;
    }
    match edits.binary_search_by_key(&value, |(node, _)| *node) {
        Ok(at) => {
            if let Some((_, edit)) = edits.get_mut(at) {
                *edit = Edit::Explicit;
            }
        }
        Err(at) => edits.insert(at, (value, Edit::Explicit)),
    }
}

/// Whether a member that is left out holds `node`.
fn is_left_out(tape: &Tape, edits: &[(Node, Edit)], node: Node) -> bool {
    let mut names = edits.iter().filter(|(_, edit)| *edit == Edit::Name);
    names.any(|&(name, _)| {
        let value = tape.after(name);
        (value..tape.after(value)).contains(&node)
    })
}

fn of_header(tape: &Tape, header: Node, edits: &mut Edits) {
    let (Some(name), Some(value)) = (tape.member(header, "name"), tape.member(header, "value"))
    else {
        return;
    };
    named(tape, name, value, edits);
}

/// The value of a header of that name.
fn named(tape: &Tape, name: Node, value: Node, edits: &mut Edits) {
    let name = String::from_utf8_lossy(&tape.text(name)).to_lowercase();
    if CREDENTIALS.contains(&name.as_str()) {
        credential(tape, value, edits);
    } else if ADDRESSES.contains(&name.as_str()) {
        match tape.kind(value) {
            // Bytes that are no text cannot be looked through.
            Kind::Null => edits.push((value, Edit::Credential)),
            _ => userinfo(tape, value, edits),
        }
    }
}

/// All of a value is a credential.
fn credential(tape: &Tape, value: Node, edits: &mut Edits) {
    match tape.kind(value) {
        Kind::Object => {
            for (_, member) in tape.members(value) {
                credential(tape, member, edits);
            }
        }
        Kind::Array => {
            for element in tape.elements(value) {
                credential(tape, element, edits);
            }
        }
        _ => edits.push((value, Edit::Credential)),
    }
}

fn userinfo(tape: &Tape, value: Node, edits: &mut Edits) {
    if without_userinfo(&tape.text(value)).is_some() {
        edits.push((value, Edit::Userinfo));
    }
}

/// An address without its user and password, in two parts; `None` where it has
/// none.
pub(super) fn without_userinfo(address: &[u8]) -> Option<(&[u8], &[u8])> {
    let blanks = address
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let rest = address.get(blanks..)?;
    let scheme = match rest.first() {
        Some(first) if first.is_ascii_alphabetic() => {
            let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let length = rest.iter().take_while(part).count();
            match rest.get(length) {
                Some(b':') => length + 1,
                _ => 0,
            }
        }
        _ => 0,
    };
    let start = blanks + scheme;
    let authority = address.get(start..)?.strip_prefix(b"//")?;
    let end = authority
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .unwrap_or(authority.len());
    let at = memchr::memrchr(b'@', authority.get(..end)?)?;
    Some((address.get(..start + 2)?, authority.get(at + 1..)?))
}

/// Adds what holds a literal to what is excluded anyway, in document order.
fn declared(
    tape: &Tape,
    node: Node,
    except: Option<Node>,
    structural: &[(Node, Edit)],
    literals: &Literals,
    edits: &mut Edits,
) {
    if except == Some(node) {
        return;
    }
    match tape.kind(node) {
        Kind::Object => {
            for (name, value) in tape.members(node) {
                if literals.are_in(&tape.text(name)) {
                    edits.push((name, Edit::Name));
                } else {
                    declared(tape, value, except, structural, literals, edits);
                }
            }
        }
        Kind::Array => {
            for element in tape.elements(node) {
                declared(tape, element, except, structural, literals, edits);
            }
        }
        Kind::Text => {
            let known = edit_of(structural, node);
            let text = tape.text(node);
            let stripped = || {
                without_userinfo(&text)
                    .is_some_and(|(head, rest)| literals.are_in(&[head, rest].concat()))
            };
            let holds = known != Some(Edit::Credential)
                && (literals.are_in(&text) || known == Some(Edit::Userinfo) && stripped());
            match (holds, known) {
                (true, _) => edits.push((node, Edit::Explicit)),
                (false, Some(known)) => edits.push((node, known)),
                (false, None) => {}
            }
        }
        Kind::Number(lexeme) if literals.are_in(lexeme) => edits.push((node, Edit::Explicit)),
        Kind::Number(_) | Kind::Null | Kind::Bool(_) => {
            edits.extend(edit_of(structural, node).map(|edit| (node, edit)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> Option<String> {
        let (head, rest) = without_userinfo(text.as_bytes())?;
        String::from_utf8([head, rest].concat()).ok()
    }

    #[test]
    fn users_and_passwords_go_and_nothing_else() {
        for (given, expected) in [
            ("https://u:p@h/a@b", Some("https://h/a@b")),
            (" \tHTTP://a@b@h?x", Some(" \tHTTP://h?x")),
            ("//u@h#f", Some("//h#f")),
            ("https://h/a?u=x@y", None),
            ("https://h#a@b", None),
            ("mailto:a@b", None),
            ("u:p@h", None),
            ("1a://u@h", None),
            ("", None),
        ] {
            assert_eq!(stripped(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn half_of_a_pair_is_found_within_it() {
        let pair = Text::from_utf16([0xD83D, 0xDE00]);
        let half = Text::from_utf16([0xD83D]);
        let literals = Literals::new(&[half]);
        assert!(literals.are_in(pair.as_bytes()));
        assert!(!literals.are_in_bytes(pair.as_bytes()));
        assert!(!literals.are_in("\u{FE00}x".as_bytes()));
        assert_eq!(
            units("a\u{e9}\u{20ac}\u{1F600}".as_bytes()),
            "a\u{e9}\u{20ac}\u{1F600}"
                .encode_utf16()
                .collect::<Vec<_>>()
        );
    }
}
