//! How a run of AICR ended, what that means, and when it is tried again.
//!
//! Source: design section 3 (retry classes and their numbers); aicr-cli section 6 (exit codes); day-2 "Runtime conditions"
//! (`aicr render exited 3: …`). A report file, where a stage writes one, outranks the exit code: read it first.

use std::fmt;
use std::time::Duration;

use super::reason::Reason;

/// The most characters that a condition's message holds.
pub const MAX_MESSAGE: usize = 1024;
/// Attempts of a bounded class, the first one included.
pub const BOUNDED_ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// What AICR is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Observe the cluster.
    Snapshot,
    /// Choose the components.
    Recipe,
    /// Render without overrides, to see which paths exist.
    BaseRender,
    /// Render the bundle.
    Render,
    /// Assess a transition between two recipes.
    UpgradeCheck,
    /// Validate the deployment.
    Validate,
}

impl Stage {
    /// Every stage, in the order of their first runs.
    pub const ALL: [Self; 6] =
        [Self::Snapshot, Self::Recipe, Self::BaseRender, Self::Render, Self::UpgradeCheck, Self::Validate];

    /// The stage in one word, as labels, metrics and messages carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Recipe => "recipe",
            Self::BaseRender => "base-render",
            Self::Render => "render",
            Self::UpgradeCheck => "upgrade-check",
            Self::Validate => "validate",
        }
    }

    /// The stage of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == text)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether and when a failed run is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RetryClass {
    /// Not before an input changes.
    Never,
    /// A few times.
    Bounded,
    /// For as long as it takes.
    Transient,
    /// Seldom, and reported at once.
    Authorization,
}

impl RetryClass {
    /// Every class.
    pub const ALL: [Self; 4] = [Self::Never, Self::Bounded, Self::Transient, Self::Authorization];

    /// The class in one word, as metrics, Events and the attempts document carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Bounded => "bounded",
            Self::Transient => "transient",
            Self::Authorization => "authorization",
        }
    }

    /// The class of this name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == text)
    }

    /// How long to wait after attempt number `attempt` (from 1) failed; nothing when there is no further attempt.
    pub fn wait_after(self, attempt: u32) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::Bounded if attempt >= BOUNDED_ATTEMPTS => None,
            Self::Bounded | Self::Transient => {
                let doublings = attempt.saturating_sub(1).min(16);
                Some(FIRST_WAIT.saturating_mul(1 << doublings).min(LONGEST_WAIT))
            }
            Self::Authorization => Some(LONGEST_WAIT),
        }
    }
}

/// How a run that gave no usable output ended, as its Job, pod and outputs show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The container exited with this code, other than 0.
    Exited(i32),
    /// The kernel killed it for its memory.
    OutOfMemory,
    /// It ran longer than the stage's deadline.
    DeadlineExceeded,
    /// The node evicted it.
    Evicted,
    /// Its image cannot be pulled.
    ImagePull,
    /// No node takes it.
    Unschedulable,
    /// Its pod or node is gone without an exit code.
    PodLost,
    /// Somebody deleted its Job.
    JobDeleted,
    /// It exited with 0 and left no output.
    OutputMissing,
    /// Its output does not fit where it belongs.
    OutputTooLarge,
    /// Its output cannot be read.
    OutputUnreadable,
}

/// What an ending means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When to try again.
    pub class: RetryClass,
    /// The reason once there is no further attempt; a transient failure has none of its own, it stays `Resolving`.
    pub reason: Option<Reason>,
}

