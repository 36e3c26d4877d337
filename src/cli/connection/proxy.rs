//! Whether the server is reached through a proxy, by Go's rules, which are kubectl's.
//!
//! kube-rs has rules of its own: it holds `NO_PROXY` against the proxy instead of the server and uses `HTTPS_PROXY`
//! for plain HTTP too.

use std::net::IpAddr;

use http::Uri;
use http::uri::Authority;

use crate::cli::env::Env;
use crate::cli::error::CliError;

/// A proxy, and who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    /// `http`, `https` or `socks5`, with a port.
    pub(super) uri: Uri,
    /// Where it is set, for messages.
    pub(super) origin: String,
}

impl Proxy {
    /// The proxy to reach `server` through: the cluster's own, which holds for every server, else the environment's,
    /// unless that exempts the server.
    pub(super) fn choose(
        server: &Uri,
        of_cluster: Option<(&str, &str)>,
        env: &Env,
    ) -> Result<Option<Self>, CliError> {
        if let Some((url, words)) = of_cluster {
            let origin = format!("proxy-url of {words}");
            return Self::parse(url, origin).map(Some);
        }
        let set = match server.scheme_str() {
            Some("https") => env.either("HTTPS_PROXY", "https_proxy"),
            _ => env.either("HTTP_PROXY", "http_proxy"),
        };
        let Some((variable, url)) = set else { return Ok(None) };
        let exempt = env.either("NO_PROXY", "no_proxy").map(|(_, list)| list).unwrap_or_default();
        let host = server.host().unwrap_or_default();
        if exempts(&exempt, host.trim_start_matches('[').trim_end_matches(']'), port(server)) {
            return Ok(None);
        }
        // Only in the environment, a proxy may be written without a scheme.
        let url = if url.contains("://") { url.into_owned() } else { format!("http://{url}") };
        Self::parse(&url, variable.to_owned()).map(Some)
    }

    fn parse(text: &str, origin: String) -> Result<Self, CliError> {
        let refuse =
            |problem: &str| CliError::invalid(format!("{origin}: '{}' {problem}", without_password(text)));
        let uri: Uri = text.parse().map_err(|error| refuse(&format!("is no address: {error}")))?;
        let scheme = uri.scheme_str().unwrap_or_default().to_ascii_lowercase();
        // Go resolves the server's name at the proxy for both spellings.
        let (scheme, default_port) = match scheme.as_str() {
            "http" => ("http", 80),
            "https" => ("https", 443),
            "socks5" | "socks5h" => ("socks5", 1080),
            _ => return Err(refuse("needs the scheme http, https or socks5")),
        };
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return Err(refuse("has no host"));
        };
        if scheme == "socks5" && authority.as_str().contains('@') {
            return Err(refuse(
                "has a user: a SOCKS proxy with a password is not supported; use an HTTP proxy",
            ));
        }
        if odd_port(authority) {
            return Err(refuse("has an invalid port"));
        }
        let port = if authority.port().is_some() { String::new() } else { format!(":{default_port}") };
        let full = format!("{scheme}://{authority}{port}");
        let uri = full.parse().map_err(|error| refuse(&format!("is no address: {error}")))?;
        Ok(Self { uri, origin })
    }
}

impl std::fmt::Display for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = self.uri.to_string();
        write!(f, "the proxy {} ({})", without_password(url.trim_end_matches('/')), self.origin)
    }
}

/// An address without the user and password that it may hold.
pub(super) fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
}

/// The port of a server's address.
pub(super) fn port(server: &Uri) -> u16 {
    server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 })
}

/// Whether an address has something after its host that is no port; `http` takes that for no port at all.
pub(super) fn odd_port(authority: &Authority) -> bool {
    let text = authority.as_str();
    let place = text.rsplit_once('@').map_or(text, |(_, place)| place);
    place.len() > authority.host().len() && authority.port_u16().is_none()
}

