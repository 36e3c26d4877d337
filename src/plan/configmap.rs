//! Plans, recipes and values as immutable ConfigMaps of the operator namespace, and the rules for reading them.
//!
//! Source: api-reference "Plan ConfigMap" and "Engine object metadata"; design section 9: only a ConfigMap with exactly the
//! labels that admission protects is read, and its digest is recomputed from its content.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::digest::Digest;
use super::document::{ContentRef, SCHEMA_VERSION};
use super::reason::{Reason, Refused};
use super::sealed::{MAX_PLAN_BYTES, Plan};
use super::values::Values;
use crate::api::application::Parameter;
use crate::api::keys;

const PLAN_PREFIX: &str = "aicr-plan-";
const PLAN_KEY: &str = "plan.json";
const VALUES_KEY: &str = "values.json";
const PARAMETERS_KEY: &str = "parameters.json";

/// How somebody names a plan: by its digest or by its ConfigMap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRef {
    short: String,
    digest: Option<Digest>,
}

/// A text that names no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no plan: expected sha256:<64 hex> or {PLAN_PREFIX}<16 hex>, in lower case")]
pub struct PlanRefError(String);

impl PlanRef {
    /// Reads `sha256:<64 hex>` or `aicr-plan-<16 hex>`.
    ///
    /// # Errors
    ///
    /// For any other text.
    pub fn parse(text: &str) -> Result<Self, PlanRefError> {
        if let Ok(digest) = Digest::parse(text) {
            return Ok(digest.into());
        }
        let is_hex = |short: &&str| {
            short.len() == 16
                && short.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        match text.strip_prefix(PLAN_PREFIX).filter(is_hex) {
            Some(short) => Ok(Self { short: short.to_owned(), digest: None }),
            None => Err(PlanRefError(text.chars().take(80).collect())),
        }
    }

    /// The name of the plan's ConfigMap.
    pub fn config_map(&self) -> String {
        format!("{PLAN_PREFIX}{}", self.short)
    }
}

impl From<Digest> for PlanRef {
    fn from(digest: Digest) -> Self {
        Self { short: digest.short(), digest: Some(digest) }
    }
}

/// The text that the plan is meant by.
impl fmt::Display for PlanRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.digest {
            Some(digest) => digest.fmt(f),
            None => f.write_str(&self.config_map()),
        }
    }
}

/// What a ConfigMap of the operator holds; its `role` label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Plan,
    Recipe,
    Values,
}

impl Role {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Recipe => "recipe",
            Self::Values => "values",
        }
    }
}

/// Which of a plan's recipes a ConfigMap holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipeKind {
    /// The recipe Job's output, JSON.
    Resolved,
    /// The bundle's recipe, YAML.
    Bundled,
}

impl RecipeKind {
    const fn key(self) -> &'static str {
        match self {
            Self::Resolved => "recipe.json",
            Self::Bundled => "recipe.yaml",
        }
    }
}

/// The plan's ConfigMap.
///
/// # Errors
///
/// None that a plan can cause; serialization of a document is fallible by its type.
pub fn write_plan(plan: &Plan, namespace: &str) -> Result<ConfigMap, serde_json::Error> {
    let mut object = skeleton(plan, namespace, Role::Plan, PlanRef::from(plan.digest()).config_map());
    put_label(&mut object, keys::SCHEMA_VERSION, &SCHEMA_VERSION.to_string());
    put_input(&mut object, plan);
    object.data = Some(BTreeMap::from([(PLAN_KEY.to_owned(), plan.to_json()?)]));
    Ok(object)
}

/// Reads the plan that was asked for from what the API server answered.
///
/// # Errors
///
/// `NotFound` when there was nothing; `PlanUnreadable` for a ConfigMap without the protected labels, of another name or
/// digest than asked for, not immutable, of another schema version, or whose content does not have the stated digest.
pub fn read_plan(wanted: &PlanRef, found: Option<&ConfigMap>) -> Result<Plan, Refused> {
    let name = wanted.config_map();
    let object = Stored::find("plan", &name, found, Role::Plan)?;
    let (schema, supported) = (object.label(keys::SCHEMA_VERSION), SCHEMA_VERSION.to_string());
    if schema != supported {
        return Err(object.unreadable(format!(
            "its label {} is {schema:?}, and {supported:?} is the only version supported",
            keys::SCHEMA_VERSION
        )));
    }
    let plan = Plan::read(object.data(PLAN_KEY)?).map_err(|error| object.unreadable(error))?;
    object.expect_annotation(keys::PLAN_DIGEST, &plan.digest().to_string())?;
    object.expect_annotation(keys::RUNTIME_UID, &plan.runtime_uid)?;
    let own = PlanRef::from(plan.digest());
    if own.config_map() != name || wanted.digest.is_some_and(|digest| digest != plan.digest()) {
        return Err(object.unreadable(format!("it holds plan {own}, not {wanted}")));
    }
    Ok(plan)
}

