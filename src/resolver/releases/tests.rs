use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::plan::document::PlanSource;
use crate::resolver::bundle::fixtures::{Builder, small};
use crate::resolver::bundle::read;

const RECIPE: &str = r#"{"apiVersion": "aicr.run/v1", "kind": "RecipeResult", "componentRefs": [],
    "metadata": {"version": "1.0.0", "appliedOverlays": ["base", "h100-eks"]}, "criteria": {"service": "eks"}}"#;

/// What a test changes of a resolution.
struct Case {
    bundle: Bundle,
    base: Option<Bundle>,
    overrides: Vec<Override>,
    charts: BTreeMap<String, ChartFacts>,
    namespaces: BTreeSet<String>,
    recipe: String,
    notes: Vec<String>,
}

impl Case {
    fn of(builder: Builder) -> Self {
        let bundle = read(&builder.tree()).unwrap();
        let facts = |folder: &Folder| {
            let name = &folder.release.name;
            let mirrored = matches!(folder.chart, FolderChart::Upstream(_));
            let digest = Digest::of_bytes(name.as_bytes());
            let upstream = Upstream { repository: "https://charts.test".to_owned(), archive_digest: digest };
            let facts = ChartFacts {
                repository: format!(
                    "oci://registry.test/{}/{name}",
                    if mirrored { "charts" } else { "wrappers" }
                ),
                digest,
                upstream: mirrored.then_some(upstream),
                owns_crds: name == "nfd",
                defaults: Defaults::of(json!({"defaulted": {"gone": 1}, "gone": 2})),
            };
            (name.clone(), facts)
        };
        Self {
            charts: bundle.folders.iter().map(facts).collect(),
            namespaces: bundle.folders.iter().map(|folder| folder.release.namespace.clone()).collect(),
            base: Some(bundle.clone()),
            bundle,
            overrides: Vec::new(),
            recipe: RECIPE.to_owned(),
            notes: Vec::new(),
        }
    }

    fn resolve(&self) -> Result<Resolved, Refused> {
        resolve(&Request {
            runtime_uid: "uid",
            input_digest: Digest::of_bytes(b"input"),
            provenance: Provenance {
                source: PlanSource::Resolved,
                operator_version: "1.3.0".to_owned(),
                aicr_version: Some("v1.0.0".to_owned()),
                aicr_image: None,
                snapshot_digest: None,
                bundle: None,
                runtime_generation: Some(7),
                render_flags: Some(Vec::new()),
            },
            version: &Version::parse("v1.0.0").unwrap(),
            recipe_text: &self.recipe,
            bundle: &self.bundle,
            base: self.base.as_ref(),
            overrides: &self.overrides,
            charts: &self.charts,
            namespaces: &self.namespaces,
            project: "aicr",
            notes: &self.notes,
        })
    }

    fn edges(&self) -> Vec<String> {
        let plan = self.resolve().unwrap().plan;
        let line = |release: &Release| format!("{} <- {}", release.id, release.depends_on.join(" "));
        plan.releases.iter().map(line).collect()
    }

    fn refusal(&self) -> (Reason, String) {
        let refused = self.resolve().unwrap_err();
        (refused.reason, refused.message)
    }
}

fn set(component: &str, path: &str) -> Override {
    Override { component: component.to_owned(), path: path.to_owned(), value: json!(1), additive: false }
}

#[test]
fn a_bundle_becomes_a_plan_with_everything_that_it_says() {
    let mut case = Case::of(small());
    case.notes = vec!["a note".to_owned()];
    let resolved = case.resolve().unwrap();
    let plan = &resolved.plan;
    assert_eq!(
        case.edges(),
        [
            "nfd <- ",
            "gpu-operator-pre <- nfd",
            "gpu-operator <- gpu-operator-pre",
            "gpu-operator-post <- gpu-operator",
            "gpu-operator-readiness <- gpu-operator",
        ]
    );
    let phases: Vec<_> = plan.releases.iter().map(|release| release.phase.as_str()).collect();
    assert_eq!(phases, ["Primary", "Pre", "Primary", "Post", "Readiness"]);
    let operator = plan.release("gpu-operator").unwrap();
    assert_eq!((operator.chart.source, operator.chart.version.as_str()), (ChartSource::Mirrored, "v1.2.3"));
    let gate = plan.release("gpu-operator-readiness").unwrap();
    assert_eq!((gate.chart.source, gate.chart.version.as_str()), (ChartSource::Wrapper, "1.0.0"));
    assert_eq!(
        (gate.readiness_for.as_deref(), gate.component.as_str()),
        (Some("gpu-operator"), "gpu-operator")
    );
    assert!(plan.release("nfd").unwrap().owns_crds);
    let recipe = plan.recipe.as_ref().unwrap();
    assert_eq!((recipe.name.as_str(), recipe.criteria["service"].as_str()), ("h100-eks", "eks"));
    assert_eq!(recipe.config_map_ref, recipe_ref(RECIPE));
    assert_eq!(recipe.for_validation(), &recipe_ref(&case.bundle.recipe_text));
    assert_eq!(recipe.warnings, ["a note"]);
    // The null deletes a default of the chart, so it became a parameter.
    let values = &resolved.values["gpu-operator"];
    assert_eq!(values.parameters()[0].name, "gone");
    assert_eq!(
        Value::Object(values.object().clone()),
        json!({"driver": {"enabled": true, "version": "570"}, "mode": 8, "list": [2]})
    );
    assert_eq!(operator.values, values_ref("gpu-operator", values));
}

