//! A plan: a document that was checked. Its bounds and its graph hold, and its digest is that of its content.
//!
//! Source: api-reference "Plan ConfigMap", bounds and rules.

use std::ops::Deref;

use serde::Deserialize;

use super::canonical;
use super::digest::Digest;
use super::document::{PlanDocument, Recipe, Release, SCHEMA_VERSION};
use super::graph::{self, GraphError};
use super::identity;
use super::reason::{Reason, Refused};

/// The most releases of one plan.
pub const MAX_RELEASES: usize = 128;
/// The longest release ID, in characters: the limit of a Helm release's name.
pub const MAX_RELEASE_ID: usize = 53;
/// The most bytes of one document: what a ConfigMap holds.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;
/// The most warnings that a plan keeps.
pub const MAX_WARNINGS: usize = 64;
/// The longest warning, in characters.
pub const MAX_WARNING: usize = 1024;

/// A document whose bounds, graph and digest hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    document: PlanDocument,
    /// Indices into the releases, dependencies first.
    order: Vec<usize>,
}

/// Why a document is no plan.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is not JSON, or members are missing or of another type.
    #[error("the plan document cannot be read: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Written by another version.
    #[error("the plan document has schemaVersion {found}, and {SCHEMA_VERSION} is the only one supported")]
    Version {
        /// What it states.
        found: String,
    },
    /// Over [`MAX_PLAN_BYTES`].
    #[error("the plan document takes {bytes} bytes: a ConfigMap holds at most {MAX_PLAN_BYTES}")]
    TooLarge {
        /// What it takes.
        bytes: usize,
    },
    /// The stated digest is not that of the content.
    #[error("the plan document states the digest {stated}, but its content has {computed}")]
    Digest {
        /// What it states.
        stated: Digest,
        /// What was computed.
        computed: Digest,
    },
    /// A member is out of its bounds.
    #[error("{member} {rule}")]
    Bound {
        /// The member at fault, with its release.
        member: String,
        /// What it must be, and what it is.
        rule: String,
    },
    /// The releases do not form a graph that can be walked.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl DocumentError {
    /// The reason that a condition carries when such a document was found in the cluster.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::TooLarge { .. } => Reason::ContentTooLarge,
            _ => Reason::PlanUnreadable,
        }
    }
}

impl Plan {
    /// Makes a plan: computes the digest of the document's content (what it states is replaced) and checks the rest.
    ///
    /// # Errors
    ///
    /// When a bound or the graph does not hold, or the document takes more than [`MAX_PLAN_BYTES`].
    pub fn seal(mut document: PlanDocument) -> Result<Self, DocumentError> {
        document.desired_state_digest = identity::plan_digest(document.engine, &document.releases);
        let bytes = canonical::from_serialize(&document)?.len();
        if bytes > MAX_PLAN_BYTES {
            return Err(DocumentError::TooLarge { bytes });
        }
        let order = check(&document)?;
        Ok(Self { document, order })
    }

    /// Reads a stored plan. Members that this version does not know are ignored: within one schema version only members
    /// that leave the meaning of others alone are added.
    ///
    /// # Errors
    ///
    /// When it is too large, no plan document of [`SCHEMA_VERSION`], out of bounds, or its digest is not its content's.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(rename = "schemaVersion")]
            schema_version: serde_json::Value,
        }
        if text.len() > MAX_PLAN_BYTES {
            return Err(DocumentError::TooLarge { bytes: text.len() });
        }
        // First, because a document of another version may differ in everything else.
        let version = serde_json::from_str::<Versioned>(text)?.schema_version;
        if version != SCHEMA_VERSION {
            return Err(DocumentError::Version { found: version.to_string() });
        }
        let document: PlanDocument = serde_json::from_str(text)?;
        let order = check(&document)?;
        let stated = document.desired_state_digest;
        let computed = identity::plan_digest(document.engine, &document.releases);
        if stated != computed {
            return Err(DocumentError::Digest { stated, computed });
        }
        Ok(Self { document, order })
    }

    /// The document's canonical JSON.
    ///
    /// # Errors
    ///
    /// None that a plan can cause; serialization of a document is fallible by its type.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        canonical::from_serialize(&self.document)
    }

    /// The document, to make another plan from.
    pub fn into_document(self) -> PlanDocument {
        self.document
    }

    /// The plan's identity.
    pub const fn digest(&self) -> Digest {
        self.document.desired_state_digest
    }

    /// Refuses a plan of another runtime.
    ///
    /// # Errors
    ///
    /// `PlanOfAnotherRuntime` when the plan records another UID.
    pub fn belongs_to(&self, runtime_uid: &str) -> Result<(), Refused> {
        if self.document.runtime_uid == runtime_uid {
            return Ok(());
        }
        let message = format!(
            "plan {} belongs to the runtime {}, not to {runtime_uid}: it is never rolled out here",
            self.digest(),
            self.document.runtime_uid
        );
        Err(Refused { reason: Reason::PlanOfAnotherRuntime, message })
    }

    /// The plan's recipe, where one is needed: for deployment validation and to reproduce the bundle.
    ///
    /// # Errors
    ///
    /// `PlanWithoutRecipe` for a plan that was rebuilt from Applications.
    pub fn required_recipe(&self) -> Result<&Recipe, Refused> {
        self.document.recipe.as_ref().ok_or_else(|| Refused {
            reason: Reason::PlanWithoutRecipe,
            message: format!("plan {} was rebuilt from Applications and holds no recipe", self.digest()),
        })
    }

    /// The release of this ID.
    pub fn release(&self, id: &str) -> Option<&Release> {
        self.document.releases.iter().find(|release| release.id == id)
    }

    /// The releases in the order in which they are rolled out: dependencies first, ties as in the document.
    pub fn ordered(&self) -> Vec<&Release> {
        self.order.iter().map(|at| &self.document.releases[*at]).collect()
    }
}

