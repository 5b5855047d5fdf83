//! What a segment is by what stands where it stands in other paths.

use std::collections::{BTreeMap, BTreeSet};

use super::{Prefix, Rule, Segment, Shape, Work};
use crate::json::Text;

/// A version of the API is no parameter: one or two digits or a date, first or
/// behind `api`, with something behind it, and never three of them.
pub(super) fn keep_versions(work: &mut [Work<'_>]) {
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
pub(super) fn longest(work: &[Work<'_>]) -> usize {
    let lengths = work.iter().map(|line| line.segments.len());
    lengths
        .filter(|&length| length <= COMPARED)
        .max()
        .unwrap_or(0)
}

/// Eight digits that happen to be a date are a number among numbers.
pub(super) fn count_dates_among_numbers(work: &mut [Work<'_>]) {
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

/// A token may lack digits by chance: what looks like one and stands where
/// tokens of its length stand is one.
pub(super) fn tokens_in_company(work: &mut [Work<'_>], at: usize) {
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
pub(super) fn sibling_variance(work: &mut [Work<'_>], at: usize) {
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
