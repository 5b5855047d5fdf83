//! Path templates: which segments of recorded paths are parameters (web.md
//! section 2.2, decision 39). A templated segment is an inference, and says by
//! which rule.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Text;

/// Why a segment is taken for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// It stands behind a segment `uid`. On request.
    AfterUidLiteral,
    /// A date: `2026-01-31`, `20260131`, `2026-01`.
    Date,
    /// Digits.
    Numeric,
    /// A UUID in any case.
    Uuid,
    /// A ULID: 26 characters of Crockford's base 32.
    Ulid,
    /// 16 or more hexadecimal digits.
    Hex,
    /// A run of letters and digits that no one would write. On request.
    OpaqueToken,
    /// Three or more values where all else is equal. On request.
    SiblingVariance,
}

impl Rule {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 8] = [
        Self::AfterUidLiteral,
        Self::Date,
        Self::Numeric,
        Self::Uuid,
        Self::Ulid,
        Self::Hex,
        Self::OpaqueToken,
        Self::SiblingVariance,
    ];

    /// The rules that are applied only where they are asked for.
    pub const OPTIONAL: [Self; 3] = [
        Self::AfterUidLiteral,
        Self::OpaqueToken,
        Self::SiblingVariance,
    ];

    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AfterUidLiteral => "after-uid-literal",
            Self::Date => "date",
            Self::Numeric => "numeric",
            Self::Uuid => "uuid",
            Self::Ulid => "ulid",
            Self::Hex => "hex",
            Self::OpaqueToken => "opaque-token",
            Self::SiblingVariance => "sibling-variance",
        }
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }

    /// What a parameter of it is called.
    pub fn parameter(self) -> &'static str {
        match self {
            Self::AfterUidLiteral => "uid",
            Self::SiblingVariance => "name",
            _ => "id",
        }
    }
}

/// The optional rules that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// [`Rule::AfterUidLiteral`]
    pub after_uid_literal: bool,
    /// [`Rule::OpaqueToken`]
    pub opaque_token: bool,
    /// [`Rule::SiblingVariance`]
    pub sibling_variance: bool,
}

impl Rules {
    /// All optional rules.
    pub const ALL: Self = Self {
        after_uid_literal: true,
        opaque_token: true,
        sibling_variance: true,
    };

    /// Adds a rule that is asked for.
    pub fn add(&mut self, rule: Rule) {
        match rule {
            Rule::AfterUidLiteral => self.after_uid_literal = true,
            Rule::OpaqueToken => self.opaque_token = true,
            Rule::SiblingVariance => self.sibling_variance = true,
            _ => {}
        }
    }
}

/// A segment of a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The same in all records. Matrix parameters stand without their values.
    Literal(Text),
    /// A parameter.
    Templated(Rule),
}

/// A path to be templated. Paths of one origin are templated together.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// The origin.
    pub origin: &'a [u8],
    /// The path as written.
    pub path: &'a [u8],
    /// The request's method.
    pub method: &'a [u8],
}

/// The template of each path. Never depends on the order of `paths`.
pub fn templates(paths: &[Path<'_>], rules: Rules) -> Vec<Vec<Segment>> {
    // Many records have the same path.
    let mut distinct: BTreeMap<(&[u8], &[u8]), usize> = BTreeMap::new();
    for path in paths {
        let next = distinct.len();
        distinct.entry((path.origin, path.path)).or_insert(next);
    }
    let mut work: Vec<Work<'_>> = vec![Work::default(); distinct.len()];
    for (&(origin, path), &at) in &distinct {
        if let Some(slot) = work.get_mut(at) {
            *slot = Work::new(origin, path, rules);
        }
    }
    for path in paths {
        let at = distinct.get(&(path.origin, path.path));
        if let Some(slot) = at.and_then(|&at| work.get_mut(at)) {
            slot.methods.insert(path.method);
        }
    }
    keep_versions(&mut work);
    count_dates_among_numbers(&mut work);
    for at in 0..longest(&work) {
        if rules.opaque_token {
            tokens_in_company(&mut work, at);
        }
        if rules.sibling_variance {
            sibling_variance(&mut work, at);
        }
    }
    let of = |path: &Path<'_>| {
        let at = distinct.get(&(path.origin, path.path));
        let found = at.and_then(|&at| work.get(at));
        found.map(|work| work.template()).unwrap_or_default()
    };
    paths.iter().map(of).collect()
}

