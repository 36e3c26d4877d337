//! What a test tells the stand-in, by a file beside the program or by the environment.

use std::path::Path;

use serde::Deserialize;

use crate::failure::{Outcome, internal};

/// The file beside the program.
pub const FILE: &str = "standin.json";

/// A release of AICR that is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Release {
    /// v1.0.0.
    #[default]
    #[serde(rename = "v1.0.0")]
    V1_0_0,
    /// v1.1.2.
    #[serde(rename = "v1.1.2")]
    V1_1_2,
}

impl Release {
    /// The release of this version, one leading `v` ignored.
    pub fn parse(version: &str) -> Option<Self> {
        match version.strip_prefix('v').unwrap_or(version) {
            "1.0.0" => Some(Self::V1_0_0),
            "1.1.2" => Some(Self::V1_1_2),
            _ => None,
        }
    }

    /// As artifacts state it.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V1_0_0 => "v1.0.0",
            Self::V1_1_2 => "v1.1.2",
        }
    }
}

/// Which components there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Catalogue {
    /// About 18, with public names and edges.
    #[default]
    Standard,
    /// As many releases as a plan may hold.
    Large,
}

/// The form of a pushed bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One layer, a packed tree.
    #[default]
    Tree,
    /// A layer a file.
    Files,
}

/// Everything that a test can set.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Setup {
    /// The release that is played.
    pub version: Release,
    /// The version that artifacts and `--version` state instead of the release's own.
    pub stated_version: Option<String>,
    /// Which components there are.
    pub catalogue: Catalogue,
    /// Chart repository that bundles name.
    pub charts: String,
    /// OCI prefix that bundles name.
    pub oci_charts: String,
    /// Form of a pushed bundle.
    pub form: Form,
    /// Whether a packed tree also holds AICR's own store, as old releases left it there.
    pub store: bool,
    /// Failures, as [`Setup::injected`] reads them.
    pub fail: String,
    /// Deployment checks that fail.
    pub failing_checks: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            version: Release::default(),
            stated_version: None,
            catalogue: Catalogue::default(),
            charts: "https://charts.example.com".to_owned(),
            oci_charts: "oci://registry.example.com/upstream".to_owned(),
            form: Form::default(),
            store: false,
            fail: String::new(),
            failing_checks: Vec::new(),
        }
    }
}

/// What a command does instead of, or after, its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Injected {
    /// Ends with this code before it does anything.
    Exit(i32, String),
    /// Does its work and then ends with this code.
    Late(i32, String),
    /// Ends with 0 and writes nothing.
    Silent,
    /// Writes something that is no artifact.
    Garbage,
    /// Writes more than a ConfigMap holds.
    TooLarge,
    /// Never ends.
    Hang,
}

impl Setup {
    /// Reads the file beside the program, then the environment over it: `AICR_STANDIN_VERSION`, `_CATALOGUE`, `_CHARTS`,
    /// `_OCI_CHARTS` and `_FAIL`. A program called `aicr-<version>` plays that version unless told otherwise.
    ///
    /// # Errors
    ///
    /// When the file or a word is not understood: a test that is set up wrongly must not pass.
    pub fn read(program: &Path, environment: impl Fn(&str) -> Option<String>) -> Outcome<Self> {
        let wrong = |what: String| internal(format!("stand-in: {what}"));
        let file = program.with_file_name(FILE);
        let mut setup = match std::fs::read_to_string(&file) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| wrong(format!("{}: {error}", file.display())))?
            }
            Err(_) => Self::default(),
        };
        let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let named = name.strip_prefix("aicr-").map(str::to_owned);
        if let Some(version) = environment("AICR_STANDIN_VERSION").or(named) {
            setup.version =
                Release::parse(&version).ok_or_else(|| wrong(format!("there is no version {version:?}")))?;
        }
        if let Some(word) = environment("AICR_STANDIN_CATALOGUE") {
            let word = serde_json::Value::String(word);
            setup.catalogue = serde_json::from_value(word).map_err(|error| wrong(error.to_string()))?;
        }
        for (variable, place) in [
            ("AICR_STANDIN_CHARTS", &mut setup.charts),
            ("AICR_STANDIN_OCI_CHARTS", &mut setup.oci_charts),
            ("AICR_STANDIN_FAIL", &mut setup.fail),
        ] {
            if let Some(value) = environment(variable) {
                *place = value;
            }
        }
        setup.injected("")?;
        Ok(setup)
    }

    /// The version that artifacts state.
    pub fn stated(&self) -> &str {
        self.stated_version.as_deref().unwrap_or(self.version.version())
    }

    /// What `fail` says of a command: entries `command=what`, separated by `;`, where `what` is an exit code, `late:CODE`,
    /// `silent`, `garbage`, `too-large` or `hang`; a code may be followed by `:` and a message.
    ///
    /// # Errors
    ///
    /// When an entry is not understood.
    pub fn injected(&self, command: &str) -> Outcome<Option<Injected>> {
        let mut found = None;
        for entry in self.fail.split(';').filter(|entry| !entry.is_empty()) {
            let wrong = || internal(format!("stand-in: {entry:?} is no failure"));
            let (name, what) = entry.split_once('=').ok_or_else(wrong)?;
            let injected = match what {
                "silent" => Injected::Silent,
                "garbage" => Injected::Garbage,
                "too-large" => Injected::TooLarge,
                "hang" => Injected::Hang,
                text => match text.strip_prefix("late:").map(code) {
                    Some(late) => {
                        late.map(|(code, message)| Injected::Late(code, message)).ok_or_else(wrong)?
                    }
                    None => {
                        code(text).map(|(code, message)| Injected::Exit(code, message)).ok_or_else(wrong)?
                    }
                },
            };
            if name == command {
                found = Some(injected);
            }
        }
        Ok(found)
    }
}

/// `CODE` or `CODE:message`.
fn code(text: &str) -> Option<(i32, String)> {
    let (code, message) = text.split_once(':').unwrap_or((text, "injected by a test"));
    Some((code.parse().ok()?, message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(text: &str) -> Setup {
        Setup { fail: text.to_owned(), ..Setup::default() }
    }

    #[test]
    fn failures_are_set_by_command() {
        let setup = failing("bundle=3;recipe=8:no such overlay;validate=late:8;snapshot=silent");
        assert_eq!(setup.injected("bundle").unwrap(), Some(Injected::Exit(3, "injected by a test".into())));
        assert_eq!(setup.injected("recipe").unwrap(), Some(Injected::Exit(8, "no such overlay".into())));
        assert_eq!(setup.injected("validate").unwrap(), Some(Injected::Late(8, "injected by a test".into())));
        assert_eq!(setup.injected("snapshot").unwrap(), Some(Injected::Silent));
        assert_eq!(setup.injected("upgrade-check").unwrap(), None);
        for wrong in ["bundle", "bundle=x", "bundle=late:"] {
            assert!(failing(wrong).injected("recipe").is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_program_s_name_and_the_environment_choose_the_version() {
        let read = |program: &str, version: Option<&str>| {
            let version = version.map(str::to_owned);
            Setup::read(Path::new(program), |name| version.clone().filter(|_| name == "AICR_STANDIN_VERSION"))
        };
        assert_eq!(read("/none/aicr", None).unwrap().version, Release::V1_0_0);
        assert_eq!(read("/none/aicr-v1.1.2", None).unwrap().version, Release::V1_1_2);
        assert_eq!(read("/none/aicr-v1.1.2", Some("1.0.0")).unwrap().version, Release::V1_0_0);
        assert!(read("/none/aicr", Some("v2.0.0")).is_err());
    }
}