impl Deref for Plan {
    type Target = PlanDocument;

    fn deref(&self) -> &PlanDocument {
        &self.document
    }
}

/// Warnings as a plan keeps them: each cut to [`MAX_WARNING`] characters, the list to [`MAX_WARNINGS`] entries, of which
/// the last then tells how many are missing.
pub fn bounded(warnings: &[String]) -> Vec<String> {
    let cut = |text: &String| match text.char_indices().nth(MAX_WARNING) {
        None => text.clone(),
        Some(_) => text.chars().take(MAX_WARNING - 1).chain(['…']).collect(),
    };
    if warnings.len() <= MAX_WARNINGS {
        return warnings.iter().map(cut).collect();
    }
    let kept = MAX_WARNINGS - 1;
    let rest = format!("{} further warnings are not kept", warnings.len() - kept);
    warnings[..kept].iter().map(cut).chain([rest]).collect()
}

/// Checks everything but the digest; the answer is the order of rollout.
fn check(document: &PlanDocument) -> Result<Vec<usize>, DocumentError> {
    let fail = |member: &str, rule: String| Err(DocumentError::Bound { member: member.to_owned(), rule });
    if document.schema_version != SCHEMA_VERSION {
        return Err(DocumentError::Version { found: document.schema_version.to_string() });
    }
    if document.runtime_uid.is_empty() {
        return fail("runtimeUID", "is empty: a plan belongs to one runtime".to_owned());
    }
    let releases = document.releases.len();
    if releases > MAX_RELEASES {
        return fail("releases", format!("holds {releases} entries: at most {MAX_RELEASES} are allowed"));
    }
    for release in &document.releases {
        check_release(release)?;
    }
    if let Some(recipe) = &document.recipe
        && (recipe.warnings.len() > MAX_WARNINGS
            || recipe.warnings.iter().any(|warning| warning.chars().nth(MAX_WARNING).is_some()))
    {
        let rule = format!("exceeds {MAX_WARNINGS} entries of {MAX_WARNING} characters");
        return fail("recipe.warnings", rule);
    }
    Ok(graph::order(&document.releases)?)
}

fn check_release(release: &Release) -> Result<(), DocumentError> {
    let id = &release.id;
    let fail = |member: &str, rule: String| {
        Err(DocumentError::Bound { member: format!("release {id:?}: {member}"), rule })
    };
    let length = id.chars().count();
    if length > MAX_RELEASE_ID {
        return fail("id", format!("has {length} characters: Helm allows at most {MAX_RELEASE_ID}"));
    }
    if !is_label(id) {
        return fail("id", "must be lower-case letters, digits and inner hyphens".to_owned());
    }
    if !is_label(&release.target_namespace) {
        return fail("targetNamespace", format!("{:?} is no name of a namespace", release.target_namespace));
    }
    let repository = &release.chart.repository;
    if repository.strip_prefix("oci://").is_none_or(str::is_empty) || release.chart.name().is_empty() {
        return fail(
            "chart.repository",
            format!("{repository:?} is not of the form oci://<registry>/<path>"),
        );
    }
    if release.engine_policy.project.is_empty() {
        return fail("enginePolicy.project", "is empty: every Application belongs to a project".to_owned());
    }
    Ok(())
}

/// Whether the text is a DNS-1123 label.
fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