impl Ending {
    /// What it means. The end of standard error is looked at for one thing only: an API server's word that the output is
    /// too large, which AICR passes on as an internal error.
    pub fn failure(&self, stderr: &str) -> Failure {
        use RetryClass::{Authorization, Bounded, Never, Transient};
        let (class, reason) = match self {
            Self::Exited(1 | 8) if says_too_large(stderr) => (Never, Some(Reason::ContentTooLarge)),
            Self::Exited(2) => (Never, Some(Reason::InvalidRequest)),
            Self::Exited(3) => (Never, Some(Reason::NotFound)),
            Self::Exited(4) => (Authorization, Some(Reason::Unauthorized)),
            Self::Exited(5) | Self::DeadlineExceeded => (Bounded, Some(Reason::Timeout)),
            Self::Exited(6 | 7 | 9 | 143)
            | Self::Evicted
            | Self::ImagePull
            | Self::Unschedulable
            | Self::JobDeleted => (Transient, None),
            // 1 and 8, and codes that are not documented, such as 137 without word of memory.
            Self::Exited(_) | Self::OutOfMemory | Self::PodLost | Self::OutputMissing => {
                (Bounded, Some(Reason::Internal))
            }
            Self::OutputTooLarge => (Never, Some(Reason::ContentTooLarge)),
            Self::OutputUnreadable => (Never, Some(Reason::ArtifactUnsupported)),
        };
        Failure { class, reason }
    }

    /// The failure in words: which stage ended how, and the end of `detail` (standard error, or what is wrong with the
    /// output), together at most `limit` characters. Line ends and control characters become spaces.
    pub fn message(&self, stage: Stage, detail: &str, limit: usize) -> String {
        let ended = match self {
            Self::Exited(code) => format!("exited {code}"),
            Self::OutOfMemory => "was killed for its memory use".to_owned(),
            Self::DeadlineExceeded => "ran longer than its deadline".to_owned(),
            Self::Evicted => "was evicted".to_owned(),
            Self::ImagePull => "has an image that cannot be pulled".to_owned(),
            Self::Unschedulable => "cannot be scheduled".to_owned(),
            Self::PodLost => "lost its pod".to_owned(),
            Self::JobDeleted => "lost its Job".to_owned(),
            Self::OutputMissing => "left no output".to_owned(),
            Self::OutputTooLarge => "left an output that is too large".to_owned(),
            Self::OutputUnreadable => "left an output that cannot be read".to_owned(),
        };
        let head = format!("aicr {stage} {ended}");
        let detail = one_line(detail);
        if detail.is_empty() {
            return head;
        }
        let room = limit.saturating_sub(head.chars().count() + 2);
        format!("{head}: {}", end_of(&detail, room))
    }
}

fn says_too_large(stderr: &str) -> bool {
    // The API server's bounds on a ConfigMap and on a request, and etcd's.
    stderr.contains("Too long: ")
        || stderr.contains("Request entity too large")
        || stderr.contains("etcdserver: request is too large")
}

/// The text with every run of white space and control characters made one space.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The last `room` characters, an ellipsis first when something was left out.
fn end_of(text: &str, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let Some(keep) = room.checked_sub(1) else { return String::new() };
    std::iter::once('…').chain(text.chars().skip(length - keep)).collect()
}

