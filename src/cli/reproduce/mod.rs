//! `kubectl aicr reproduce [PLAN]`: a plan's recipe on disk, and the commands that render and compare its bundle.
//!
//! It only reads the plan's record; AICR renders and `diff` compares. Source: kubectl-aicr, "reproduce".

mod commands;
mod recipe_file;

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde::Serialize;

use super::args::object_name;
use super::error::CliError;
use super::session::Session;
use super::text;
use crate::api::{ClusterRuntime, Code, keys};
use crate::plan::configmap::{PlanRef, RecipeKind, read_plan, read_recipe};
use crate::plan::document::ContentRef;
use crate::plan::reason::{Reason, Refused};
use crate::plan::{Digest, Plan};
use commands::Inputs;

/// What is wrong with `--dir`: docker splits a mount at its colons, and a path that is not text cannot be printed.
pub(super) fn usage_problem(dir: &Path) -> Option<String> {
    match dir.to_str() {
        None => Some("--dir is not valid UTF-8".into()),
        Some("") => Some("--dir must not be empty".into()),
        Some(text) if text.contains(':') => {
            Some("--dir must not contain ':', at which docker splits a mount".into())
        }
        Some(text) if text.chars().any(char::is_control) => {
            Some("--dir must not contain control characters".into())
        }
        Some(_) => None,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reproduction {
    plan: Digest,
    config_map: String,
    aicr_image: String,
    bundle: String,
    recipe: String,
    commands: [String; 3],
}

/// Writes the recipe and returns the text.
pub(super) async fn run(session: &Session<'_>, named: Option<&str>) -> Result<String, CliError> {
    let wanted = match named {
        Some(text) => PlanRef::parse(text).map_err(|error| CliError::invalid(error.to_string()))?,
        None => PlanRef::from(installed(session).await?),
    };
    let stored = fetch(session, &wanted.config_map()).await?;
    let plan = read_plan(&wanted, stored.as_ref()).map_err(|refusal| refused(session, &refusal))?;
    let record = record(&plan)?;
    let stored = fetch(session, &record.recipe.config_map).await?;
    let recipe = read_recipe(record.recipe, RecipeKind::Resolved, stored.as_ref())
        .map_err(|refusal| refused(session, &refusal))?;
    // Without a slash at its end, with which a link in its place would be followed.
    let dir: PathBuf = session.flags.dir.components().collect();
    let path = recipe_file::write(&dir, recipe)?;
    let inputs = Inputs { dir: &dir, image: record.image, flags: record.flags, bundle: record.bundle };
    let reproduction = Reproduction {
        plan: plan.digest(),
        config_map: wanted.config_map(),
        aicr_image: record.image.to_owned(),
        bundle: record.bundle.to_owned(),
        recipe: path.display().to_string(),
        commands: commands::commands(&inputs),
    };
    match session.flags.output {
        Some(format) => super::structured(&reproduction, format),
        None => Ok(render(&reproduction)),
    }
}

fn render(done: &Reproduction) -> String {
    let [bundle, pull, compare] = &done.commands;
    format!(
        "Plan:        {} ({})\nAICR image:  {}\nBundle:      {}\nRecipe:      {}\n\n\
         Render the bundle with that image:\n\n  {bundle}\n\n\
         Pull the bundle that the operator rendered (log in to the registry first):\n\n  {pull}\n\n\
         Compare them; no difference means that the operator deployed what the AICR CLI renders:\n\n  {compare}\n",
        done.plan,
        text::line(&done.config_map),
        text::line(&done.aicr_image),
        text::line(&done.bundle),
        done.recipe,
    )
}

/// What of a plan the commands need.
struct Record<'a> {
    recipe: &'a ContentRef,
    image: &'a str,
    flags: &'a [String],
    bundle: &'a str,
}

/// The plan's record of its rendering, or why it cannot be rendered again.
fn record(plan: &Plan) -> Result<Record<'_>, CliError> {
    let digest = plan.digest();
    let refuse = |problem: &str| CliError::new(Code::Conflict, format!("plan {digest} {problem}"));
    let recipe = plan.recipe.as_ref().ok_or_else(|| {
        refuse("was rebuilt from Applications and has no recipe: nothing can be rendered from it")
    })?;
    let provenance = &plan.provenance;
    let flags = provenance.render_flags.as_deref();
    let record = Record {
        recipe: &recipe.config_map_ref,
        flags: flags
            .ok_or_else(|| refuse("does not record its render flags: its bundle cannot be rendered again"))?,
        image: provenance
            .aicr_image
            .as_deref()
            .ok_or_else(|| refuse("does not record the AICR image it was rendered with"))?,
        bundle: provenance
            .bundle
            .as_deref()
            .ok_or_else(|| refuse("does not record the bundle that was rendered"))?,
    };
    // docker and oras would take such a word for a flag.
    if let Some(word) = [record.image, record.bundle].into_iter().find(|word| word.starts_with('-')) {
        return Err(refuse(&format!("records {word:?} where an image or a bundle belongs")));
    }
    // The name becomes part of a request's path.
    if object_name(&record.recipe.config_map).is_err() {
        let name = &record.recipe.config_map;
        return Err(refuse(&format!("refers to {name:?} as its recipe, which names no ConfigMap")));
    }
    // The commands are read before they are pasted into a shell as lines: a line end within would break them apart, and
    // a hidden character would have another command run than the one that was read.
    let words = record.flags.iter().map(String::as_str).chain([record.image, record.bundle]);
    match words.into_iter().find(|word| text::safe(word) != **word) {
        Some(word) => Err(refuse(&format!(
            "records the word {word:?}, whose control or hidden characters no shell line can show"
        ))),
        None => Ok(record),
    }
}

/// Digest of the active plan, else of the candidate.
async fn installed(session: &Session<'_>) -> Result<Digest, CliError> {
    let runtimes: Api<ClusterRuntime> = Api::all(session.connection.client());
    let runtime = session.connection.call(runtimes.get(keys::SINGLETON)).await?;
    let status = runtime.status.unwrap_or_default();
    let digests = [status.active_plan_digest, status.candidate_plan_digest];
    let digest = digests.into_iter().flatten().find(|digest| !digest.is_empty());
    let digest = digest.ok_or_else(|| {
        let message =
            "the ClusterRuntime has neither an active plan nor a candidate yet; name a plan, or wait for one";
        CliError::new(Code::NotFound, message)
    })?;
    Digest::parse(&digest).map_err(|error| CliError::new(Code::Internal, error.to_string()))
}

/// A ConfigMap of the operator namespace, or `None` when there is none of that name.
async fn fetch(session: &Session<'_>, name: &str) -> Result<Option<ConfigMap>, CliError> {
    let maps: Api<ConfigMap> =
        Api::namespaced(session.connection.client(), &session.flags.operator_namespace);
    session.connection.call(maps.get_opt(name)).await
}

fn refused(session: &Session<'_>, refusal: &Refused) -> CliError {
    let namespace = &session.flags.operator_namespace;
    let hint = if refusal.reason == Reason::NotFound {
        format!(" from namespace {namespace}; --operator-namespace names another one")
    } else {
        String::new()
    };
    CliError::new(refusal.reason.code(), format!("{}{hint}", refusal.message))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::usage_problem;

    #[test]
    fn a_folder_that_cannot_be_mounted_or_printed_is_a_usage_error() {
        for (dir, fine) in
            [("aicr-reproduce", true), ("/a b/c", true), ("a:b", false), ("a\nb", false), ("", false)]
        {
            assert_eq!(usage_problem(Path::new(dir)).is_none(), fine, "{dir:?}");
        }
    }
}