#[test]
fn a_dependent_waits_for_the_last_of_what_it_depends_on() {
    let base =
        || Builder::new().component("a", &[], true).component("b", &["a"], true).component("c", &["b"], true);
    let plain = base().release("a", "a", "").release("b", "b", "").release("c", "c", "");
    assert_eq!(Case::of(plain).edges(), ["a <- ", "b <- a", "c <- b"]);
    let gated = base()
        .release("a-pre", "a", "")
        .release("a", "a", "")
        .release("a-post", "a", "")
        .release("a-readiness", "a", "")
        .release("b-pre", "b", "")
        .release("b", "b", "");
    assert_eq!(
        Case::of(gated).edges(),
        [
            "a-pre <- ",
            "a <- a-pre",
            "a-post <- a",
            "a-readiness <- a",
            "b-pre <- a-post a-readiness",
            "b <- b-pre"
        ]
    );
    // b is turned off: c waits for what b would have waited for.
    let off = base().release("a", "a", "").release("a-readiness", "a", "").release("c", "c", "");
    assert_eq!(Case::of(off).edges(), ["a <- ", "a-readiness <- a", "c <- a-readiness"]);
    // Only the part before and the part after are there.
    let parts = base().release("a-pre", "a", "").release("a-post", "a", "").release("b", "b", "");
    assert_eq!(Case::of(parts).edges(), ["a-pre <- ", "a-post <- a-pre", "b <- a-post"]);
}

#[test]
fn the_order_of_the_bundle_does_not_change_the_plans_digest() {
    let base = || Builder::new().component("a", &[], true).component("b", &[], true);
    let one = Case::of(base().release("a", "a", "").release("b", "b", "")).resolve().unwrap();
    let other = Case::of(base().release("b", "b", "").release("a", "a", "")).resolve().unwrap();
    assert_eq!(one.plan.digest(), other.plan.digest());
    assert_eq!(other.plan.ordered()[0].id, "b");
}

#[test]
fn an_override_needs_a_path_that_something_has() {
    for (entry, known) in [
        (set("gpu-operator", "driver.version"), true),
        (set("gpu-operator", "defaulted.gone"), true),
        (set("gpu-operator", "enabled"), true),
        (set("gpu-operator", "driver.versoin"), false),
        (set("gpu-operator", "driver.version.major"), false),
        (set("other", "enabled"), false),
        (Override { additive: true, ..set("gpu-operator", "new.path") }, true),
    ] {
        let mut case = Case::of(small());
        case.overrides = vec![entry.clone()];
        match case.resolve() {
            Ok(_) => assert!(known, "{entry:?}"),
            Err(refused) => {
                assert!(!known, "{entry:?}: {refused}");
                assert_eq!(refused.reason, Reason::OverridePathUnknown);
                assert!(
                    refused.message.starts_with(&format!("override {}:{}: ", entry.component, entry.path))
                );
            }
        }
    }
    let mut case = Case::of(small());
    case.overrides = vec![set("gpu-operator", "driver.version")];
    case.base = None;
    assert_eq!(case.refusal().0, Reason::OverridePathUnknown);
    // A chart of which nothing is known may have any path.
    let mut case = Case::of(small());
    case.overrides = vec![set("gpu-operator", "any")];
    case.charts.get_mut("gpu-operator").unwrap().defaults = Defaults::unknown();
    assert!(case.resolve().is_ok());
    // A component that is turned off has no paths to get wrong.
    let mut case = Case::of(small());
    case.overrides = vec![set("nfd", "any"), set("nfd", "enabled")];
    case.bundle.folders.remove(0);
    assert!(case.resolve().is_ok());
}

