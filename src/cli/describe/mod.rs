//! `kubectl aicr describe ROLLOUT`: what an approver decides on.
//!
//! Two calls at most: the rollout, and the assessment report it refers to. Source: kubectl-aicr, "describe".

pub(super) mod assessment;
mod text;
mod view;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;

use super::error::CliError;
use super::printer::Look;
use super::session::Session;
use crate::api::{Code, ContentReference, RuntimeRollout};
use assessment::AssessmentView;
use view::RolloutView;

/// Fetches the rollout and its report, and lays them out.
pub(super) async fn run(session: &Session<'_>, name: &str) -> Result<String, CliError> {
    let rollout = session.rollout(name).await?;
    let view = viewed(session, &rollout).await?;
    match session.flags.output {
        Some(format) => super::structured(&view, format),
        None => Ok(text::render(&view, session.now(), session.look)),
    }
}

/// What a person is shown before being asked to approve or revoke: all that `describe` prints.
pub(super) async fn summary(
    session: &Session<'_>,
    rollout: &RuntimeRollout,
    look: Look,
) -> Result<String, CliError> {
    Ok(text::render(&viewed(session, rollout).await?, session.now(), look))
}

async fn viewed(session: &Session<'_>, rollout: &RuntimeRollout) -> Result<RolloutView, CliError> {
    let assessment = match &rollout.spec.assessment_ref {
        Some(reference) => fetch(session, reference).await?,
        None => AssessmentView::None,
    };
    Ok(view::view(rollout, assessment, session.now()))
}

/// A report that is missing or may not be read is part of the answer; any other failure is the command's.
async fn fetch(session: &Session<'_>, reference: &ContentReference) -> Result<AssessmentView, CliError> {
    let namespace = &session.flags.operator_namespace;
    let maps: Api<ConfigMap> = Api::namespaced(session.connection.client(), namespace);
    match session.connection.call(maps.get(&reference.config_map)).await {
        Ok(config_map) => Ok(assessment::judge(reference, &config_map)),
        Err(error) if error.code == Code::NotFound => {
            let problem =
                format!("it is missing from namespace {namespace}; --operator-namespace names another one");
            Ok(AssessmentView::unusable(reference, problem))
        }
        Err(error) if error.code == Code::Unauthorized && error.status == Some(403) => {
            Ok(AssessmentView::unusable(reference, error.message))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
