//! `kubectl aicr reproduce`, end to end.
use std::fs;
use std::os::unix::fs::symlink;

use kubectl_aicr::plan::Plan;
use kubectl_aicr::plan::configmap::{RecipeKind, write_plan, write_recipe};
use kubectl_aicr::plan::document::{PlanDocument, PlanSource};
use serde_json::{Value, json};
use test_support::{Identity, NAMESPACE};

use crate::admission_kit::{CONFIG_MAPS, RUNTIMES, World, runtime};
use crate::cli_kit::{Plugin, Ran, golden};
use crate::fixtures::{self, RECIPE, digest, release};

/// A plan, differing from others by its one release.
fn plan(id: &str, change: impl FnOnce(&mut PlanDocument)) -> Plan {
    let mut document = fixtures::document(vec![release(id, &[])]);
    change(&mut document);
    Plan::seal(document).unwrap()
}

fn name(plan: &Plan) -> String {
    format!("aicr-plan-{}", plan.digest().short())
}

/// The ConfigMap of a plan.
fn plan_map(plan: &Plan) -> Value {
    serde_json::to_value(write_plan(plan, NAMESPACE).unwrap()).unwrap()
}

/// The ConfigMap of a plan's recipe.
fn recipe_map(plan: &Plan) -> Value {
    serde_json::to_value(write_recipe(plan, NAMESPACE, RecipeKind::Resolved, RECIPE).unwrap()).unwrap()
}

/// A leased cluster where the operator has stored these ConfigMaps.
async fn world_with(maps: &[Value]) -> World {
    let world = World::leased().await;
    for map in maps {
        world.operator.create(CONFIG_MAPS, map).await.unwrap();
    }
    world
}

/// The runtime, with these plans in its status.
async fn install(world: &World, status: Value) {
    world.admin.create(RUNTIMES, &runtime()).await.unwrap();
    world.operator.merge(&format!("{RUNTIMES}/cluster/status"), &json!({"status": status})).await.unwrap();
}

/// What was written into the folder of a run.
fn written(world: &World, dir: &str) -> String {
    fs::read_to_string(world.cluster.folder().join(dir).join("recipe.json")).unwrap()
}

/// The plan that a run was about.
#[track_caller]
fn plan_of(ran: &Ran) -> String {
    ran.done().lines().next().unwrap().trim_start_matches("Plan:").trim().to_owned()
}

fn words(plan: &Plan) -> String {
    format!("{} ({})", plan.digest(), name(plan))
}

#[tokio::test]
async fn the_active_plan_is_reproduced_with_its_recipe_to_the_byte() {
    let active = plan("active", |_| {});
    let world = world_with(&[plan_map(&active), recipe_map(&active)]).await;
    install(&world, json!({"activePlanDigest": active.digest()})).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    golden!(alice.run(&["reproduce"]).await);
    assert_eq!(written(&world, "aicr-reproduce"), RECIPE);
    let audit = world.cluster.audit().by(Identity::Approver);
    let asked: Vec<_> = audit
        .iter()
        .map(|request| (request.verb.as_str(), request.resource.as_str(), request.code))
        .collect();
    assert_eq!(
        asked,
        [("get", "clusterruntimes", 200), ("get", "configmaps", 200), ("get", "configmaps", 200)]
    );
    assert_eq!(audit.writes().len(), 0, "it changes nothing in the cluster");
}

#[tokio::test]
async fn the_active_plan_comes_before_the_candidate_and_a_named_one_before_both() {
    let (active, candidate, old) = (plan("active", |_| {}), plan("candidate", |_| {}), plan("old", |_| {}));
    let maps = [plan_map(&active), plan_map(&candidate), plan_map(&old), recipe_map(&active)];
    let world = world_with(&maps).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    install(&world, json!({"candidatePlanDigest": candidate.digest()})).await;
    assert_eq!(plan_of(&alice.run(&["reproduce"]).await), words(&candidate));
    let both =
        json!({"status": {"activePlanDigest": active.digest(), "candidatePlanDigest": candidate.digest()}});
    world.operator.merge(&format!("{RUNTIMES}/cluster/status"), &both).await.unwrap();
    assert_eq!(plan_of(&alice.run(&["reproduce"]).await), words(&active));
    let before = world.cluster.audit().by(Identity::Approver).resource("clusterruntimes").len();
    assert_eq!(plan_of(&alice.run(&["reproduce", &old.digest().to_string()]).await), words(&old));
    assert_eq!(plan_of(&alice.run(&["reproduce", "--dir", "other", &name(&old)]).await), words(&old));
    assert_eq!(written(&world, "other"), RECIPE);
    let after = world.cluster.audit().by(Identity::Approver).resource("clusterruntimes").len();
    assert_eq!(before, after, "a named plan needs no right to the runtime");
}