/// Whether a `NO_PROXY` list exempts a host and port. The machine itself is always exempt.
///
/// Source: documentation of Go's package `golang.org/x/net/http/httpproxy`. An entry is `*`, an address, a network in
/// CIDR form, a name (with all names below it) or a name after a dot (only those below it); all but networks may end
/// in a port. What is none of these exempts nothing.
fn exempts(list: &str, host: &str, port: u16) -> bool {
    let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let host = host.to_ascii_lowercase();
    list.split(',').map(|entry| entry.trim().to_ascii_lowercase()).filter(|entry| !entry.is_empty()).any(
        |entry| {
            if entry == "*" {
                return true;
            }
            if let Some((network, bits)) = parse_network(&entry) {
                return address.is_some_and(|address| within(address, network, bits));
            }
            let (name, wanted) = split_port(&entry);
            if wanted.is_some_and(|wanted| wanted != port.to_string()) {
                return false;
            }
            match (name.parse::<IpAddr>(), address) {
                (Ok(exempt), Some(address)) => exempt.to_canonical() == address,
                (Err(_), None) => names(name, &host),
                _ => false,
            }
        },
    )
}

/// Whether an exempt name stands for `host`.
fn names(name: &str, host: &str) -> bool {
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(_) => host.ends_with(name) && host.len() > name.len(),
        None if name.is_empty() => false,
        None => host.strip_suffix(name).is_some_and(|above| above.is_empty() || above.ends_with('.')),
    }
}

/// An entry's name and the port it is limited to; IPv6 addresses stand in brackets when a port follows.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    let (name, port) = match entry.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some(split) => split,
        None => match entry.split_once(':') {
            Some((name, port)) if !port.contains(':') => (name, port),
            _ => (entry, ""),
        },
    };
    (name, Some(port).filter(|port| !port.is_empty()))
}

