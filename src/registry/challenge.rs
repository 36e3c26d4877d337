//! What a registry asks for when it answers 401.
//!
//! Source: RFC 9110 section 11.6.1 and the token authentication of the distribution project.

/// One way to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A user name and a password with every request.
    Basic,
    /// A token from another address.
    Bearer {
        /// Where tokens are given.
        realm: String,
        /// For whom.
        service: Option<String>,
        /// For what; we say it ourselves when the registry does not.
        scope: Option<String>,
    },
}

/// The challenges of a `WWW-Authenticate` header that we can meet, in its order.
pub(super) fn parse(header: &str) -> Vec<Challenge> {
    let mut found = Vec::new();
    let mut rest = header.trim_start();
    while !rest.is_empty() {
        let (scheme, after) = token(rest);
        if scheme.is_empty() {
            break;
        }
        let (parameters, after) = parameters(after);
        let get = |name: &str| {
            parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        if scheme.eq_ignore_ascii_case("basic") {
            found.push(Challenge::Basic);
        } else if scheme.eq_ignore_ascii_case("bearer")
            && let Some(realm) = get("realm")
        {
            found.push(Challenge::Bearer { realm, service: get("service"), scope: get("scope") });
        }
        rest = after.trim_start_matches([',', ' ', '\t']);
    }
    found
}

fn token(text: &str) -> (&str, &str) {
    let end = text
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter)))
        .unwrap_or(text.len());
    text.split_at(end)
}

/// `key=value` and `key="value"`, until what follows is another scheme.
fn parameters(mut text: &str) -> (Vec<(String, String)>, &str) {
    let mut found = Vec::new();
    loop {
        let start = text.trim_start_matches([',', ' ', '\t']);
        let (key, after) = token(start);
        let Some(value) = after.trim_start().strip_prefix('=') else { return (found, start) };
        if key.is_empty() {
            return (found, "");
        }
        let (value, after) = self::value(value.trim_start());
        found.push((key.to_owned(), value));
        text = after;
    }
}

fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, after) = token(text);
        return (value.to_owned(), after);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((index, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[index + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            _ => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        Challenge::Bearer {
            realm: realm.to_owned(),
            service: service.map(ToOwned::to_owned),
            scope: scope.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let cases = [
            (r#"Basic realm="x""#, vec![Challenge::Basic]),
            ("basic", vec![Challenge::Basic]),
            (
                r#"Bearer realm="https://a/token",service="s",scope="repository:a/b:pull,push""#,
                vec![bearer("https://a/token", Some("s"), Some("repository:a/b:pull,push"))],
            ),
            (
                r#"Bearer realm = "https://a?x=\"y\"" , error="invalid_token""#,
                vec![bearer("https://a?x=\"y\"", None, None)],
            ),
            (
                r#"Negotiate, Basic realm=x, Bearer realm="r""#,
                vec![Challenge::Basic, bearer("r", None, None)],
            ),
            ("Bearer service=s", vec![]),
            ("", vec![]),
            (",,,", vec![]),
            ("\"", vec![]),
        ];
        for (header, wanted) in cases {
            assert_eq!(parse(header), wanted, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read_to_its_end(header in "[ a-zA-Z,=\"\\\\/:é]{0,60}") {
            let _ = parse(&header);
        }
    }
}