#[tokio::test]
async fn the_same_as_json_and_as_yaml_agrees_with_the_text() {
    let active = plan("active", |_| {});
    let world = world_with(&[plan_map(&active), recipe_map(&active)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let line = |format| ["reproduce", "-o", format, "--dir", "my dir", "PLAN"].map(str::to_owned);
    let mut answers = Vec::new();
    for format in ["json", "yaml"] {
        let mut line = line(format);
        line[5] = name(&active);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        answers.push(serde_yaml::from_str::<Value>(alice.run(&line).await.done()).unwrap());
    }
    assert_eq!(answers[0], answers[1]);
    let text = alice.run(&["reproduce", &name(&active), "--dir", "my dir"]).await;
    for pointer in [
        "/plan",
        "/configMap",
        "/aicrImage",
        "/bundle",
        "/recipe",
        "/commands/0",
        "/commands/1",
        "/commands/2",
    ] {
        let value =
            answers[0].pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}"));
        assert!(text.done().contains(value), "{pointer}: {value} is not in {text}");
    }
    assert_eq!(answers[0]["recipe"], "my dir/recipe.json");
}

#[tokio::test]
async fn the_printed_commands_run_in_a_shell_with_exactly_the_recorded_words() {
    let flags = [
        "--deployer",
        "helm",
        "--set",
        "gpuoperator:driver.args=a b 'c' \"d\" $HOME `id` \\ ; rm -rf / #",
        "",
        "*",
        "~",
        "--dynamic=é=1",
        "!x",
    ];
    let odd = plan("odd", |document| {
        document.provenance.render_flags = Some(flags.map(str::to_owned).into());
    });
    let world = world_with(&[plan_map(&odd), recipe_map(&odd)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let dir = "-my $(dir) 'x'";
    let ran = alice.run(&["reproduce", &name(&odd), &format!("--dir={dir}")]).await;
    let commands: Vec<_> = ran.done().lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(commands.len(), 3, "{ran}");
    assert_eq!(written(&world, dir), RECIPE);
    let pasted = commands.join("\n");
    alice.bash(&format!("bash -n <<'PASTED'\n{pasted}\nPASTED")).await.done();
    let shell = "docker() { printf '%s\\n' docker \"$@\"; }; oras() { printf '%s\\n' oras \"$@\"; }; diff() { printf '%s\\n' diff \"$@\"; }; id() { echo 7; }";
    let run = alice.bash(&format!("{shell}\n{pasted}")).await;
    let provenance = &odd.provenance;
    let image = provenance.aicr_image.clone().unwrap();
    let bundle = provenance.bundle.clone().unwrap().replace("oci://", "");
    let folder = world.cluster.folder().canonicalize().unwrap();
    let mount = format!("{}/{dir}:/work", folder.display());
    let mut expected = vec![
        "docker",
        "run",
        "--rm",
        "--user",
        "7:7",
        "-v",
        &mount,
        "-w",
        "/work",
        &image,
        "bundle",
        "--recipe",
        "recipe.json",
    ];
    expected.extend(flags);
    let (operator, own) = (format!("./{dir}/operator-bundle"), format!("./{dir}/cli-bundle"));
    expected.extend([
        "--output",
        "cli-bundle",
        "oras",
        "pull",
        &bundle,
        "-o",
        &operator,
        "diff",
        "-r",
        &operator,
        &own,
        "zero diff",
    ]);
    assert_eq!(run.done().lines().collect::<Vec<_>>(), expected);
}

/// Asserts that reproducing fails with this error and leaves nothing behind.
async fn assert_refused(world: &World, line: &[&str], error: &str) {
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let ran = alice.run(&[&["reproduce", "--dir", "refused"], line].concat()).await;
    assert_eq!(ran.failed(), format!("error: {error}\n"));
    assert!(
        !world.cluster.folder().join("refused").exists(),
        "nothing is written before everything is known: {ran}"
    );
}

#[tokio::test]
async fn a_plan_that_cannot_be_rendered_again_is_refused_with_what_it_lacks() {
    let rebuilt = plan("rebuilt", |document| {
        document.input_digest = None;
        document.recipe = None;
        let provenance = &mut document.provenance;
        provenance.source = PlanSource::Rebuilt;
        (provenance.aicr_version, provenance.aicr_image, provenance.bundle) = (None, None, None);
        (provenance.snapshot_digest, provenance.runtime_generation, provenance.render_flags) =
            (None, None, None);
    });
    let flagless = plan("flagless", |document| document.provenance.render_flags = None);
    let imageless = plan("imageless", |document| document.provenance.aicr_image = None);
    let bundleless = plan("bundleless", |document| document.provenance.bundle = None);
    let broken = plan("broken", |document| document.provenance.render_flags = Some(vec!["a\nb".to_owned()]));
    let turned =
        plan("turned", |document| document.provenance.render_flags = Some(vec!["a\u{202e}b".to_owned()]));
    let all = [&rebuilt, &flagless, &imageless, &bundleless, &broken, &turned];
    let mut maps: Vec<_> = all.iter().map(|plan| plan_map(plan)).collect();
    maps.push(recipe_map(&flagless));
    let world = world_with(&maps).await;
    for (plan, problem) in [
        (&rebuilt, "was rebuilt from Applications and has no recipe: nothing can be rendered from it"),
        (&flagless, "does not record its render flags: its bundle cannot be rendered again"),
        (&imageless, "does not record the AICR image it was rendered with"),
        (&bundleless, "does not record the bundle that was rendered"),
        (&broken, "records the word \"a\\nb\", whose control or hidden characters no shell line can show"),
        (
            &turned,
            "records the word \"a\\u{202e}b\", whose control or hidden characters no shell line can show",
        ),
    ] {
        let error = format!("[CONFLICT] plan {} {problem}", plan.digest());
        assert_refused(&world, &[&name(plan)], &error).await;
    }
}

#[tokio::test]
async fn a_recipe_that_is_not_the_recorded_one_is_refused() {
    let active = plan("active", |_| {});
    let mut changed = recipe_map(&active);
    changed["data"]["recipe.json"] = RECIPE.replace("v1", "v2").into();
    let world = world_with(&[plan_map(&active), changed]).await;
    let recipe = fixtures::document(Vec::new()).recipe.unwrap().config_map_ref;
    let found = digest(&RECIPE.replace("v1", "v2"));
    assert_refused(
        &world,
        &[&name(&active)],
        &format!(
            "[CONFLICT] recipe {} cannot be read: the plan records {}, but its content has {found}",
            recipe.config_map, recipe.digest
        ),
    )
    .await;
    let path = format!("{CONFIG_MAPS}/{}", recipe.config_map);
    world.operator.delete(&path).await.unwrap();
    assert_refused(&world, &[&name(&active)], &format!(
        "[NOT_FOUND] recipe {} is missing from namespace aicr-system; --operator-namespace names another one", recipe.config_map
    )).await;
    let mut forged = recipe_map(&active);
    forged["metadata"]["labels"] = json!({});
    world.admin.create(CONFIG_MAPS, &forged).await.unwrap();
    assert_refused(&world, &[&name(&active)], &format!(
        "[CONFLICT] recipe {} cannot be read: its label app.kubernetes.io/managed-by is \"\", not \"aicr-operator\"", recipe.config_map
    )).await;
}

/// How a ConfigMap is spoilt.
type Change = fn(&mut Value);

#[tokio::test]
async fn a_plan_that_is_missing_forged_or_unreadable_is_refused() {
    let active = plan("active", |_| {});
    let world = world_with(&[recipe_map(&active)]).await;
    let name = name(&active);
    let missing = |namespace| {
        format!(
            "[NOT_FOUND] plan {name} is missing from namespace {namespace}; --operator-namespace names another one"
        )
    };
    assert_refused(&world, &[&name], &missing("aicr-system")).await;
    assert_refused(&world, &[&active.digest().to_string()], &missing("aicr-system")).await;
    let unreadable = |why: &str| format!("[CONFLICT] plan {name} cannot be read: {why}");
    let mut forged = plan_map(&active);
    forged["metadata"]["labels"] = json!({});
    world.admin.create(CONFIG_MAPS, &forged).await.unwrap();
    let why = "its label app.kubernetes.io/managed-by is \"\", not \"aicr-operator\"";
    assert_refused(&world, &[&name], &unreadable(why)).await;
    let path = format!("{CONFIG_MAPS}/{name}");
    let cases: [(&str, Change, &str); 4] = [
        (
            "version",
            |map| map["metadata"]["labels"]["operator.aicr.run/schema-version"] = "2".into(),
            "its label operator.aicr.run/schema-version is \"2\", and \"1\" is the only version supported",
        ),
        ("mutable", |map| map["immutable"] = false.into(), "it is not immutable"),
        ("empty", |map| map["data"] = json!({}), "it has no plan.json"),
        (
            "role",
            |map| map["metadata"]["labels"]["operator.aicr.run/role"] = "recipe".into(),
            "its label operator.aicr.run/role is \"recipe\", not \"plan\"",
        ),
    ];
    for (case, change, why) in cases {
        world.admin.delete(&path).await.unwrap();
        let mut map = plan_map(&active);
        change(&mut map);
        world
            .operator
            .create(CONFIG_MAPS, &map)
            .await
            .unwrap_or_else(|error| panic!("{case}: {}", error.message));
        assert_refused(&world, &[&name], &unreadable(why)).await;
    }
    // The content of one plan under the name of another.
    world.admin.delete(&path).await.unwrap();
    let other = plan("other", |_| {});
    let mut map = plan_map(&other);
    map["metadata"]["name"] = name.as_str().into();
    world.operator.create(CONFIG_MAPS, &map).await.unwrap();
    assert_refused(&world, &[&name], &unreadable(&format!("it holds plan {}, not {name}", other.digest())))
        .await;
}

#[tokio::test]
async fn without_a_name_there_must_be_a_runtime_with_a_plan() {
    let world = World::leased().await;
    assert_refused(&world, &[], "[NOT_FOUND] clusterruntimes.operator.aicr.run \"cluster\" not found").await;
    install(&world, json!({})).await;
    let neither =
        "the ClusterRuntime has neither an active plan nor a candidate yet; name a plan, or wait for one";
    assert_refused(&world, &[], &format!("[NOT_FOUND] {neither}")).await;
    for text in ["latest", "sha256:12", "aicr-plan-XYZ", "../x"] {
        let error = format!(
            "[INVALID_REQUEST] {text:?} names no plan: expected sha256:<64 hex> or aicr-plan-<16 hex>, in lower case"
        );
        assert_refused(&world, &[text], &error).await;
    }
}

#[tokio::test]
async fn who_may_not_read_plans_is_told_so() {
    let active = plan("active", |_| {});
    let world = world_with(&[plan_map(&active), recipe_map(&active)]).await;
    let ran = Plugin::of(&world.cluster, Identity::Editor).run(&["reproduce", &name(&active)]).await;
    assert_eq!(
        ran.failed(),
        format!(
            "error: [UNAUTHORIZED] configmaps \"{}\" is forbidden: User \"eve\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"aicr-system\"\n",
            name(&active)
        )
    );
}

#[tokio::test]
async fn nothing_is_written_through_a_link_or_over_what_is_no_plain_file() {
    let active = plan("active", |_| {});
    let world = world_with(&[plan_map(&active), recipe_map(&active)]).await;
    let alice = Plugin::of(&world.cluster, Identity::Approver);
    let folder = world.cluster.folder();
    fs::write(folder.join("precious"), "kept").unwrap();
    for made in ["linked", "odd/recipe.json", "real"] {
        fs::create_dir_all(folder.join(made)).unwrap();
    }
    symlink(folder.join("precious"), folder.join("linked/recipe.json")).unwrap();
    symlink(folder.join("real"), folder.join("link")).unwrap();
    for (dir, problem) in [
        ("linked", "linked/recipe.json: it is a symbolic link"),
        ("link", "link: it is a symbolic link"),
        ("link/.", "link: it is a symbolic link"),
        ("link/", "link: it is a symbolic link"),
        ("precious", "precious: it is no folder"),
        ("odd", "odd/recipe.json: it is no plain file"),
    ] {
        let ran = alice.run(&["reproduce", &name(&active), "--dir", dir]).await;
        assert_eq!(
            ran.failed(),
            format!("error: [INVALID_REQUEST] cannot write {problem}; --dir names another folder\n")
        );
    }
    assert_eq!(fs::read_to_string(folder.join("precious")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.join("real")).unwrap().count(), 0);
}
