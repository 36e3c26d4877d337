//! A component's values: its own, then placement, then overrides, as `aicr bundle` takes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::catalogue::Component;
use crate::failure::{Outcome, invalid};
use crate::flags::Flags;

/// Overrides and placement of one render.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    set: BTreeMap<String, Vec<(String, Value)>>,
    typed: BTreeMap<String, Vec<(String, Value)>>,
    disabled: Vec<String>,
    system: Group,
    accelerated: Group,
}

#[derive(Clone, Debug, Default)]
struct Group {
    selector: Map<String, Value>,
    tolerations: Vec<Value>,
}

impl Changes {
    /// Reads the flags.
    ///
    /// # Errors
    ///
    /// For a word of another form, an override of a component that is not there, and a path together with one below it.
    pub fn read(flags: &Flags, components: &[Component]) -> Outcome<Self> {
        let mut changes = Self::default();
        for word in flags.many("set") {
            let (component, path, value) = split(word)?;
            if path == "enabled" {
                match value {
                    "false" => changes.disabled.push(component.to_owned()),
                    "true" => {}
                    _ => return Err(invalid(format!("{word:?}: enabled takes true or false"))),
                }
            } else {
                add(&mut changes.set, component, path, typed(value));
            }
        }
        for word in flags.many("set-json") {
            let (component, path, value) = split(word)?;
            let value = serde_json::from_str(value)
                .map_err(|error| invalid(format!("--set-json {component}:{path}: {error}")))?;
            add(&mut changes.typed, component, path, value);
        }
        for word in flags.many("set-file") {
            let (component, path, file) = split(word)?;
            let text = std::fs::read_to_string(file)
                .map_err(|error| invalid(format!("--set-file {file}: {error}")))?;
            let value = serde_yaml::from_str(&text)
                .map_err(|error| invalid(format!("--set-file {file}: {error}")))?;
            add(&mut changes.typed, component, path, value);
        }
        changes.check(components)?;
        changes.system = group(flags, "system")?;
        changes.accelerated = group(flags, "accelerated")?;
        Ok(changes)
    }

    fn check(&self, components: &[Component]) -> Outcome<()> {
        let named = self.set.keys().chain(self.typed.keys()).chain(&self.disabled);
        for name in named {
            if !components.iter().any(|component| component.name == *name) {
                return Err(invalid(format!("override for component {name:?}, which is not in the recipe")));
            }
        }
        if let Some((name, _)) =
            self.typed.iter().find(|(_, paths)| paths.iter().any(|(path, _)| path == "enabled"))
        {
            return Err(invalid(format!("--set-json cannot carry {name}:enabled: use --set")));
        }
        for name in self.set.keys().chain(self.typed.keys()) {
            let paths: Vec<&str> = self.paths(name).collect();
            for path in &paths {
                if let Some(below) = paths.iter().find(|other| other.starts_with(&format!("{path}."))) {
                    return Err(invalid(format!(
                        "overrides {name}:{path} and {name}:{below} contradict each other"
                    )));
                }
            }
        }
        Ok(())
    }

    fn paths<'a>(&'a self, component: &str) -> impl Iterator<Item = &'a str> {
        let of = |map: &'a BTreeMap<String, Vec<(String, Value)>>| map.get(component).into_iter().flatten();
        of(&self.set).chain(of(&self.typed)).map(|(path, _)| path.as_str())
    }

    /// Whether a component is left in.
    pub fn keeps(&self, component: &str) -> bool {
        !self.disabled.iter().any(|name| name == component)
    }

    /// Whether a selector for system nodes is given.
    pub fn has_system_selector(&self) -> bool {
        !self.system.selector.is_empty()
    }

    /// The values of a component.
    ///
    /// # Errors
    ///
    /// When an override's path leads through something that is no map.
    pub fn values(&self, component: &Component) -> Outcome<Value> {
        let mut values = component.values.clone();
        for (group, paths) in [(&self.system, component.system), (&self.accelerated, component.accelerated)] {
            if let Some(path) = paths.selector.filter(|_| !group.selector.is_empty()) {
                put(&mut values, path, &Value::Object(group.selector.clone()))?;
            }
            if let Some(path) = paths.tolerations {
                put(&mut values, path, &Value::Array(group.tolerations.clone()))?;
            }
        }
        let empty = Vec::new();
        for (path, value) in self.set.get(&component.name).unwrap_or(&empty) {
            put(&mut values, path, value)?;
        }
        for (path, value) in self.typed.get(&component.name).unwrap_or(&empty) {
            let merged = match (lookup(&values, path), value) {
                (Some(old @ Value::Object(_)), Value::Object(_)) => merged(old.clone(), value),
                (_, Value::Object(_)) => merged(json!({}), value),
                _ => value.clone(),
            };
            put(&mut values, path, &merged)?;
        }
        Ok(values)
    }
}

fn add(map: &mut BTreeMap<String, Vec<(String, Value)>>, component: &str, path: &str, value: Value) {
    let values = map.entry(component.to_owned()).or_default();
    values.retain(|(known, _)| known != path);
    values.push((path.to_owned(), value));
}

