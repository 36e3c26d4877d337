//! Node groups as flags.
//!
//! AICR takes a selector as `key=value` and a toleration as `key=value:effect`, `key:effect` for operator Exists, or `*` for
//! every taint. What these forms do not say is either said in another way or refused, never passed as something else.

use super::{CommandError, refuse};
use crate::aicr::reason::Reason;
use crate::api::{NodeGroup, TaintEffect, Toleration, TolerationOperator};

/// One flag a label, by key.
pub(super) fn selector(flag: &str, nodes: &NodeGroup) -> Vec<String> {
    let pairs = nodes.node_selector.iter();
    pairs.flat_map(|(key, value)| [flag.to_owned(), format!("{key}={value}")]).collect()
}

/// The flags of tolerations, in their order. One without an effect becomes three, one an effect.
pub(super) fn tolerations(flag: &str, tolerations: &[Toleration]) -> Result<Vec<String>, CommandError> {
    let mut flags = Vec::new();
    for (index, toleration) in tolerations.iter().enumerate() {
        let words = words(toleration).map_err(|problem| {
            refuse(Reason::InvalidPlacement, format!("toleration {} for {flag} {problem}", index + 1))
        })?;
        flags.extend(words.into_iter().flat_map(|word| [flag.to_owned(), word]));
    }
    Ok(flags)
}

fn words(toleration: &Toleration) -> Result<Vec<String>, &'static str> {
    let key = toleration.key.as_deref().unwrap_or_default();
    let value = toleration.value.as_deref().unwrap_or_default();
    if key.chars().any(|c| ":=,*".contains(c) || c.is_whitespace() || c.is_control()) {
        return Err("has a key that is no label key");
    }
    let taint = match toleration.operator.unwrap_or(TolerationOperator::Equal) {
        TolerationOperator::Exists if !value.is_empty() => {
            return Err("has operator Exists and a value: remove one of them");
        }
        TolerationOperator::Exists if key.is_empty() && toleration.effect.is_none() => {
            return Ok(vec!["*".to_owned()]);
        }
        TolerationOperator::Exists => key.to_owned(),
        TolerationOperator::Equal if key.is_empty() => {
            return Err("has operator Equal and no key: set the key, or use operator Exists");
        }
        TolerationOperator::Equal if value.is_empty() => {
            return Err(
                "has operator Equal and an empty value, which AICR reads as Exists: use operator Exists, or set the value",
            );
        }
        TolerationOperator::Equal => format!("{key}={value}"),
    };
    let effects = match toleration.effect {
        Some(effect) => vec![effect],
        None => vec![TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule, TaintEffect::NoExecute],
    };
    Ok(effects.into_iter().map(|effect| format!("{taint}:{}", spelled(effect))).collect())
}

const fn spelled(effect: TaintEffect) -> &'static str {
    match effect {
        TaintEffect::NoSchedule => "NoSchedule",
        TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        TaintEffect::NoExecute => "NoExecute",
    }
}
