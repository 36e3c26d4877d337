//! The Job of one run of AICR, and the objects that live and die with it.
//!
//! Source: design section 3; api-reference "Engine object metadata", "Conventions" (what the Job owns) and "Retention".
//!
//! The Job is created suspended, then what it owns, then it is resumed: killed in between, the next pass goes on. There is
//! no shell and no second container: outputs leave through the API server, and the digest of a pushed bundle through the
//! termination message. Every pod meets Pod Security `restricted`.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Capabilities, ConfigMap, ConfigMapVolumeSource, Container, EmptyDirVolumeSource, EnvVar, KeyToPath,
    PodSecurityContext, PodSpec, PodTemplateSpec, ResourceRequirements, SeccompProfile, Secret,
    SecretVolumeSource, SecurityContext, Toleration, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use crate::aicr::command::container_args;
use crate::aicr::run::Stage;
use crate::api::keys;
use crate::plan::Digest;

use super::inputs::Run;

/// File that takes a pushed bundle's digest; the pod's termination message is read from it.
pub const IMAGE_REFS: &str = "/run/aicr/image-refs";
/// Folder for what a stage writes beside its output, such as evidence.
pub const WORK: &str = "/work";
/// Seconds that a finished Job is kept while nobody deletes it.
pub const TTL_SECONDS: i32 = 24 * 60 * 60;
/// Seconds that a failed Job of a stalled stage is kept.
pub const STALLED_TTL_SECONDS: i32 = 7 * TTL_SECONDS;

const CONTAINER: &str = "aicr";
const INPUTS: &str = "/inputs";
const CREDENTIALS: &str = "/run/aicr-registry";
const DOCKER_CONFIG: &str = ".dockerconfigjson";
/// The user of images without one; any numeric user but 0 serves a static binary.
const USER: i64 = 65532;

/// What every AICR Job of an installation has in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The image, pinned by digest.
    pub image: String,
    /// `aicr.jobs.nodeSelector`.
    pub node_selector: BTreeMap<String, String>,
    /// `aicr.jobs.tolerations`.
    pub tolerations: Vec<Toleration>,
    /// Requests and limits of the container.
    pub resources: ResourceRequirements,
}

/// One run, to be made into a Job.
#[derive(Clone, Debug)]
pub struct JobRequest<'a> {
    /// Stage, input and attempt.
    pub run: Run,
    /// `inputDigest` of the resolution or, for a rollout's runs, of its plan.
    pub resolution: Digest,
    /// UID of the runtime.
    pub runtime_uid: &'a str,
    /// Namespace of the Job.
    pub namespace: &'a str,
    /// Its ServiceAccount, which writes the output.
    pub service_account: &'a str,
    /// AICR's arguments.
    pub args: &'a [String],
    /// Artifacts that it reads.
    pub inputs: &'a [Input<'a>],
    /// Whether it is given the registry's credentials.
    pub credentials: bool,
}

/// An artifact that a run reads as a file: copied into a ConfigMap that the Job owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<'a> {
    /// What it is, such as `recipe`: a folder's name, and part of the ConfigMap's.
    pub name: &'a str,
    /// Its file's name.
    pub file: &'a str,
    /// Its bytes.
    pub text: &'a str,
}

impl Input<'_> {
    /// Where the run finds it.
    pub fn path(&self) -> String {
        format!("{INPUTS}/{}/{}", self.name, self.file)
    }

    fn config_map(&self, run: Run) -> String {
        format!("{}-{}", run.job(), self.name)
    }
}

/// How long a run of this stage may take, in seconds from its start.
pub const fn deadline_seconds(stage: Stage) -> i64 {
    match stage {
        Stage::Recipe | Stage::UpgradeCheck => 5 * 60,
        Stage::Snapshot | Stage::BaseRender | Stage::Render => 15 * 60,
        Stage::Validate => 2 * 60 * 60,
    }
}

/// The Job, suspended.
pub fn job(request: &JobRequest<'_>, settings: &Settings) -> Job {
    let mut metadata = metadata(request, request.run.job());
    let attempt = request.run.attempt.to_string();
    metadata.annotations.get_or_insert_default().insert(keys::ATTEMPT.to_owned(), attempt);
    let labels = metadata.labels.clone();
    Job {
        metadata,
        spec: Some(JobSpec {
            suspend: Some(true),
            backoff_limit: Some(0),
            active_deadline_seconds: Some(deadline_seconds(request.run.stage)),
            ttl_seconds_after_finished: Some(TTL_SECONDS),
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels, ..ObjectMeta::default() }),
                spec: Some(pod(request, settings)),
            },
            ..JobSpec::default()
        }),
        status: None,
    }
}

/// The ConfigMap that takes the run's output; empty, because AICR fills it in.
///
/// Nothing while the API server has not given the Job its name and UID.
pub fn output(request: &JobRequest<'_>, job: &Job) -> Option<ConfigMap> {
    let metadata = owned(request, request.run.job(), job)?;
    Some(ConfigMap { metadata, ..ConfigMap::default() })
}