/// How a plan refers to a recipe.
pub fn recipe_ref(text: &str) -> ContentRef {
    let digest = Digest::of_bytes(text.as_bytes());
    ContentRef { config_map: format!("aicr-recipe-{}", digest.short()), digest }
}

/// The ConfigMap of a plan's recipe, which keeps exactly the bytes of `text`.
///
/// # Errors
///
/// `ContentTooLarge` for more than a ConfigMap holds.
pub fn write_recipe(
    plan: &Plan,
    namespace: &str,
    kind: RecipeKind,
    text: &str,
) -> Result<ConfigMap, Refused> {
    if text.len() > MAX_PLAN_BYTES {
        let message =
            format!("the recipe takes {} bytes: a ConfigMap holds at most {MAX_PLAN_BYTES}", text.len());
        return Err(Refused { reason: Reason::ContentTooLarge, message });
    }
    let content = recipe_ref(text);
    let mut object = skeleton(plan, namespace, Role::Recipe, content.config_map);
    put_input(&mut object, plan);
    put_annotation(&mut object, keys::DIGEST, &content.digest.to_string());
    object.data = Some(BTreeMap::from([(kind.key().to_owned(), text.to_owned())]));
    Ok(object)
}

/// Reads the recipe that a plan refers to: exactly the bytes that were stored.
///
/// # Errors
///
/// `NotFound` when there was nothing; `PlanUnreadable` for a ConfigMap without the protected labels or whose content does
/// not have the recorded digest.
pub fn read_recipe<'a>(
    wanted: &ContentRef,
    kind: RecipeKind,
    found: Option<&'a ConfigMap>,
) -> Result<&'a str, Refused> {
    let object = Stored::find("recipe", &wanted.config_map, found, Role::Recipe)?;
    object.expect_annotation(keys::DIGEST, &wanted.digest.to_string())?;
    let text = object.data(kind.key())?;
    object.expect_content(wanted.digest, Digest::of_bytes(text.as_bytes()))?;
    Ok(text)
}

/// How a plan refers to a release's values.
pub fn values_ref(release: &str, values: &Values) -> ContentRef {
    let digest = values.digest();
    ContentRef { config_map: format!("aicr-values-{release}-{}", digest.short()), digest }
}

/// The ConfigMap of a release's values: `values.json` and, if there are any, `parameters.json`.
pub fn write_values(plan: &Plan, namespace: &str, release: &str, values: &Values) -> ConfigMap {
    let content = values_ref(release, values);
    let mut object = skeleton(plan, namespace, Role::Values, content.config_map);
    put_annotation(&mut object, keys::RELEASE_ID, release);
    put_annotation(&mut object, keys::DIGEST, &content.digest.to_string());
    let (text, parameters) = values.texts();
    let parameters = parameters.map(|text| (PARAMETERS_KEY.to_owned(), text));
    object.data = Some([(VALUES_KEY.to_owned(), text)].into_iter().chain(parameters).collect());
    object
}

/// Reads the values that a plan refers to.
///
/// # Errors
///
/// `NotFound` when there was nothing; `PlanUnreadable` for a ConfigMap without the protected labels, values that are not
/// in normal form, or content that does not have the recorded digest.
pub fn read_values(wanted: &ContentRef, found: Option<&ConfigMap>) -> Result<Values, Refused> {
    let object = Stored::find("values", &wanted.config_map, found, Role::Values)?;
    object.expect_annotation(keys::DIGEST, &wanted.digest.to_string())?;
    let broken = |key: &str, error: &dyn fmt::Display| object.unreadable(format!("its {key}: {error}"));
    let tree = serde_json::from_str(object.data(VALUES_KEY)?).map_err(|error| broken(VALUES_KEY, &error))?;
    let parameters: Vec<Parameter> = match object.optional_data(PARAMETERS_KEY) {
        Some(text) => serde_json::from_str(text).map_err(|error| broken(PARAMETERS_KEY, &error))?,
        None => Vec::new(),
    };
    let values = Values::from_parts(&tree, &parameters).map_err(|error| object.unreadable(error))?;
    object.expect_content(wanted.digest, values.digest())?;
    Ok(values)
}

