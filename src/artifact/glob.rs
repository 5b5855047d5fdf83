//! Patterns that select logical paths.
//!
//! `*` stands for any characters but `/`, `?` for one of them, `[a-c]` and
//! `[!a-c]` for one of a set, and a segment `**` for any number of whole
//! segments. Everything else stands for itself; a character that would not
//! does in a set of its own (`[*]`). A pattern covers the whole path.

/// A pattern, ready to match.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug)]
enum Segment {
    /// `**`
    Any,
    Of(Vec<Token>),
}

#[derive(Clone, Debug)]
enum Token {
    /// `*`
    Many,
    /// `?`
    One,
    Char(char),
    /// Ranges, ascending and apart from each other, and whether the character
    /// must be in none of them. Not negated, it has two characters at least.
    Set(Vec<(char, char)>, bool),
}

impl Glob {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("a pattern must not be empty");
        }
        let mut segments = Vec::new();
        for segment in split(text)? {
            if segment.is_empty() {
                return Err("a pattern has no empty segments");
            }
            match segment.as_str() {
                // Two of them say no more than one.
                "**" if matches!(segments.last(), Some(Segment::Any)) => {}
                "**" => segments.push(Segment::Any),
                segment => segments.push(Segment::Of(tokens(segment)?)),
            }
        }
        Ok(Self {
            text: text.to_owned(),
            segments,
        })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The one spelling of all patterns that are alike up to how sets of
    /// characters and runs of wildcards are written: `[p]lain` is `plain`,
    /// `[cab]` is `[a-c]`, `*?` is `?*`. It is a pattern itself.
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for (at, segment) in self.segments.iter().enumerate() {
            if at > 0 {
                out.push('/');
            }
            match segment {
                Segment::Any => out.push_str("**"),
                Segment::Of(tokens) => spell(tokens, &mut out),
            }
        }
        out
    }

    /// Whether it can match only one path, and so names it.
    pub fn is_name(&self) -> bool {
        self.segments.iter().all(|segment| match segment {
            Segment::Any => false,
            Segment::Of(tokens) => tokens.iter().all(|token| matches!(token, Token::Char(_))),
        })
    }

    /// Whether the whole `path` matches. Never slower than pattern times path.
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        let mut memory = Backtrack::default();
        loop {
            match (
                self.segments.get(memory.pattern),
                path.get(memory.subject).copied(),
            ) {
                (None, None) => return true,
                (Some(Segment::Any), _) => memory.star(),
                (Some(Segment::Of(tokens)), Some(segment)) if covers(tokens, segment) => {
                    memory.both();
                }
                _ => {
                    if !memory.again(path.len()) {
                        return false;
                    }
                }
            }
        }
    }
}

impl std::str::FromStr for Glob {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

/// Two places that move along together; what fails goes back to the last
/// wildcard, which then takes one more. Earlier ones need not be tried again.
#[derive(Default)]
struct Backtrack {
    pattern: usize,
    subject: usize,
    star: Option<(usize, usize)>,
}

impl Backtrack {
    fn both(&mut self) {
        self.pattern += 1;
        self.subject += 1;
    }

    fn star(&mut self) {
        self.pattern += 1;
        self.star = Some((self.pattern, self.subject));
    }

    fn again(&mut self, len: usize) -> bool {
        match self.star {
            Some((pattern, subject)) if subject < len => {
                self.pattern = pattern;
                self.subject = subject + 1;
                self.star = Some((pattern, subject + 1));
                true
            }
            _ => false,
        }
    }
}

fn covers(tokens: &[Token], segment: &str) -> bool {
    let chars: Vec<char> = segment.chars().collect();
    let mut memory = Backtrack::default();
    loop {
        match (
            tokens.get(memory.pattern),
            chars.get(memory.subject).copied(),
        ) {
            (None, None) => return true,
            (Some(Token::Many), _) => memory.star(),
            (Some(token), Some(char)) if token.takes(char) => memory.both(),
            _ => {
                if !memory.again(chars.len()) {
                    return false;
                }
            }
        }
    }
}

impl Token {
    fn takes(&self, char: char) -> bool {
        match self {
            Self::Many | Self::One => true,
            Self::Char(known) => *known == char,
            Self::Set(ranges, negated) => {
                let inside = ranges
                    .iter()
                    .any(|(from, to)| (*from..=*to).contains(&char));
                inside != *negated
            }
        }
    }
}

/// Cuts at `/`, but not inside of sets.
fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut segments = vec![String::new()];
    let mut in_set = false;
    for char in text.chars() {
        match char {
            '/' if in_set => return Err("a set of characters cannot hold /"),
            '/' => {
                segments.push(String::new());
                continue;
            }
            '[' => in_set = true,
            ']' => in_set = false,
            _ => {}
        }
        if let Some(last) = segments.last_mut() {
            last.push(char);
        }
    }
    Ok(segments)
}

fn tokens(segment: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut chars = segment.chars().peekable();
    while let Some(char) = chars.next() {
        tokens.push(match char {
            '*' => {
                if chars.peek() == Some(&'*') {
                    return Err("** stands for whole segments: write it between two /");
                }
                Token::Many
            }
            '?' => Token::One,
            '[' => set(&mut chars)?,
            char => Token::Char(char),
        });
    }
    Ok(tokens)
}

