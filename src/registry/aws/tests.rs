use super::*;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const HOST: &str = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";
const POD: [(&str, &str); 2] = [
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"),
    ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/token"),
];
const WEB: [(&str, &str); 2] =
    [("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/token")];

#[test]
fn the_endpoint_follows_from_the_registrys_host() {
    for (host, wanted) in [
        (HOST, Some(("eu-west-1", "https://api.ecr.eu-west-1.amazonaws.com/"))),
        (
            "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn",
            Some(("cn-north-1", "https://api.ecr.cn-north-1.amazonaws.com.cn/")),
        ),
        (
            "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com",
            Some(("us-gov-west-1", "https://ecr-fips.us-gov-west-1.amazonaws.com/")),
        ),
        ("123456789012.dkr-ecr.eu-west-1.on.aws", Some(("eu-west-1", "https://ecr.eu-west-1.api.aws/"))),
        ("public.ecr.aws", None),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws.com.evil.example", None),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws", None),
        ("12345678901x.dkr.ecr.eu-west-1.amazonaws.com", None),
        ("123456789012.dkr.ecr..amazonaws.com", None),
        ("registry.example", None),
    ] {
        let got = ecr_endpoint(host);
        assert_eq!(got.as_ref().map(|(region, url)| (region.as_str(), url.as_str())), wanted, "{host}");
    }
}

#[test]
fn the_identity_is_the_one_that_eks_gives_the_pod() {
    let identity =
        |pairs: &[(&str, &str)]| AwsConfig::new(HOST, &environment(pairs)).map(|config| config.identity);
    assert!(matches!(identity(&POD), Ok(Identity::Pod { .. })));
    let session = "aicr-operator".to_owned();
    let web = Identity::Web { role: WEB[0].1.to_owned(), token_file: WEB[1].1.to_owned(), session };
    assert_eq!(identity(&WEB), Ok(web.clone()));
    assert_eq!(identity(&[&POD[..], &WEB].concat()), Ok(web));
}

#[test]
fn what_gives_no_identity_is_refused_with_the_way_out() {
    let uri = |uri| [("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri), POD[1]];
    for (host, pairs, why) in [
        (HOST, vec![], "create an EKS Pod Identity association"),
        (HOST, vec![WEB[0]], "create an EKS Pod Identity association"),
        (HOST, vec![POD[0]], "EKS Pod Identity sets both"),
        (HOST, uri("http://attacker.example/").to_vec(), "in the clear"),
        (HOST, uri("http://169.254.169.254/").to_vec(), "in the clear"),
        (HOST, uri("nonsense").to_vec(), "'nonsense'"),
        (HOST, [&WEB[..], &[("AWS_ENDPOINT_URL_STS", "http://sts.example")]].concat(), "by https only"),
        ("registry.example", POD.to_vec(), "set registry.auth.provider to static"),
    ] {
        let error = AwsConfig::new(host, &environment(&pairs)).unwrap_err();
        assert_eq!(error.reason, Reason::RegistryCredentialsUnavailable);
        assert!(error.message.contains(why), "{error}");
    }
    for fine in ["http://127.0.0.1:1/", "http://[fd00:ec2::23]/v1/credentials", "https://anywhere.example/"] {
        assert!(AwsConfig::new(HOST, &environment(&uri(fine))).is_ok(), "{fine}");
    }
}

#[test]
fn a_token_is_read_and_anything_else_is_none() {
    let answer = |token: &str, expires: serde_json::Value| {
        let token = STANDARD.encode(token);
        serde_json::json!({"authorizationData": [{"authorizationToken": token, "expiresAt": expires}]})
            .to_string()
    };
    let token = token_of(answer("AWS:pass:word", 1_790_000_000.5.into()).as_bytes()).unwrap();
    assert_eq!((token.login.username.as_str(), token.login.password.as_str()), ("AWS", "pass:word"));
    assert_eq!(token.expires.as_millisecond(), 1_790_000_000_500);
    for body in [
        "{}".to_owned(),
        r#"{"authorizationData": []}"#.to_owned(),
        answer("AWS", 1.into()),
        answer("AWS:x", 1e300.into()),
        answer("AWS:x", "soon".into()),
    ] {
        assert_eq!(token_of(body.as_bytes()), None, "{body}");
    }
}

#[test]
fn aws_refusals_tell_what_passes_from_what_does_not() {
    for (status, body, reason) in [
        (
            400,
            r#"{"__type": "com.amazonaws#AccessDeniedException", "Message": "no"}"#,
            Reason::RegistryCredentialsUnavailable,
        ),
        (403, "<html>", Reason::RegistryCredentialsUnavailable),
        (400, r#"{"__type": "ThrottlingException"}"#, Reason::Transient),
        (429, "", Reason::Transient),
        (500, "", Reason::Transient),
    ] {
        let error = refusal(StatusCode::from_u16(status).unwrap(), body.as_bytes());
        assert_eq!(error.reason, reason, "{error}");
    }
}
