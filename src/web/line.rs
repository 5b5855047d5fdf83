//! Request lines: origin, path and query of an address, as written (web.md
//! section 2.1).

use crate::json::Text;

/// A request line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Lower-case scheme and host, and the port where it is not the usual one.
    pub origin: Text,
    /// From the authority to the first `?` or `#`; `/` where that is empty.
    pub path: Text,
    /// From the first `?` to a `#`; `None` without one.
    pub query: Option<Text>,
}

impl Line {
    /// The line of an absolute HTTP or HTTPS address (WTF-8).
    pub fn parse(url: &[u8]) -> Option<Self> {
        let colon = url.iter().position(|&byte| byte == b':')?;
        let (scheme, rest) = url.split_at(colon);
        let scheme = scheme.to_ascii_lowercase();
        let usual_port: &[u8] = match scheme.as_slice() {
            b"http" => b":80",
            b"https" => b":443",
            _ => return None,
        };
        let rest = rest.strip_prefix(b"://")?;
        let end = |bytes: &[u8], stops: &[u8]| {
            let stop = bytes.iter().position(|byte| stops.contains(byte));
            stop.unwrap_or(bytes.len())
        };
        let (authority, rest) = rest.split_at(end(rest, b"/?#"));
        let host = match memchr::memrchr(b'@', authority) {
            Some(at) => authority.get(at + 1..)?,
            None => authority,
        };
        if host.is_empty() || host.starts_with(b":") {
            return None;
        }
        let host = String::from_utf8(host.to_vec()).ok()?.to_lowercase();
        let host = host.as_bytes();
        let host = host.strip_suffix(usual_port).unwrap_or(host);
        let (path, rest) = rest.split_at(end(rest, b"?#"));
        let query = rest
            .starts_with(b"?")
            .then(|| rest.split_at(end(rest, b"#")).0);
        let text = |bytes: &[u8]| Text::from_wtf8(bytes.to_vec());
        Some(Self {
            origin: text(&[&scheme, b"://".as_slice(), host].concat()),
            path: text(if path.is_empty() { b"/" } else { path }),
            query: query.map(text),
        })
    }

    /// The segments of the path, as written; none of `/`.
    pub fn segments(&self) -> Vec<&[u8]> {
        segments(self.path.as_bytes())
    }

    /// Names and values of the query, form-decoded, in their order.
    pub fn query_pairs(&self) -> Vec<(Text, Text)> {
        let query = self
            .query
            .as_ref()
            .map_or(&b""[..], |query| query.as_bytes());
        let query = query.get(1..).unwrap_or_default();
        let pairs = query.split(|&byte| byte == b'&');
        pairs
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let at = pair.iter().position(|&byte| byte == b'=');
                let (name, value) = pair.split_at(at.unwrap_or(pair.len()));
                let value = value.get(1..).unwrap_or_default();
                (form_decoded(name), form_decoded(value))
            })
            .collect()
    }
}

/// The segments of a path, as written; none of `/`.
pub fn segments(path: &[u8]) -> Vec<&[u8]> {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    if path.is_empty() {
        return Vec::new();
    }
    path.split(|&byte| byte == b'/').collect()
}

/// `%XX` decoded; `None` where an escape is none or the result is no text.
pub fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut escaped = false;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (digits, after) = after.split_at_checked(2)?;
        let digit = |at: usize| char::from(*digits.get(at)?).to_digit(16);
        out.push((digit(0)? << 4 | digit(1)?) as u8);
        rest = after;
        escaped = true;
    }
    // What was not escaped may be half of a surrogate pair, as JSON has it.
    let is_text = !escaped || std::str::from_utf8(&out).is_ok();
    is_text.then_some(out)
}

/// As forms are read: `+` is a blank, and what cannot be decoded stays.
fn form_decoded(text: &[u8]) -> Text {
    let blanks: Vec<u8> = text
        .iter()
        .map(|&byte| if byte == b'+' { b' ' } else { byte })
        .collect();
    Text::from_wtf8(percent_decoded(&blanks).unwrap_or(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str) -> Option<(String, String, Option<String>)> {
        let line = Line::parse(url.as_bytes())?;
        let text = |text: &Text| text.as_str().unwrap().to_owned();
        Some((
            text(&line.origin),
            text(&line.path),
            line.query.as_ref().map(text),
        ))
    }

    #[test]
    fn lines_are_as_written() {
        for (url, expected) in [
            (
                "HTTPS://User:pw@Example.COM:443/a/../b%2f?x#y",
                Some(("https://example.com", "/a/../b%2f", Some("?x"))),
            ),
            ("http://h:8080", Some(("http://h:8080", "/", None))),
            ("http://h:80?", Some(("http://h", "/", Some("?")))),
            (
                "http://[::1]:80/a;b=1/",
                Some(("http://[::1]", "/a;b=1/", None)),
            ),
            ("https://h/#?x", Some(("https://h", "/", None))),
            ("ftp://h/", None),
            ("/a", None),
            ("data:text/plain,http://x", None),
            ("http:///a", None),
        ] {
            let expected = expected.map(|(origin, path, query): (&str, &str, Option<&str>)| {
                (origin.to_owned(), path.to_owned(), query.map(str::to_owned))
            });
            assert_eq!(line(url), expected, "{url}");
        }
    }

    #[test]
    fn queries_are_read_as_forms() {
        let line = Line::parse(b"http://h/?a=1&b=x+y%21&&c&%zz=%ff&a=").unwrap();
        let pairs = line.query_pairs();
        let shown: Vec<_> = pairs
            .iter()
            .map(|(a, b)| format!("{}={}", a.as_str().unwrap(), b.as_str().unwrap()))
            .collect();
        assert_eq!(shown, ["a=1", "b=x y!", "c=", "%zz=%ff", "a="]);
        assert_eq!(segments(b"/"), Vec::<&[u8]>::new());
        assert_eq!(segments(b"/a/"), [&b"a"[..], b""]);
    }
}
