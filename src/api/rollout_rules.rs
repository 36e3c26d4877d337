//! The CEL rules of `RuntimeRollout`, each with the message that a person reads. Source: api-reference, "CRD validation
//! rules". Immutability sits on `spec`, which always exists, so `oldSelf` is always available; an optional field is
//! compared with `has` on both sides, since a rule on the field itself would not see it being unset.

/// Rules on `spec`.
pub(super) const SPEC_RULES: &[(&str, &str)] = &[
    (
        "self.fromPlanDigest != '' || self.toPlanDigest != ''",
        "fromPlanDigest is empty only for an initial install and toPlanDigest only for a removal of the runtime; they cannot both be empty",
    ),
    (
        "self.approvalRequired || self.steps.all(step, !has(step.postApplySteps) || size(step.postApplySteps) == 0)",
        "a rollout with postApplySteps requires an approval: they are acknowledged on it",
    ),
    ("duration(self.actionTimeout) > duration('0s')", "actionTimeout must be a duration above zero"),
    ("self.schemaVersion == oldSelf.schemaVersion", "spec.schemaVersion is immutable"),
    ("self.runtimeUID == oldSelf.runtimeUID", "spec.runtimeUID is immutable"),
    ("self.fromPlanDigest == oldSelf.fromPlanDigest", "spec.fromPlanDigest is immutable"),
    ("self.toPlanDigest == oldSelf.toPlanDigest", "spec.toPlanDigest is immutable"),
    (
        "self.startingInventoryDigest == oldSelf.startingInventoryDigest",
        "spec.startingInventoryDigest is immutable",
    ),
    (
        "has(self.startingInventory) == has(oldSelf.startingInventory) && (!has(self.startingInventory) || self.startingInventory == oldSelf.startingInventory)",
        "spec.startingInventory is immutable",
    ),
    (
        "has(self.assessmentRef) == has(oldSelf.assessmentRef) && (!has(self.assessmentRef) || self.assessmentRef == oldSelf.assessmentRef)",
        "spec.assessmentRef is immutable",
    ),
    ("self.deadline == oldSelf.deadline", "spec.deadline is immutable"),
    ("self.actionTimeout == oldSelf.actionTimeout", "spec.actionTimeout is immutable"),
    ("self.approvalRequired == oldSelf.approvalRequired", "spec.approvalRequired is immutable"),
    ("self.steps == oldSelf.steps", "spec.steps is immutable"),
    ("!has(oldSelf.approval) || has(self.approval)", "spec.approval is set once and cannot be cleared"),
    (
        "!has(oldSelf.approval) || !has(self.approval) || (self.approval.approvedBy == oldSelf.approval.approvedBy && self.approval.expiresAt == oldSelf.approval.expiresAt && self.approval.reason == oldSelf.approval.reason)",
        "spec.approval.approvedBy, expiresAt and reason are set together and once: an approval can be neither changed nor extended",
    ),
    (
        "!has(oldSelf.approval) || !has(self.approval) || !has(oldSelf.approval.revokedBy) || oldSelf.approval.revokedBy == '' || (has(self.approval.revokedBy) && self.approval.revokedBy == oldSelf.approval.revokedBy && self.approval.revokedAt == oldSelf.approval.revokedAt && self.approval.revokeReason == oldSelf.approval.revokeReason)",
        "spec.approval.revokedBy, revokedAt and revokeReason are set together and once: a revocation is final",
    ),
    (
        "!has(self.approval) || has(oldSelf.approval) || !has(self.approval.revokedBy) || self.approval.revokedBy == ''",
        "spec.approval.revokedBy is set only after approvedBy: a rollout cannot be approved and revoked in one request",
    ),
    (
        "!has(oldSelf.approval) || !has(self.approval) || !has(oldSelf.approval.acknowledgements) || (has(self.approval.acknowledgements) && oldSelf.approval.acknowledgements.all(given, self.approval.acknowledgements.exists(kept, kept.release == given.release)))",
        "spec.approval.acknowledgements are append-only: one that is given cannot be removed",
    ),
    (
        "!has(self.approval) || has(oldSelf.approval) || !has(self.approval.acknowledgements) || size(self.approval.acknowledgements) == 0",
        "spec.approval.acknowledgements need an existing approval",
    ),
];

/// Rules on `spec.approval`.
pub(super) const APPROVAL_RULES: &[(&str, &str)] = &[(
    "(has(self.revokedBy) && self.revokedBy != '') == (has(self.revokedAt) && self.revokedAt != '') && (has(self.revokedBy) && self.revokedBy != '') == (has(self.revokeReason) && self.revokeReason != '')",
    "revokedBy, revokedAt and revokeReason are set together",
)];

/// Rules on each step.
pub(super) const STEP_RULES: &[(&str, &str)] =
    &[("(self.operation == 'Remove') == has(self.uid)", "uid is set exactly on Remove steps")];

/// Rules on each acknowledgement. The list is a map keyed by release, so that `oldSelf` is the same release's.
pub(super) const ACKNOWLEDGEMENT_RULES: &[(&str, &str)] = &[(
    "self.acknowledgedBy == oldSelf.acknowledgedBy && self.acknowledgedAt == oldSelf.acknowledgedAt",
    "spec.approval.acknowledgements are append-only: one that is given cannot be changed",
)];