/// AICR's notes and warnings on standard error: every line that is not one of its log lines, which begin with `[cli]`.
pub fn notes(stderr: &str) -> Vec<String> {
    let lines = stderr.lines().map(one_line);
    lines.filter(|line| !line.is_empty() && !line.starts_with("[cli]")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_ending_has_its_class_and_its_reason() {
        use Reason::{
            ArtifactUnsupported, ContentTooLarge, Internal, InvalidRequest, NotFound, Timeout, Unauthorized,
        };
        use RetryClass::{Authorization, Bounded, Never, Transient};
        for (ending, class, reason) in [
            (Ending::Exited(1), Bounded, Some(Internal)),
            (Ending::Exited(2), Never, Some(InvalidRequest)),
            (Ending::Exited(3), Never, Some(NotFound)),
            (Ending::Exited(4), Authorization, Some(Unauthorized)),
            (Ending::Exited(5), Bounded, Some(Timeout)),
            (Ending::Exited(6), Transient, None),
            (Ending::Exited(7), Transient, None),
            (Ending::Exited(8), Bounded, Some(Internal)),
            (Ending::Exited(9), Transient, None),
            (Ending::Exited(137), Bounded, Some(Internal)),
            (Ending::Exited(143), Transient, None),
            (Ending::Exited(-1), Bounded, Some(Internal)),
            (Ending::OutOfMemory, Bounded, Some(Internal)),
            (Ending::DeadlineExceeded, Bounded, Some(Timeout)),
            (Ending::Evicted, Transient, None),
            (Ending::ImagePull, Transient, None),
            (Ending::Unschedulable, Transient, None),
            (Ending::PodLost, Bounded, Some(Internal)),
            (Ending::JobDeleted, Transient, None),
            (Ending::OutputMissing, Bounded, Some(Internal)),
            (Ending::OutputTooLarge, Never, Some(ContentTooLarge)),
            (Ending::OutputUnreadable, Never, Some(ArtifactUnsupported)),
        ] {
            assert_eq!(ending.failure("[INTERNAL] boom"), Failure { class, reason }, "{ending:?}");
        }
    }

    #[test]
    fn an_output_that_the_api_server_finds_too_large_is_no_internal_error() {
        let stderr = "error=[INTERNAL] failed to write: ConfigMap \"x\" is invalid: []: Too long: may not be more than 1048576 bytes";
        let failure = Ending::Exited(8).failure(stderr);
        assert_eq!(failure, Failure { class: RetryClass::Never, reason: Some(Reason::ContentTooLarge) });
        assert_eq!(Ending::Exited(2).failure(stderr).reason, Some(Reason::InvalidRequest));
    }

    #[test]
    fn waits_double_from_30_s_to_10_min_and_bounded_classes_end_after_five_attempts() {
        let waits = |class: RetryClass| {
            let seconds = |attempt| class.wait_after(attempt).map(|wait| wait.as_secs());
            (1..8).map(seconds).collect::<Vec<_>>()
        };
        let all = [30, 60, 120, 240, 480, 600, 600];
        assert_eq!(waits(RetryClass::Transient), all.map(Some));
        assert_eq!(waits(RetryClass::Bounded)[..4], all.map(Some)[..4]);
        assert_eq!(waits(RetryClass::Bounded)[4..], [None; 3]);
        assert_eq!(waits(RetryClass::Never), [None; 7]);
        assert_eq!(waits(RetryClass::Authorization), [Some(600); 7]);
        assert_eq!(RetryClass::Transient.wait_after(u32::MAX), Some(LONGEST_WAIT));
        assert_eq!(RetryClass::Transient.wait_after(0), Some(FIRST_WAIT));
    }

    #[test]
    fn a_message_names_stage_and_exit_code_and_ends_with_the_end_of_standard_error() {
        let stderr =
            "[cli] rendering\n[cli] command failed: error=[NOT_FOUND] recipe file not found exitCode=3\n";
        assert_eq!(
            Ending::Exited(3).message(Stage::Render, stderr, MAX_MESSAGE),
            "aicr render exited 3: [cli] rendering [cli] command failed: error=[NOT_FOUND] recipe file not found exitCode=3"
        );
        assert_eq!(
            Ending::OutOfMemory.message(Stage::BaseRender, "\n", 80),
            "aicr base-render was killed for its memory use"
        );
        assert_eq!(
            Ending::Exited(2).message(Stage::Recipe, &"ä".repeat(99), 30),
            format!("aicr recipe exited 2: …{}", "ä".repeat(7))
        );
    }

    #[test]
    fn names_of_stages_and_classes_read_back() {
        for stage in Stage::ALL {
            assert_eq!(Stage::parse(stage.as_str()), Some(stage));
        }
        for class in RetryClass::ALL {
            assert_eq!(RetryClass::parse(class.as_str()), Some(class));
        }
        assert_eq!((Stage::parse(""), RetryClass::parse("Never")), (None, None));
    }

    #[test]
    fn notes_are_the_lines_that_are_no_log_lines() {
        let stderr = "[cli] rendering: recipe=r\n\nNotes:\n  - no storage class\tis set\n[cli] done\n";
        assert_eq!(notes(stderr), ["Notes:", "- no storage class is set"]);
    }

    proptest! {
        #[test]
        fn a_message_never_exceeds_its_limit_and_is_one_line(code in any::<i32>(), stderr in "\\PC{0,300}|[\\x00-\\x7f]{0,300}|.{0,60}", limit in 60_usize..200) {
            let message = Ending::Exited(code).message(Stage::UpgradeCheck, &stderr, limit);
            prop_assert!(message.chars().count() <= limit);
            prop_assert!(!message.chars().any(char::is_control));
        }
    }
}