/// A path that is being templated.
#[derive(Clone, Debug, Default)]
struct Work<'a> {
    origin: &'a [u8],
    segments: Vec<&'a [u8]>,
    rules: Vec<Option<Rule>>,
    methods: BTreeSet<&'a [u8]>,
}

impl<'a> Work<'a> {
    fn new(origin: &'a [u8], path: &'a [u8], rules: Rules) -> Self {
        let segments = super::line::segments(path);
        let mut previous: &[u8] = b"";
        let mut found = Vec::with_capacity(segments.len());
        for segment in &segments {
            let base = without_matrix(segment);
            let after_uid = rules.after_uid_literal && previous == b"uid" && !base.is_empty();
            found.push(match after_uid {
                true => Some(Rule::AfterUidLiteral),
                false => by_format(base).or_else(|| {
                    (rules.opaque_token && is_opaque(base)).then_some(Rule::OpaqueToken)
                }),
            });
            previous = base;
        }
        Self {
            origin,
            segments,
            rules: found,
            methods: BTreeSet::new(),
        }
    }

    fn base(&self, at: usize) -> &'a [u8] {
        without_matrix(self.segments.get(at).copied().unwrap_or_default())
    }

    fn rule(&self, at: usize) -> Option<Rule> {
        self.rules.get(at).copied().flatten()
    }

    fn set(&mut self, at: usize, rule: Option<Rule>) {
        if let Some(slot) = self.rules.get_mut(at) {
            *slot = rule;
        }
    }

    /// How many leading segments say which API it is, and in which version.
    fn prefix(&self) -> usize {
        let leads = |segment: &&&[u8]| {
            let digits = segment.strip_prefix(b"v").unwrap_or(segment);
            let number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
            let is_version = digits.first().is_some_and(u8::is_ascii_digit);
            **segment == b"api" || **segment == b"rest" || is_version && digits.iter().all(number)
        };
        self.segments.iter().take_while(leads).count()
    }

    /// What stands before a place.
    fn before(&self, at: usize) -> Prefix<'a> {
        let shapes = (0..at).map(|before| self.shape(before));
        (self.origin, shapes.collect())
    }

    /// What stands from a place on.
    fn from(&self, at: usize) -> Vec<Shape<'a>> {
        (at..self.segments.len()).map(|at| self.shape(at)).collect()
    }

    /// Whether a segment may be a value: a literal that stands for itself.
    fn may_vary(&self, at: usize) -> bool {
        at < self.segments.len() && self.rule(at).is_none() && !is_fixed(self.base(at))
    }

    /// What stands at a place for all that is compared.
    fn shape(&self, at: usize) -> Shape<'a> {
        match self.rule(at) {
            Some(rule) => Shape::Rule(rule),
            None => Shape::Literal(self.segments.get(at).copied().unwrap_or_default()),
        }
    }

    fn template(&self) -> Vec<Segment> {
        let segment = |(segment, rule): (&&[u8], &Option<Rule>)| match rule {
            Some(rule) => Segment::Templated(*rule),
            None => Segment::Literal(literal(segment)),
        };
        self.segments.iter().zip(&self.rules).map(segment).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape<'a> {
    Literal(&'a [u8]),
    Rule(Rule),
}

/// Origin and shapes before a place.
type Prefix<'a> = (&'a [u8], Vec<Shape<'a>>);

/// How many leading segments are the API's prefix (web.md section 2.2).
pub fn prefix_length(segments: &[&[u8]]) -> usize {
    let is_version = |segment: &[u8]| match segment.strip_prefix(b"v") {
        Some(digits) => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        None => false,
    };
    match segments {
        [b"api", version, ..] if is_version(version) => 2,
        [b"api", ..] => 1,
        _ => 0,
    }
}

/// A segment without its matrix parameters (RFC 3986 section 3.3).
fn without_matrix(segment: &[u8]) -> &[u8] {
    match matrix_start(segment) {
        Some(at) => segment.get(..at).unwrap_or(segment),
        None => segment,
    }
}

/// Where `;name=value` starts.
fn matrix_start(segment: &[u8]) -> Option<usize> {
    let at = segment.iter().position(|&byte| byte == b';')?;
    let rest = segment.get(at + 1..)?;
    let equals = rest.iter().position(|&byte| byte == b'=')?;
    (equals > 0).then_some(at)
}

/// A segment as it stands in a template: matrix parameters by name.
fn literal(segment: &[u8]) -> Text {
    let Some(at) = matrix_start(segment) else {
        return Text::from_wtf8(segment.to_vec());
    };
    let (base, parameters) = segment.split_at(at);
    let mut out = base.to_vec();
    for parameter in parameters.split(|&byte| byte == b';').skip(1) {
        let name = parameter.split(|&byte| byte == b'=').next();
        out.push(b';');
        out.extend_from_slice(name.unwrap_or_default());
    }
    Text::from_wtf8(out)
}

fn by_format(segment: &[u8]) -> Option<Rule> {
    let all = |is: fn(&u8) -> bool| !segment.is_empty() && segment.iter().all(is);
    if is_date(segment) {
        return Some(Rule::Date);
    }
    if all(u8::is_ascii_digit) {
        return Some(Rule::Numeric);
    }
    if is_uuid(segment) {
        return Some(Rule::Uuid);
    }
    if is_ulid(segment) {
        return Some(Rule::Ulid);
    }
    (segment.len() >= 16 && all(u8::is_ascii_hexdigit)).then_some(Rule::Hex)
}

fn number(digits: &[u8]) -> u32 {
    let value = |sum: u32, digit: &u8| sum.saturating_mul(10) + u32::from(digit.wrapping_sub(b'0'));
    digits.iter().fold(0, value)
}

/// A day or month of the calendar between 1900 and 2099.
fn is_date(segment: &[u8]) -> bool {
    let parts: Vec<&[u8]> = segment.split(|&byte| byte == b'-').collect();
    let (year, month, day) = match parts.as_slice() {
        [compact] if compact.len() == 8 => {
            let (year, rest) = compact.split_at(4);
            let (month, day) = rest.split_at(2);
            (year, month, Some(day))
        }
        [year, month, day] => (*year, *month, Some(*day)),
        [year, month] => (*year, *month, None),
        _ => return false,
    };
    let digits =
        |part: &[u8], length: usize| part.len() == length && part.iter().all(u8::is_ascii_digit);
    digits(year, 4)
        && digits(month, 2)
        && day.is_none_or(|day| digits(day, 2))
        && (1900..2100).contains(&number(year))
        && (1..=12).contains(&number(month))
        && day.is_none_or(|day| (1..=31).contains(&number(day)))
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(segment: &[u8]) -> bool {
    let groups: Vec<&[u8]> = segment.split(|&byte| byte == b'-').collect();
    let lengths = [8, 4, 4, 4, 12];
    groups.len() == lengths.len()
        && groups
            .iter()
            .zip(lengths)
            .all(|(group, length)| group.len() == length && group.iter().all(u8::is_ascii_hexdigit))
}

/// 26 characters without I, L, O and U, starting with 0 to 7, one case.
fn is_ulid(segment: &[u8]) -> bool {
    let character = |byte: &u8| byte.is_ascii_alphanumeric() && !b"ILOUilou".contains(byte);
    let lower = segment.iter().any(u8::is_ascii_lowercase);
    let upper = segment.iter().any(u8::is_ascii_uppercase);
    segment.len() == 26
        && matches!(segment.first(), Some(b'0'..=b'7'))
        && segment.iter().all(character)
        && lower != upper
}

/// 8 to 128 of letters, digits, `_` and `-`, with a run of 8 or more letters
/// and digits that has both and is no word with a short number.
fn is_opaque(segment: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !(8..=128).contains(&segment.len()) || !segment.iter().all(allowed) {
        return false;
    }
    segment
        .split(|byte| matches!(byte, b'_' | b'-'))
        .any(|run| {
            let letters = run.iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let digits = run.iter().filter(|b| b.is_ascii_digit()).count();
            let is_numbered_word = letters + digits == run.len() && digits <= 4;
            run.len() >= 8 && digits > 0 && digits < run.len() && !is_numbered_word
        })
}

/// A version of the API is no parameter: one or two digits or a date, first or
/// behind `api`, with something behind it, and never three of them.
fn keep_versions(work: &mut [Work<'_>]) {
    let place = |line: &Work<'_>| {
        let at = match line.segments.iter().position(|segment| *segment == b"api") {
            Some(api) => api + 1,
            None => 0,
        };
        let segment = line.base(at);
        let is_version = match line.rule(at) {
            Some(Rule::Numeric) => segment.len() <= 2,
            Some(Rule::Date) => segment.contains(&b'-'),
            _ => false,
        };
        let followed = line
            .segments
            .get(at + 1)
            .is_some_and(|next| !next.is_empty());
        (is_version && followed).then_some(at)
    };
    /// Origin and segments before a place.
    type Before = (Vec<u8>, Vec<Vec<u8>>);
    let mut values: BTreeMap<Before, BTreeSet<Vec<u8>>> = BTreeMap::new();
    let key = |line: &Work<'_>, at: usize| {
        let before = line
            .segments
            .iter()
            .take(at)
            .map(|segment| segment.to_vec());
        (line.origin.to_vec(), before.collect::<Vec<_>>())
    };
    for line in work.iter() {
        if let Some(at) = place(line) {
            values
                .entry(key(line, at))
                .or_default()
                .insert(line.base(at).to_vec());
        }
    }
    for line in work {
        if let Some(at) = place(line)
            && values
                .get(&key(line, at))
                .is_some_and(|values| values.len() < 3)
        {
            line.set(at, None);
        }
    }
}

/// Paths of more segments are templated by format alone, so that work stays
/// in proportion to the capture.
const COMPARED: usize = 24;

/// How many places are compared.
fn longest(work: &[Work<'_>]) -> usize {
    let lengths = work.iter().map(|line| line.segments.len());
    lengths
        .filter(|&length| length <= COMPARED)
        .max()
        .unwrap_or(0)
}

/// Eight digits that happen to be a date are a number among numbers.
fn count_dates_among_numbers(work: &mut [Work<'_>]) {
    let compact = |line: &Work<'_>, at: usize| {
        line.segments.len() <= COMPARED
            && line.rule(at) == Some(Rule::Date)
            && !line.base(at).contains(&b'-')
    };
    let longest = longest(work);
    for at in 0..longest {
        if !work.iter().any(|line| compact(line, at)) {
            continue;
        }
        let key = |line: &Work<'_>| {
            let before = (0..at).map(|before| match line.shape(before) {
                Shape::Literal(text) => Segment::Literal(Text::from_wtf8(text.to_vec())),
                Shape::Rule(rule) => Segment::Templated(rule),
            });
            (line.origin.to_vec(), before.collect::<Vec<_>>())
        };
        let numbers: BTreeSet<_> = work
            .iter()
            .filter(|line| line.segments.len() <= COMPARED && line.rule(at) == Some(Rule::Numeric))
            .map(key)
            .collect();
        for line in work.iter_mut() {
            if compact(line, at) && numbers.contains(&key(line)) {
                line.set(at, Some(Rule::Numeric));
            }
        }
    }
}

/// The least number of values that make a parameter.
const SIBLINGS: usize = 3;

/// Words that name what is done or which one is meant, in the APIs of the world:
/// not taken for values.
const ACTIONS: [&str; 49] = [
    "me",
    "self",
    "current",
    "new",
    "search",
    "lookup",
    "find",
    "query",
    "login",
    "logout",
    "register",
    "signin",
    "signup",
    "list",
    "all",
    "count",
    "stats",
    "status",
    "summary",
    "health",
    "version",
    "latest",
    "public",
    "home",
    "batch",
    "bulk",
    "export",
    "import",
    "upload",
    "download",
    "validate",
    "verify",
    "preview",
    "settings",
    "config",
    "available",
    "recent",
    "popular",
    "trending",
    "top",
    "upcoming",
    "history",
    "events",
    "default",
    "info",
    "metadata",
    "schema",
    "ping",
    "token",
];

/// A word of [`ACTIONS`], a language with a region, or a version of an API.
fn is_fixed(segment: &[u8]) -> bool {
    let version = segment.strip_prefix(b"v").is_some_and(|rest| {
        let dots = rest.iter().filter(|&&byte| byte == b'.').count();
        rest.first().is_some_and(u8::is_ascii_digit)
            && dots < 2
            && rest
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    });
    let locale = match segment {
        [a, b, b'-' | b'_', c, d] => {
            a.is_ascii_lowercase()
                && b.is_ascii_lowercase()
                && c.is_ascii_alphabetic()
                && d.is_ascii_alphabetic()
        }
        _ => false,
    };
    let action = ACTIONS
        .iter()
        .any(|action| action.as_bytes().eq_ignore_ascii_case(segment));
    segment.is_empty() || version || locale || action
}

/// A token may lack digits by chance: what looks like one and stands where
/// tokens of its length stand is one.
fn tokens_in_company(work: &mut [Work<'_>], at: usize) {
    let mut lengths: BTreeMap<Prefix<'_>, BTreeSet<usize>> = BTreeMap::new();
    for line in compared(work) {
        if line.rule(at) == Some(Rule::OpaqueToken) {
            lengths
                .entry(line.before(at))
                .or_default()
                .insert(line.base(at).len());
        }
    }
    if lengths.is_empty() {
        return;
    }
    let looks_like_one = |segment: &[u8]| {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        segment.len() >= 8
            && segment.iter().all(allowed)
            && segment.iter().any(u8::is_ascii_lowercase)
            && segment.iter().any(u8::is_ascii_uppercase)
    };
    for line in work
        .iter_mut()
        .filter(|line| line.segments.len() <= COMPARED)
    {
        let base = line.base(at);
        if line.may_vary(at)
            && looks_like_one(base)
            && let Some(lengths) = lengths.get(&line.before(at))
            && lengths
                .iter()
                .any(|length| length.abs_diff(base.len()) <= 2)
        {
            line.set(at, Some(Rule::OpaqueToken));
        }
    }
}

/// The paths that are compared with each other.
fn compared<'w, 'a>(work: &'w [Work<'a>]) -> impl Iterator<Item = &'w Work<'a>> {
    work.iter().filter(|line| line.segments.len() <= COMPARED)
}

/// Where all else is equal, the method too, and three values stand, they are
/// values; so are three pairs of them that stand before two endings or more,
/// such as an owner and its repository. What is found from the left on counts
/// for what stands to its right. Behind a parameter stand names of what belongs
/// to it, or actions: never values of their own.
fn sibling_variance(work: &mut [Work<'_>], at: usize) {
    /// What stands before a place, how it is asked, and what stands behind it.
    type Around<'a> = (Prefix<'a>, &'a [u8], Vec<Shape<'a>>);
    type Pairs<'a> = BTreeSet<(&'a [u8], &'a [u8])>;
    let applies =
        |line: &Work<'_>| at > line.prefix() && line.may_vary(at) && line.rule(at - 1).is_none();
    let mut values: BTreeMap<Around<'_>, BTreeSet<&[u8]>> = BTreeMap::new();
    let mut pairs: BTreeMap<Around<'_>, Pairs<'_>> = BTreeMap::new();
    for line in compared(work).filter(|line| applies(line)) {
        for method in &line.methods {
            let around = (line.before(at), *method, line.from(at + 1));
            values.entry(around).or_default().insert(line.base(at));
            if line.may_vary(at + 1) {
                let around = (line.before(at), *method, line.from(at + 2));
                let pair = (line.base(at), line.base(at + 1));
                pairs.entry(around).or_default().insert(pair);
            }
        }
    }
    // Values that are known for a prefix are values in all paths below it.
    let mut known: BTreeSet<(&Prefix<'_>, &[u8])> = BTreeSet::new();
    for ((before, ..), found) in &values {
        if found.len() >= SIBLINGS {
            known.extend(found.iter().map(|value| (before, *value)));
        }
    }
    let mut shared: BTreeMap<&Prefix<'_>, Vec<&Pairs<'_>>> = BTreeMap::new();
    for ((before, ..), found) in &pairs {
        let firsts: BTreeSet<_> = found.iter().map(|(first, _)| first).collect();
        let seconds: BTreeSet<_> = found.iter().map(|(_, second)| second).collect();
        if firsts.len() >= SIBLINGS && seconds.len() >= SIBLINGS {
            shared.entry(before).or_default().push(found);
        }
    }
    let mut known_pairs: BTreeSet<(&Prefix<'_>, &[u8], &[u8])> = BTreeSet::new();
    for (before, endings) in shared {
        if endings.len() < 2 {
            continue;
        }
        for (first, second) in endings.into_iter().flatten() {
            known_pairs.insert((before, first, second));
            known.insert((before, first));
        }
    }
    let found: Vec<(bool, bool)> = work
        .iter()
        .map(|line| {
            if line.segments.len() > COMPARED || !applies(line) {
                return (false, false);
            }
            let before = line.before(at);
            let pair = (&before, line.base(at), line.base(at + 1));
            let is_pair = line.may_vary(at + 1) && known_pairs.contains(&pair);
            (
                is_pair || known.contains(&(&before, line.base(at))),
                is_pair,
            )
        })
        .collect();
    for (line, (is_value, is_pair)) in work.iter_mut().zip(found) {
        if is_value {
            line.set(at, Some(Rule::SiblingVariance));
        }
        if is_pair {
            line.set(at + 1, Some(Rule::SiblingVariance));
        }
    }
}

/// The text of a template: parameters by their rule, in braces.
pub fn text(template: &[Segment]) -> Text {
    if template.is_empty() {
        return "/".into();
    }
    let mut out = Vec::new();
    for segment in template {
        out.push(b'/');
        match segment {
            Segment::Literal(text) => out.extend_from_slice(text.as_bytes()),
            Segment::Templated(rule) => {
                out.push(b'{');
                out.extend_from_slice(rule.as_str().as_bytes());
                out.push(b'}');
            }
        }
    }
    Text::from_wtf8(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[&str], rules: Rules) -> Vec<String> {
        let paths: Vec<Path<'_>> = paths
            .iter()
            .map(|path| Path {
                origin: b"http://h",
                path: path.as_bytes(),
                method: b"GET",
            })
            .collect();
        let templates = templates(&paths, rules);
        let shown = templates
            .iter()
            .map(|template| text(template).as_str().unwrap().to_owned());
        shown.collect()
    }

    fn one(path: &str) -> String {
        shown(&[path], Rules::ALL).remove(0)
    }

    #[test]
    fn formats() {
        for (path, expected) in [
            ("/", "/"),
            ("/users/12", "/users/{numeric}"),
            ("/a/3F2B6C1E-8d4a-4b7e-9c11-0a5d7e9f1234", "/a/{uuid}"),
            ("/a/3f2b6c1e8d4a4b7e", "/a/{hex}"),
            ("/a/3f2b6c1e8d4a4b7", "/a/{opaque-token}"),
            ("/a/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/a/{ulid}"),
            ("/a/2026-01-31", "/a/{date}"),
            ("/a/20260131", "/a/{date}"),
            ("/a/2026-01", "/a/{date}"),
            ("/a/20261331", "/a/{numeric}"),
            ("/a/2026", "/a/{numeric}"),
            ("/d/uid/0012", "/d/uid/{after-uid-literal}"),
            ("/d/uid/", "/d/uid/"),
            ("/p/prometheus2024", "/p/prometheus2024"),
            ("/s/aeqv5zt3wqe4gd", "/s/{opaque-token}"),
            ("/s/cus_NffrFeUfNV2Hib", "/s/{opaque-token}"),
            ("/assets/app.3f9c.js", "/assets/app.3f9c.js"),
            ("/users/12/", "/users/{numeric}/"),
            ("/users//12", "/users//{numeric}"),
            ("/a;v=1/5;x=y", "/a;v/{numeric}"),
            ("/a;b", "/a;b"),
            ("/%31", "/%31"),
        ] {
            assert_eq!(one(path), expected, "{path}");
        }
    }

    #[test]
    fn versions_stay() {
        for (path, expected) in [
            ("/3/movie/550", "/3/movie/{numeric}"),
            ("/2010-04-01/Accounts/1", "/2010-04-01/Accounts/{numeric}"),
            ("/rest/api/2/issue/10002", "/rest/api/2/issue/{numeric}"),
            ("/api/7", "/api/{numeric}"),
            ("/550/movie/3", "/{numeric}/movie/{numeric}"),
        ] {
            assert_eq!(one(path), expected, "{path}");
        }
        let ids = ["/1/a", "/2/a", "/3/a"];
        assert_eq!(shown(&ids, Rules::default()), ["/{numeric}/a"; 3]);
    }

    #[test]
    fn a_date_among_numbers_is_one_of_them() {
        let found = shown(&["/u/20190522", "/u/17", "/d/20190522"], Rules::default());
        assert_eq!(found, ["/u/{numeric}", "/u/{numeric}", "/d/{date}"]);
    }

    #[test]
    fn siblings() {
        let three = [
            "/api/f/a%20b/raw",
            "/api/f/c/raw",
            "/api/f/d/raw",
            "/api/f/c/meta",
        ];
        assert_eq!(
            shown(&three, Rules::ALL),
            [
                "/api/f/{sibling-variance}/raw",
                "/api/f/{sibling-variance}/raw",
                "/api/f/{sibling-variance}/raw",
                "/api/f/{sibling-variance}/meta"
            ]
        );
        assert_eq!(shown(&three, Rules::default())[0], three[0]);
        // An owner and its repository, with two endings.
        let pairs = [
            "/r/a/x", "/r/b/y", "/r/c/z", "/r/a/x/i", "/r/b/y/i", "/r/c/z/i",
        ];
        let pair = "/r/{sibling-variance}/{sibling-variance}";
        assert_eq!(
            shown(&pairs, Rules::ALL),
            [
                pair,
                pair,
                pair,
                &format!("{pair}/i"),
                &format!("{pair}/i"),
                &format!("{pair}/i")
            ]
        );
        assert_eq!(shown(&pairs[..3], Rules::ALL), pairs[..3]);
        // A token without digits, in company.
        let tokens = ["/f/l3KqBxCMz", "/f/nErXDvCkzz", "/f/overview"];
        assert_eq!(
            shown(&tokens, Rules::ALL),
            ["/f/{opaque-token}", "/f/{opaque-token}", "/f/overview"]
        );
        assert_eq!(shown(&tokens[1..], Rules::ALL), tokens[1..]);
        // Two are not enough; collections stay apart; so do actions.
        for literal in [
            &["/api/f/a", "/api/f/b"][..],
            &["/api/users", "/api/orgs", "/api/teams"],
            &["/v1/users", "/v1/orgs", "/v1/teams"],
            &["/user/login", "/user/logout", "/user/me", "/user/search"],
            &["/api/v2/users", "/api/v2/orgs", "/api/v2/teams"],
            &["/docs/en-US/x", "/docs/de-DE/x", "/docs/fr-FR/x"],
            &["/docs/v1/x", "/docs/v2/x", "/docs/v3/x"],
        ] {
            assert_eq!(shown(literal, Rules::ALL), literal);
        }
        let actions = ["/u/1/lock", "/u/1/unlock", "/u/2/delete"];
        assert_eq!(
            shown(&actions, Rules::ALL),
            [
                "/u/{numeric}/lock",
                "/u/{numeric}/unlock",
                "/u/{numeric}/delete"
            ]
        );
    }

    #[test]
    fn order_does_not_matter() {
        let mut paths = vec![
            "/r/a/x",
            "/r/b/x",
            "/r/c/x",
            "/r/a/y",
            "/r/1/x",
            "/r/20200101/x",
        ];
        let forwards: BTreeMap<_, _> = paths
            .iter()
            .copied()
            .zip(shown(&paths, Rules::ALL))
            .collect();
        paths.reverse();
        let backwards: BTreeMap<_, _> = paths
            .iter()
            .copied()
            .zip(shown(&paths, Rules::ALL))
            .collect();
        assert_eq!(forwards, backwards);
    }
}