/// The copies of the run's inputs.
///
/// Nothing while the API server has not given the Job its name and UID.
pub fn inputs(request: &JobRequest<'_>, job: &Job) -> Option<Vec<ConfigMap>> {
    let copy = |input: &Input<'_>| {
        Some(ConfigMap {
            metadata: owned(request, input.config_map(request.run), job)?,
            data: Some([(input.file.to_owned(), input.text.to_owned())].into()),
            immutable: Some(true),
            ..ConfigMap::default()
        })
    };
    request.inputs.iter().map(copy).collect()
}

/// The registry's credentials, a Docker configuration as JSON.
///
/// Nothing while the API server has not given the Job its name and UID.
pub fn credentials(request: &JobRequest<'_>, job: &Job, docker_config: &str) -> Option<Secret> {
    Some(Secret {
        metadata: owned(request, request.run.job(), job)?,
        type_: Some("kubernetes.io/dockerconfigjson".to_owned()),
        string_data: Some([(DOCKER_CONFIG.to_owned(), docker_config.to_owned())].into()),
        ..Secret::default()
    })
}

fn metadata(request: &JobRequest<'_>, name: String) -> ObjectMeta {
    let labels = [
        (keys::MANAGED_BY, keys::MANAGER.to_owned()),
        (keys::RUNTIME, keys::SINGLETON.to_owned()),
        (keys::RUN_ID, request.run.id()),
        (keys::STAGE, request.run.stage.to_string()),
        (keys::INPUT, request.resolution.short()),
    ];
    ObjectMeta {
        name: Some(name),
        namespace: Some(request.namespace.to_owned()),
        labels: Some(labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        annotations: Some([(keys::RUNTIME_UID.to_owned(), request.runtime_uid.to_owned())].into()),
        ..ObjectMeta::default()
    }
}

/// Metadata of an object that goes with the Job.
fn owned(request: &JobRequest<'_>, name: String, job: &Job) -> Option<ObjectMeta> {
    let owner = OwnerReference {
        api_version: "batch/v1".to_owned(),
        kind: "Job".to_owned(),
        name: job.metadata.name.clone()?,
        uid: job.metadata.uid.clone()?,
        ..OwnerReference::default()
    };
    Some(ObjectMeta { owner_references: Some(vec![owner]), ..metadata(request, name) })
}

fn pod(request: &JobRequest<'_>, settings: &Settings) -> PodSpec {
    let (mut volumes, mut mounts) = (Vec::new(), Vec::new());
    for (name, path) in [("tmp", "/tmp"), ("work", WORK), ("run", "/run/aicr")] {
        volumes.push(Volume {
            name: name.to_owned(),
            empty_dir: Some(EmptyDirVolumeSource::default()),
            ..Volume::default()
        });
        mounts.push(mount(name, path, false));
    }
    for input in request.inputs {
        let name = format!("input-{}", input.name);
        let source =
            ConfigMapVolumeSource { name: input.config_map(request.run), ..ConfigMapVolumeSource::default() };
        mounts.push(mount(&name, &format!("{INPUTS}/{}", input.name), true));
        volumes.push(Volume { name, config_map: Some(source), ..Volume::default() });
    }
    let mut env = vec![variable("HOME", "/tmp"), variable("TMPDIR", "/tmp")];
    if request.credentials {
        let items =
            vec![KeyToPath { key: DOCKER_CONFIG.to_owned(), path: "config.json".to_owned(), mode: None }];
        let source = SecretVolumeSource {
            secret_name: Some(request.run.job()),
            items: Some(items),
            ..SecretVolumeSource::default()
        };
        volumes.push(Volume { name: "registry".to_owned(), secret: Some(source), ..Volume::default() });
        mounts.push(mount("registry", CREDENTIALS, true));
        env.push(variable("DOCKER_CONFIG", CREDENTIALS));
    }
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        service_account_name: Some(request.service_account.to_owned()),
        node_selector: (!settings.node_selector.is_empty()).then(|| settings.node_selector.clone()),
        tolerations: (!settings.tolerations.is_empty()).then(|| settings.tolerations.clone()),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(USER),
            run_as_group: Some(USER),
            // What the kubelet mounts is readable, and empty folders are writable, for this group.
            fs_group: Some(USER),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..PodSecurityContext::default()
        }),
        containers: vec![container(request, settings, env, mounts)],
        volumes: Some(volumes),
        ..PodSpec::default()
    }
}

/// The one container: AICR, without any right that it does not need.
fn container(
    request: &JobRequest<'_>,
    settings: &Settings,
    env: Vec<EnvVar>,
    mounts: Vec<VolumeMount>,
) -> Container {
    Container {
        name: CONTAINER.to_owned(),
        image: Some(settings.image.clone()),
        args: Some(container_args(request.args)),
        env: Some(env),
        resources: Some(settings.resources.clone()),
        volume_mounts: Some(mounts),
        termination_message_path: Some(IMAGE_REFS.to_owned()),
        // Without a pushed digest the message is the end of the log.
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            read_only_root_filesystem: Some(true),
            capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
            ..SecurityContext::default()
        }),
        ..Container::default()
    }
}

fn mount(name: &str, path: &str, read_only: bool) -> VolumeMount {
    VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        read_only: read_only.then_some(true),
        ..VolumeMount::default()
    }
}

fn variable(name: &str, value: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), value: Some(value.to_owned()), ..EnvVar::default() }
}

#[cfg(test)]
mod tests;
