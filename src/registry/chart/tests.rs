use bytes::Bytes;

use super::*;
use crate::registry::Reason;
use crate::registry::tarball::pack;

const SUBJECT: Subject<'static> = Subject { name: "the chart", reason: Reason::ChartSourceUnsupported };
const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n";

/// Paths and contents.
type Files<'a> = &'a [(&'a str, &'a [u8])];

fn packed(top: &str, files: Files) -> Bytes {
    pack(
        top,
        &files.iter().map(|(name, content)| ((*name).to_owned(), Bytes::from(content.to_vec()))).collect(),
    )
    .unwrap()
}

fn facts(files: Files) -> Result<ChartFacts, Error> {
    read(&mut &packed("top", files)[..], SUBJECT)
}

fn chart_yaml(rest: &str) -> Vec<u8> {
    format!("apiVersion: v2\nname: parent\nversion: 1.2.3\n{rest}").into_bytes()
}

#[test]
fn a_charts_facts_are_read() {
    let facts = facts(&[
        ("Chart.yaml", &chart_yaml("appVersion: 1.10\n")),
        ("values.yaml", b"a: 1\n"),
        ("templates/x.yaml", b"kind: ConfigMap\n"),
    ])
    .unwrap();
    assert_eq!(
        (facts.name.as_str(), facts.version.as_str(), facts.api_version.as_str()),
        ("parent", "1.2.3", "v2")
    );
    assert_eq!(facts.app_version.as_deref(), Some("1.1"));
    assert_eq!(
        facts.defaults,
        ChartDefaults { values: Some("a: 1\n".to_owned()), subcharts: Vec::new(), complete: true }
    );
    assert!(!facts.owns_crds);
}

#[test]
fn crds_are_found_at_any_depth() {
    let chart = chart_yaml("");
    let child = b"name: child\nversion: 1.0.0\n".as_slice();
    let grandchild = packed(
        "grandchild",
        &[("Chart.yaml", b"name: grandchild\nversion: 1.0.0\n"), ("crds/x.yaml", CRD.as_bytes())],
    );
    let packed_child =
        packed("child", &[("Chart.yaml", child), ("charts/grandchild-1.0.0.tgz", &grandchild)]);
    let json = br#"{"apiVersion": "v1", "items": [
        {"kind": "CustomResourceDefinition"}]}"#
        .as_slice();
    let plain = ("templates/x.yaml", b"kind: ConfigMap\n".as_slice());
    let cases: [(&str, Files, bool); 14] = [
        ("crds/", &[("crds/deep/x.yaml", CRD.as_bytes())], true),
        ("crds/ without a manifest", &[plain, ("crds/README.md", b"x")], false),
        ("a template", &[("templates/crds.yaml", CRD.as_bytes())], true),
        (
            "a template with conditions",
            &[(
                "templates/crds.yaml",
                b"{{- if .Values.crds }}\n---\nkind:  \"CustomResourceDefinition\" # x\n{{ end }}",
            )],
            true,
        ),
        (
            "a list in a template",
            &[("templates/list.yaml", b"items:\n- kind: CustomResourceDefinition\n")],
            true,
        ),
        ("json", &[("templates/x.json", json)], true),
        ("a comment", &[("templates/x.yaml", b"# kind: CustomResourceDefinition\n")], false),
        (
            "another kind",
            &[(
                "templates/x.yaml",
                b"kind: CustomResourceDefinitionList\nresources: [customresourcedefinitions]\n",
            )],
            false,
        ),
        (
            "an unpacked subchart",
            &[plain, ("charts/child/Chart.yaml", child), ("charts/child/templates/x.yaml", CRD.as_bytes())],
            true,
        ),
        ("a packed subchart of a packed subchart", &[plain, ("charts/child-1.0.0.tgz", &packed_child)], true),
        (
            "a subchart that is passed over",
            &[plain, ("charts/_child/templates/x.yaml", CRD.as_bytes())],
            false,
        ),
        (
            "a file that a template renders",
            &[
                ("templates/x.yaml", b"{{ .Files.Get \"files/crd.yaml\" }}"),
                ("files/crd.yaml", CRD.as_bytes()),
            ],
            true,
        ),
        ("a file that no template renders", &[plain, ("files/crd.yaml", CRD.as_bytes())], false),
        (
            "a helper",
            &[
                plain,
                (
                    "templates/_helpers.tpl",
                    b"{{ define \"crd\" }}\nkind: CustomResourceDefinition\n{{ end }}",
                ),
            ],
            true,
        ),
    ];
    for (what, files, wanted) in cases {
        let files: Vec<_> =
            [("Chart.yaml", chart.as_slice())].into_iter().chain(files.iter().copied()).collect();
        assert_eq!(facts(&files).unwrap().owns_crds, wanted, "{what}");
    }
}