fn set(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token, &'static str> {
    const OPEN: &str = "a set of characters is not closed by ]";
    let negated = chars.next_if(|&char| matches!(char, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        match chars.next().ok_or(OPEN)? {
            ']' if ranges.is_empty() => return Err("a set of characters must not be empty"),
            ']' => return Ok(set_of(ranges, negated)),
            from => {
                let mut to = from;
                let mut ahead = chars.clone();
                if ahead.next() == Some('-') && ahead.next().is_some_and(|char| char != ']') {
                    chars.next();
                    to = chars.next().ok_or(OPEN)?;
                }
                if to < from {
                    return Err("a range of characters runs backwards");
                }
                ranges.push((from, to));
            }
        }
    }
}

/// Joins ranges that touch each other.
fn set_of(mut ranges: Vec<(char, char)>, negated: bool) -> Token {
    ranges.sort_unstable();
    let mut joined: Vec<(char, char)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match joined.last_mut() {
            Some((_, end)) if u32::from(from) <= u32::from(*end) + 1 => *end = to.max(*end),
            _ => joined.push((from, to)),
        }
    }
    match joined.as_slice() {
        &[(from, to)] if from == to && !negated => Token::Char(from),
        _ => Token::Set(joined, negated),
    }
}

/// Writes the tokens of a segment; in a run of wildcards `?` comes first.
fn spell(tokens: &[Token], out: &mut String) {
    let mut many = false;
    for token in tokens {
        match token {
            Token::Many => many = true,
            Token::One => out.push('?'),
            other => {
                if std::mem::take(&mut many) {
                    out.push('*');
                }
                match other {
                    Token::Char(char @ ('*' | '?' | '[')) => {
                        out.push('[');
                        out.push(*char);
                        out.push(']');
                    }
                    Token::Char(char) => out.push(*char),
                    Token::Set(ranges, negated) => spell_set(ranges, *negated, out),
                    Token::Many | Token::One => {}
                }
            }
        }
    }
    if many {
        out.push('*');
    }
}

/// Writes a set so that it is read as what it is: `-` first, where it cannot
/// start a range, and what would negate the set last.
fn spell_set(ranges: &[(char, char)], negated: bool, out: &mut String) {
    out.push('[');
    if negated {
        out.push('!');
    }
    if ranges.contains(&('-', '-')) {
        out.push('-');
    }
    let mut last = String::new();
    for &(from, to) in ranges {
        let mut from = from;
        if from == '-' && to == '-' {
            continue;
        }
        if !negated && matches!(from, '!' | '^') {
            last.push(from);
            if from == to {
                continue;
            }
            from = char::from_u32(u32::from(from) + 1).unwrap_or(to);
        }
        out.push(from);
        if from != to {
            out.push('-');
            out.push(to);
        }
    }
    out.push_str(&last);
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Glob::new(pattern).unwrap().matches(path)
    }

    /// What git, rsync and globset say of the same patterns.
    #[test]
    fn patterns_cover_whole_paths() {
        for (pattern, path, expected) in [
            ("a", "a", true),
            ("a", "a/b", false),
            ("*", "a", true),
            ("*", "a/b", false),
            ("**", "a/b/c", true),
            ("**/*.so", "libx.so", true),
            ("**/*.so", "lib/x86/libx.so", true),
            ("**/*.so", "lib/x86/libx.so/a", false),
            ("lib/**", "lib/x/y", true),
            ("lib/**", "library/x", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/**/b/**/c", "a/b/b/x/c", true),
            ("a/**/b", "a/x/c", false),
            ("?.[tm]xt", "a.txt", true),
            ("?.[!tm]xt", "a.txt", false),
            ("[a-c]x[-z]", "bx-", true),
            ("[a-c]x", "dx", false),
            ("[*]", "*", true),
            ("[*]", "a", false),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxcxxb", false),
            ("\u{e9}?", "\u{e9}\u{1F600}", true),
            ("a%2F", "a%2F", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for wrong in [
            "", "/a", "a/", "a//b", "a**", "**a/b", "[", "[a", "[]", "[b-a]", "[a/b]",
        ] {
            assert!(Glob::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_that_are_alike_have_one_spelling() {
        for (pattern, expected) in [
            ("[p]lain", "plain"),
            ("plain", "plain"),
            ("[*]", "[*]"),
            ("a[]]", ""),
            ("x]", "x]"),
            ("[[]", "[[]"),
            ("[cab]", "[a-c]"),
            ("[aa]", "a"),
            ("[ab-da-c]x", "[a-d]x"),
            ("[!ba]", "[!a-b]"),
            ("[^z]", "[!z]"),
            ("[!^]", "[!^]"),
            ("[!!]", "[!!]"),
            ("[a!]", "[a!]"),
            ("[a^!]", "[a!^]"),
            ("[a!-z]", "[\"-z!]"),
            ("[-!^]", "[-!^]"),
            ("[a-]", "[-a]"),
            ("[+--]", "[+--]"),
            ("[--.]", "[--.]"),
            ("*?*x", "?*x"),
            ("**/**/a*", "**/a*"),
        ] {
            let Ok(glob) = Glob::new(pattern) else {
                assert_eq!(expected, "", "{pattern}");
                continue;
            };
            assert_eq!(glob.canonical(), expected, "{pattern}");
            let again = Glob::new(expected).unwrap();
            assert_eq!(again.canonical(), expected, "{pattern}");
            for char in (' '..='~').filter(|&char| char != '/') {
                for path in [char.to_string(), format!("a{char}"), format!("{char}x")] {
                    assert_eq!(
                        glob.matches(&path),
                        again.matches(&path),
                        "{pattern} {path}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_name_has_no_wildcards() {
        for (pattern, expected) in [
            ("a/b", true),
            ("a[*]", true),
            ("a[ab]", false),
            ("a/*", false),
            ("**", false),
            ("[!a]", false),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().is_name(), expected, "{pattern}");
        }
    }

    #[test]
    fn many_wildcards_are_not_slow() {
        let path = "a/".repeat(2000) + "b";
        assert!(!matches(&("**/a/".repeat(200) + "c"), &path));
        let name = "a".repeat(20_000);
        assert!(!matches(&("*a".repeat(200) + "b"), &name));
    }
}