fn skeleton(plan: &Plan, namespace: &str, role: Role, name: String) -> ConfigMap {
    let mut object = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        ..ConfigMap::default()
    };
    for (key, value) in protected(role) {
        put_label(&mut object, key, value);
    }
    put_annotation(&mut object, keys::RUNTIME_UID, &plan.runtime_uid);
    put_annotation(&mut object, keys::PLAN_DIGEST, &plan.digest().to_string());
    object
}

/// The labels by which admission knows the operator's ConfigMaps.
const fn protected(role: Role) -> [(&'static str, &'static str); 3] {
    [(keys::MANAGED_BY, keys::MANAGER), (keys::RUNTIME, keys::SINGLETON), (keys::ROLE, role.as_str())]
}

fn put_input(object: &mut ConfigMap, plan: &Plan) {
    if let Some(input) = plan.input_digest {
        put_label(object, keys::INPUT, &input.short());
    }
}

fn put_label(object: &mut ConfigMap, key: &str, value: &str) {
    object.metadata.labels.get_or_insert_default().insert(key.to_owned(), value.to_owned());
}

fn put_annotation(object: &mut ConfigMap, key: &str, value: &str) {
    object.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value.to_owned());
}

/// A ConfigMap that may be read: found, of the right name, with the protected labels, immutable.
struct Stored<'a, 'n> {
    what: &'static str,
    object: &'a ConfigMap,
    name: &'n str,
}

impl<'a, 'n> Stored<'a, 'n> {
    fn find(
        what: &'static str,
        name: &'n str,
        found: Option<&'a ConfigMap>,
        role: Role,
    ) -> Result<Self, Refused> {
        let Some(object) = found else {
            return Err(Refused { reason: Reason::NotFound, message: format!("{what} {name} is missing") });
        };
        let stored = Self { what, object, name };
        let own_name = object.metadata.name.as_deref().unwrap_or_default();
        if own_name != name {
            return Err(stored.unreadable(format!("the ConfigMap that was read is {own_name:?}")));
        }
        for (key, value) in protected(role) {
            let own = stored.label(key);
            if own != value {
                return Err(stored.unreadable(format!("its label {key} is {own:?}, not {value:?}")));
            }
        }
        if object.immutable != Some(true) {
            return Err(stored.unreadable("it is not immutable"));
        }
        Ok(stored)
    }

    fn unreadable(&self, why: impl fmt::Display) -> Refused {
        let message = format!("{} {} cannot be read: {why}", self.what, self.name);
        Refused { reason: Reason::PlanUnreadable, message }
    }

    fn label(&self, key: &str) -> &'a str {
        self.object.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map_or("", String::as_str)
    }

    fn expect_annotation(&self, key: &str, value: &str) -> Result<(), Refused> {
        let annotations = self.object.metadata.annotations.as_ref();
        let own = annotations.and_then(|annotations| annotations.get(key)).map_or("", String::as_str);
        if own == value {
            return Ok(());
        }
        Err(self.unreadable(format!("its annotation {key} is {own:?}, not {value:?}")))
    }

    fn expect_content(&self, recorded: Digest, computed: Digest) -> Result<(), Refused> {
        if recorded == computed {
            return Ok(());
        }
        Err(self.unreadable(format!("the plan records {recorded}, but its content has {computed}")))
    }

    fn optional_data(&self, key: &str) -> Option<&'a str> {
        self.object.data.as_ref().and_then(|data| data.get(key)).map(String::as_str)
    }

    fn data(&self, key: &str) -> Result<&'a str, Refused> {
        self.optional_data(key).ok_or_else(|| self.unreadable(format!("it has no {key}")))
    }
}

#[cfg(test)]
mod tests;