#[test]
fn what_can_be_no_plan_is_refused_with_its_reason() {
    type Edit = fn(&mut Case);
    let table: [(Edit, Reason, &str); 11] = [
        (
            |case| {
                case.namespaces.remove("nfd");
            },
            Reason::NamespaceNotAllowed,
            "release nfd belongs into namespace nfd, which is not in the installation's namespaces.components (gpu-operator): add it there",
        ),
        (
            |case| case.bundle.version = "v1.1.2".to_owned(),
            Reason::Aicr(aicr::Reason::VersionMismatch),
            "the bundle was made by AICR v1.1.2, but aicr.version is v1.0.0",
        ),
        (
            |case| case.recipe = RECIPE.replace("1.0.0", "1.1.2"),
            Reason::Aicr(aicr::Reason::VersionMismatch),
            "the recipe was made by AICR 1.1.2",
        ),
        (
            |case| case.recipe.push_str(&" ".repeat(MAX_PLAN_BYTES)),
            Reason::Plan(PlanReason::ContentTooLarge),
            "the recipe takes 104",
        ),
        (
            |case| case.bundle.folders[0].values = json!({"a": "x".repeat(MAX_VALUES_BYTES)}),
            Reason::Plan(PlanReason::ContentTooLarge),
            "release nfd: the values take 131080 bytes",
        ),
        (
            |case| case.bundle.folders[0].values = json!({"a": "x".repeat(3 * MAX_VALUES_BYTES)}),
            Reason::Plan(PlanReason::ContentTooLarge),
            "release nfd: the values take 393224 bytes",
        ),
        (
            |case| case.bundle.folders[0].values = json!({"a": "\0"}),
            Reason::Plan(PlanReason::InvalidOverride),
            "release nfd: a holds a NUL character",
        ),
        (
            |case| case.bundle.folders[0].release.name = "n".repeat(54),
            Reason::Aicr(aicr::Reason::ArtifactUnsupported),
            "release nnnn",
        ),
        (
            |case| {
                case.charts.remove("nfd");
            },
            Reason::Aicr(aicr::Reason::ArtifactUnsupported),
            "release nfd has no chart in the registry",
        ),
        (
            |case| case.charts.get_mut("nfd").unwrap().upstream = None,
            Reason::Aicr(aicr::Reason::ArtifactUnsupported),
            "release nfd: an upstream chart, and only that, has an upstream archive",
        ),
        (
            |case| {
                case.bundle.folders.remove(2);
            },
            Reason::Aicr(aicr::Reason::ArtifactUnsupported),
            "release gpu-operator-readiness is the gate of gpu-operator, which the bundle does not hold",
        ),
    ];
    for (edit, reason, message) in table {
        let mut case = Case::of(small());
        edit(&mut case);
        let (found, said) = case.refusal();
        assert_eq!(found, reason, "{said}");
        assert!(said.starts_with(message), "{said} for {message}");
    }
}

#[test]
fn components_that_wait_for_each_other_are_no_plan() {
    let round = Builder::new().component("a", &["b"], true).component("b", &["a"], true);
    let (reason, message) = Case::of(round.release("a", "a", "").release("b", "b", "")).refusal();
    assert_eq!(reason, Reason::Aicr(aicr::Reason::ArtifactUnsupported));
    assert_eq!(message, "the bundle makes no plan: releases depend on each other: a -> b -> a");
}

#[test]
fn nulls_in_lists_are_dropped_with_a_warning_of_the_plan() {
    let mut case = Case::of(small());
    case.bundle.folders[0].values = json!({"list": [{"a": null}]});
    let plan = case.resolve().unwrap().plan;
    assert_eq!(
        plan.recipe.as_ref().unwrap().warnings,
        ["release nfd: the null at list[0].a is dropped: inside a list it deletes nothing"]
    );
}

proptest! {
    /// Whatever parts components have and however they depend on each other, whoever depends on a component comes after
    /// each of its releases, except after a gate's siblings.
    #[test]
    fn a_dependent_comes_after_every_release_of_what_it_depends_on(shapes in proptest::collection::vec((0..16_u8, any::<u8>()), 1..6)) {
        let name = |at: usize| format!("c{at}");
        let mut builder = Builder::new();
        for (at, (_, mask)) in shapes.iter().enumerate() {
            let dependencies: Vec<String> = (0..at).filter(|bit| mask >> bit & 1 == 1).map(name).collect();
            builder = builder.component(&name(at), &dependencies.iter().map(String::as_str).collect::<Vec<_>>(), true);
        }
        for (at, (shape, _)) in shapes.iter().enumerate() {
            let component = name(at);
            for (bit, suffix) in ["-pre", "", "-post", "-readiness"].iter().enumerate() {
                // A gate needs its component.
                let there = shape >> bit & 1 == 1 && (bit < 3 || shape >> 1 & 1 == 1);
                if there {
                    builder = builder.release(&format!("{component}{suffix}"), &component, "");
                }
            }
        }
        // An empty bundle has no index in the fixture.
        prop_assume!(shapes.iter().any(|(shape, _)| shape & 7 != 0));
        let case = Case::of(builder);
        let plan = case.resolve().unwrap().plan;
        let order: Vec<_> = plan.ordered().into_iter().map(|release| release.id.clone()).collect();
        let place = |id: &str| order.iter().position(|other| other == id).unwrap();
        for (at, (_, mask)) in shapes.iter().enumerate() {
            for release in plan.releases.iter().filter(|release| release.component == name(at)) {
                for bit in (0..at).filter(|bit| mask >> bit & 1 == 1) {
                    for before in plan.releases.iter().filter(|before| before.component == name(bit)) {
                        prop_assert!(place(&before.id) < place(&release.id));
                    }
                }
            }
        }
    }
}
