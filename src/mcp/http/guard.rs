//! Who may ask (section 3.3): on a loopback address only who names it as a
//! host, so that no page of a browser reaches it through a name of its own.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};

/// What is allowed of `Host` and `Origin`.
pub(super) struct Guard {
    /// Hosts, lower case and without brackets; `None` where anything goes.
    hosts: Option<Vec<String>>,
}

impl Guard {
    /// The guard of a listener at `bound`, which was asked for as `configured`.
    pub fn new(bound: SocketAddr, configured: &str) -> Self {
        let hosts = is_loopback(bound.ip()).then(|| {
            let mut hosts = vec![
                "localhost".to_owned(),
                "127.0.0.1".to_owned(),
                "::1".to_owned(),
            ];
            hosts.push(configured.to_lowercase());
            hosts.push(bound.ip().to_string());
            hosts
        });
        Self { hosts }
    }

    /// Whether anything is refused.
    pub fn is_strict(&self) -> bool {
        self.hosts.is_some()
    }

    /// Whether a request with these headers may pass.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(hosts) = &self.hosts else {
            return true;
        };
        let allowed = |authority: &str| {
            host_of(authority).is_some_and(|host| hosts.contains(&host.to_lowercase()))
        };
        let mut named = headers.get_all(HOST).iter();
        let host = match (named.next(), named.next()) {
            (Some(host), None) => host.to_str().is_ok_and(allowed),
            _ => false,
        };
        let origin = headers.get_all(ORIGIN).iter().all(|origin| {
            let text = origin.to_str().unwrap_or_default();
            let authority = text
                .strip_prefix("http://")
                .or_else(|| text.strip_prefix("https://"));
            authority.is_some_and(allowed)
        });
        host && origin
    }
}

/// Decided by the address that was bound: a name says nothing.
fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            let mapped = address.to_ipv4_mapped();
            address.is_loopback() || mapped.is_some_and(|address| address.is_loopback())
        }
    }
}

/// The host of `host`, `host:port` or `[address]:port`.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (
                host,
                port.strip_prefix(':').or(port.is_empty().then_some("")),
            )
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, Some("")),
        },
    };
    let digits = port?.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.admits(&headers)
    }

    #[test]
    fn on_loopback_only_its_names_pass() {
        let guard = Guard::new("127.0.0.1:8765".parse().unwrap(), "127.0.0.1");
        for host in ["localhost:8765", "127.0.0.1", "[::1]:8765", "LOCALHOST"] {
            assert!(admitted(&guard, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example:8765",
            "localhost:x",
            "[::1",
            "",
        ] {
            assert!(!admitted(&guard, host, None), "{host}");
        }
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:1",
        ] {
            assert!(admitted(&guard, "localhost", Some(origin)), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "file://",
            "http://localhost.evil.example",
        ] {
            assert!(!admitted(&guard, "localhost", Some(origin)), "{origin}");
        }
        assert!(!guard.admits(&HeaderMap::new()));
    }

    #[test]
    fn the_class_is_that_of_the_address() {
        for (address, strict) in [
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("192.168.0.2:1", false),
            ("[::]:1", false),
        ] {
            let guard = Guard::new(address.parse().unwrap(), "localhost");
            assert_eq!(guard.is_strict(), strict, "{address}");
            assert!(strict || admitted(&guard, "evil.example", Some("null")));
        }
    }
}