/// A network in CIDR form: an address of it and the number of leading bits that it fixes.
fn parse_network(entry: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = entry.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let bits: u32 = bits.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

fn within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (address.to_bits() ^ network.to_bits()) & u32::MAX.checked_shl(32 - bits).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            (address.to_bits() ^ network.to_bits()) & u128::MAX.checked_shl(128 - bits).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choose(
        server: &str,
        of_cluster: Option<&str>,
        env: &[(&str, &str)],
    ) -> Result<Option<Proxy>, CliError> {
        let server: Uri = server.parse().expect("an address");
        Proxy::choose(
            &server,
            of_cluster.map(|url| (url, "cluster 'c' in f")),
            &env.iter().copied().collect(),
        )
    }

    #[test]
    fn the_environments_proxy_is_chosen_by_the_servers_scheme_and_the_clusters_own_comes_first() {
        let env =
            [("HTTPS_PROXY", "http://s"), ("HTTP_PROXY", "http://p:1"), ("https_proxy", "http://lower")];
        for (server, of_cluster, env, expected) in [
            ("https://h", None, &env[..], Some("the proxy http://s:80 (HTTPS_PROXY)")),
            ("http://h", None, &env[..], Some("the proxy http://p:1 (HTTP_PROXY)")),
            ("https://h", None, &env[1..], Some("the proxy http://lower:80 (https_proxy)")),
            ("http://h", None, &[("HTTPS_PROXY", "http://s")], None),
            ("https://h", None, &[], None),
            (
                "https://h",
                None,
                &[("HTTPS_PROXY", "proxy.example:3128")],
                Some("the proxy http://proxy.example:3128 (HTTPS_PROXY)"),
            ),
            (
                "https://h",
                Some("https://u:secret@q"),
                &env[..],
                Some("the proxy https://q:443 (proxy-url of cluster 'c' in f)"),
            ),
            (
                "https://127.0.0.1",
                Some("http://q"),
                &[("NO_PROXY", "*")],
                Some("the proxy http://q:80 (proxy-url of cluster 'c' in f)"),
            ),
            ("https://127.0.0.1", None, &env[..], None),
            ("https://[::1]:6443", None, &env[..], None),
            ("https://h", None, &[("HTTPS_PROXY", "http://s"), ("no_proxy", "x, h")], None),
            (
                "https://h",
                None,
                &[("HTTPS_PROXY", "SOCKS5h://s")],
                Some("the proxy socks5://s:1080 (HTTPS_PROXY)"),
            ),
        ] {
            let chosen = choose(server, of_cluster, env).expect("a choice").map(|proxy| proxy.to_string());
            assert_eq!(chosen.as_deref(), expected, "{server} {of_cluster:?} {env:?}");
        }
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_refused_by_where_it_is_set_and_without_its_password() {
        for (of_cluster, env, expected) in [
            (
                Some("ftp://u:secret@q"),
                "",
                "proxy-url of cluster 'c' in f: 'ftp://q' needs the scheme http, https or socks5",
            ),
            (
                Some("q:3128"),
                "",
                "proxy-url of cluster 'c' in f: 'q:3128' needs the scheme http, https or socks5",
            ),
            (None, "http://q:99999", "HTTPS_PROXY: 'http://q:99999' has an invalid port"),
            (None, "http://", "HTTPS_PROXY: 'http://' is no address"),
            (None, "http://a b", "HTTPS_PROXY: 'http://a b' is no address"),
            (
                None,
                "socks5://u:secret@q",
                "HTTPS_PROXY: 'socks5://q' has a user: a SOCKS proxy with a password",
            ),
        ] {
            let error = choose("https://h", of_cluster, &[("HTTPS_PROXY", env)]).expect_err("refused");
            assert!(error.message.starts_with(expected), "{}", error.message);
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }

    #[test]
    fn no_proxy_exempts_as_go_does() {
        for (list, host, port, expected) in [
            ("", "example.com", 443, false),
            ("", "localhost", 443, true),
            ("", "LOCALHOST", 443, false),
            ("", "localhost.example", 443, false),
            ("", "127.8.9.1", 443, true),
            ("", "::1", 443, true),
            ("", "::ffff:127.0.0.1", 443, true),
            ("*", "example.com", 443, true),
            ("a,*,b", "example.com", 443, true),
            ("*.*", "example.com", 443, false),
            ("example.com", "example.com", 443, true),
            ("example.com", "EXAMPLE.com", 443, true),
            (" Example.COM ,x", "example.com", 443, true),
            ("example.com", "a.b.example.com", 443, true),
            ("example.com", "badexample.com", 443, false),
            (".example.com", "example.com", 443, false),
            (".example.com", "a.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "a.example.com", 443, true),
            ("example.com:6443", "example.com", 6443, true),
            ("example.com:6443", "example.com", 443, false),
            (".example.com:6443", "a.example.com", 6443, true),
            ("example.com:", "example.com", 443, true),
            (":6443", "example.com", 6443, false),
            (".", "example.com", 443, false),
            ("10.0.0.1", "10.0.0.1", 443, true),
            ("10.0.0.1", "10.0.0.10", 443, false),
            ("10.0.0.1:443", "10.0.0.1", 443, true),
            ("10.0.0.1:443", "10.0.0.1", 6443, false),
            ("10.0.0", "10.0.0.1", 443, false),
            ("0.0.1", "10.0.0.1", 443, false),
            ("10.0.0.0/8", "10.200.3.4", 443, true),
            ("10.0.0.7/8", "10.200.3.4", 443, true),
            ("10.0.0.0/8", "11.0.0.1", 443, false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", 443, true),
            ("10.0.0.0/8", "example.com", 443, false),
            ("0.0.0.0/0", "8.8.8.8", 443, true),
            ("0.0.0.0/0", "2001:db8::1", 443, false),
            ("10.0.0.0/33", "10.0.0.1", 443, false),
            ("fd00::/8", "fd12::1", 443, true),
            ("fd00::/8", "fe80::1", 443, false),
            ("::/0", "2001:db8::1", 443, true),
            ("::/0", "8.8.8.8", 443, false),
            ("[2001:db8::1]:6443", "2001:db8::1", 6443, true),
            ("[2001:db8::1]:6443", "2001:db8::1", 443, false),
            ("2001:db8::1", "2001:db8:0::1", 443, true),
            ("2001:db8::2", "2001:db8::1", 443, false),
        ] {
            assert_eq!(exempts(list, host, port), expected, "NO_PROXY={list} {host}:{port}");
        }
    }

    proptest! {
        #[test]
        fn no_list_of_exemptions_panics(list in "[-a-z0-9.:,*/\\[\\] é]{0,40}", host in "[a-z0-9.:]{0,20}", port: u16) {
            exempts(&list, &host, port);
        }

        #[test]
        fn a_network_holds_the_addresses_that_share_its_leading_bits(a: u32, b: u32, bits in 0u32..=32) {
            let (first, second) = (IpAddr::from(a.to_be_bytes()), IpAddr::from(b.to_be_bytes()));
            let shared = (a ^ b).leading_zeros() >= bits;
            prop_assert_eq!(within(second, first, bits), shared);
        }
    }
}