fn split(word: &str) -> Outcome<(&str, &str, &str)> {
    let parts = word.split_once('=').and_then(|(target, value)| {
        let (component, path) = target.split_once(':')?;
        Some((component, path, value))
    });
    parts
        .filter(|(component, path, _)| !component.is_empty() && !path.is_empty())
        .ok_or_else(|| invalid(format!("invalid override {word:?}: expected component:path=value")))
}

/// The type that `--set` gives its value.
fn typed(value: &str) -> Value {
    match value {
        "true" => json!(true),
        "false" => json!(false),
        text => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(integer), _) => json!(integer),
            (_, Ok(number)) if number.is_finite() => json!(number),
            _ => json!(text),
        },
    }
}

fn group(flags: &Flags, name: &str) -> Outcome<Group> {
    let mut group = Group::default();
    for word in flags.many(&format!("{name}-node-selector")) {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| invalid(format!("invalid node selector {word:?}: expected key=value")))?;
        group.selector.insert(key.to_owned(), json!(value));
    }
    for word in flags.many(&format!("{name}-node-toleration")) {
        group.tolerations.push(toleration(word)?);
    }
    if group.tolerations.is_empty() {
        group.tolerations.push(json!({"operator": "Exists"}));
    }
    Ok(group)
}

/// A toleration from `key=value:effect`, `key:effect` or `*`.
///
/// # Errors
///
/// When the word has none of these forms.
pub fn toleration(word: &str) -> Outcome<Value> {
    if word == "*" {
        return Ok(json!({"operator": "Exists"}));
    }
    let wrong = || invalid(format!("invalid format {word:?}, expected key=value:effect or key:effect"));
    let (taint, effect) = word.split_once(':').ok_or_else(wrong)?;
    if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
        return Err(wrong());
    }
    let mut toleration = match taint.split_once('=').filter(|(_, value)| !value.is_empty()) {
        Some((key, value)) => json!({"key": key, "operator": "Equal", "value": value}),
        None => json!({"key": taint.trim_end_matches('='), "operator": "Exists"}),
    };
    toleration["effect"] = json!(effect);
    Ok(toleration)
}

fn lookup<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(values, |value, key| value.get(key))
}

fn put(values: &mut Value, path: &str, value: &Value) -> Outcome<()> {
    let mut place = values;
    for key in path.split('.') {
        let members = place.as_object_mut().ok_or_else(|| {
            invalid(format!("path segment before {key:?} of {path:?} exists but is not a map"))
        })?;
        place = members.entry(key).or_insert_with(|| json!({}));
    }
    *place = value.clone();
    Ok(())
}

/// Maps merged key by key; null deletes.
fn merged(mut old: Value, new: &Value) -> Value {
    let (Some(members), Some(changes)) = (old.as_object_mut(), new.as_object()) else { return new.clone() };
    for (key, value) in changes {
        match value {
            Value::Null => {
                members.remove(key);
            }
            Value::Object(_) => {
                let below = members.remove(key).filter(Value::is_object).unwrap_or_else(|| json!({}));
                members.insert(key.clone(), merged(below, value));
            }
            other => {
                members.insert(key.clone(), other.clone());
            }
        }
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Criteria;
    use crate::setup::{Release, Setup};

    fn values(component: &str, line: &str) -> Outcome<Value> {
        let components =
            crate::catalogue::components(&Setup::default(), &Criteria::of(&[("service", "eks")]));
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let changes = Changes::read(&Flags::read("bundle", Release::V1_0_0, &arguments)?, &components)?;
        changes.values(components.iter().find(|entry| entry.name == component).unwrap())
    }

    #[test]
    fn set_types_its_value_and_json_keeps_it_and_wins() {
        let line = "--set gpu-operator:a.b=8080 --set gpu-operator:c=true --set gpu-operator:d=x=y \
                    --set-json gpu-operator:e=\"true\" --set-json gpu-operator:driver={\"enabled\":null,\"v\":[1]}";
        let values = values("gpu-operator", line).unwrap();
        assert_eq!(values["a"]["b"], json!(8080));
        assert_eq!((&values["c"], &values["d"], &values["e"]), (&json!(true), &json!("x=y"), &json!("true")));
        assert_eq!(values["driver"], json!({"v": [1]}));
    }

    #[test]
    fn placement_reaches_the_documented_paths_and_no_toleration_tolerates_all() {
        let line = "--system-node-selector p=s --accelerated-node-toleration nvidia.com/gpu:NoSchedule";
        let values = values("gpu-operator", line).unwrap();
        assert_eq!(values["operator"]["nodeSelector"], json!({"p": "s"}));
        assert_eq!(values["operator"]["tolerations"], json!([{"operator": "Exists"}]));
        let gpu = json!([{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]);
        assert_eq!(values["daemonsets"]["tolerations"], gpu);
    }

    #[test]
    fn what_the_real_one_refuses_is_refused() {
        for line in [
            "--set kueue:x=1",
            "--set gpu-operator",
            "--set gpu-operator:=1",
            "--set gpu-operator:a=1 --set gpu-operator:a.b=2",
            "--set-json gpu-operator:enabled=false",
            "--set-json gpu-operator:a={",
            "--set gpu-operator:driver.enabled.deep=1",
            "--system-node-toleration x",
            "--system-node-toleration x:Never",
        ] {
            assert_eq!(values("gpu-operator", line).unwrap_err().exit(), 2, "{line}");
        }
    }
}
