//! Path templates: which segments of recorded paths are parameters (web.md
//! section 2.2, decision 39). A templated segment is an inference, and says by
//! which rule.

mod format;
mod neighbours;

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Text;
use format::{by_format, is_fixed, is_opaque};
use neighbours::{
    count_dates_among_numbers, keep_versions, longest, sibling_variance, tokens_in_company,
};

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