#[test]
fn defaults_of_subcharts_come_under_their_names_and_aliases() {
    let chart = chart_yaml(
        "dependencies:\n- {name: child, alias: one, version: 1}\n- {name: child, alias: two, version: 1}\n",
    );
    let child = packed(
        "child",
        &[
            ("Chart.yaml", b"name: child\nversion: 1.0.0\n"),
            ("values.yaml", b"b: 2\n"),
            ("templates/x.yaml", b""),
        ],
    );
    let facts =
        facts(&[("Chart.yaml", &chart), ("values.yaml", b"a: 1\n"), ("charts/child-1.0.0.tgz", &child)])
            .unwrap();
    let below = ChartDefaults { values: Some("b: 2\n".to_owned()), subcharts: Vec::new(), complete: true };
    let names = ["child", "one", "two"].map(ToOwned::to_owned).to_vec();
    assert_eq!(facts.defaults.subcharts, [SubchartDefaults { names, defaults: below }]);
    assert!(facts.defaults.complete);
    let written = serde_json::to_string(&facts).unwrap();
    assert_eq!(serde_json::from_str::<ChartFacts>(&written).unwrap(), facts);
}

#[test]
fn defaults_that_are_not_all_there_are_says_so() {
    let child =
        packed("child", &[("Chart.yaml", b"name: child\nversion: 1.0.0\n"), ("templates/x.yaml", b"")]);
    let imports = chart_yaml("dependencies:\n- {name: child, version: 1, import-values: [data]}\n");
    for files in [
        [("Chart.yaml", chart_yaml("").as_slice()), ("values.yaml", b"a: \xff"), ("templates/x.yaml", b"")],
        [("Chart.yaml", imports.as_slice()), ("values.yaml", b""), ("charts/child-1.0.0.tgz", &child)],
    ] {
        assert!(!facts(&files).unwrap().defaults.complete);
    }
}

#[test]
fn what_cannot_be_installed_from_the_archive_alone_is_unsupported() {
    let plain = ("templates/x.yaml", b"".as_slice());
    let cases: [(Files, &str); 8] = [
        (&[plain], "no Chart.yaml"),
        (&[("Chart.yaml", b"name: [x"), plain], "Chart.yaml: "),
        (&[("Chart.yaml", b"name: x\n"), plain], "missing field `version`"),
        (&[("Chart.yaml", &chart_yaml("type: library\n")), plain], "library chart"),
        (&[("Chart.yaml", &chart_yaml("")), ("values.yaml", b"a: 1")], "has a template or a CRD"),
        (
            &[("Chart.yaml", &chart_yaml("")), ("templates/_x.tpl", b""), ("templates/NOTES.txt", b"")],
            "has a template or a CRD",
        ),
        (
            &[("Chart.yaml", &chart_yaml("dependencies: [{name: child, version: 1}]\n")), plain],
            "depends on the chart child",
        ),
        (
            &[
                ("Chart.yaml", &chart_yaml("")),
                ("requirements.yaml", b"dependencies: [{name: child}]"),
                plain,
            ],
            "depends on the chart child",
        ),
    ];
    for (files, why) in cases {
        let error = facts(files).unwrap_err();
        assert_eq!(error.reason, Reason::ChartSourceUnsupported, "{error}");
        assert!(error.message.starts_with("the chart: ") && error.message.contains(why), "{error}");
    }
}

#[test]
fn what_is_too_large_or_too_deep_is_refused() {
    let large = vec![0; 5 * 1024 * 1024 + 1];
    let error = facts(&[("Chart.yaml", &chart_yaml("")), ("templates/x.yaml", &large)]).unwrap_err();
    assert_eq!(error.reason, Reason::ContentTooLarge, "{error}");
    let mut chart = packed("x", &[("Chart.yaml", b"name: x\nversion: 1.0.0\n"), ("templates/x.yaml", b"")]);
    for depth in 1..=9 {
        chart = packed("x", &[("Chart.yaml", b"name: x\nversion: 1.0.0\n"), ("charts/x.tgz", &chart)]);
        assert_eq!(read(&mut &chart[..], SUBJECT).is_ok(), depth <= 8, "{depth}");
    }
}
