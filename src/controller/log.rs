//! Logs: one line an event, JSON or text, with what it is about as fields of the line itself.
//!
//! A [`Subject`] becomes a span; each line written inside it carries its fields, so that one can select by rollout or
//! run without knowing the program.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Span, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use super::config::LogFormat;

/// What is being worked on. What does not apply is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Name of the ClusterRuntime.
    pub runtime: &'a str,
    /// Name of the RuntimeRollout.
    pub rollout: &'a str,
    /// Release ID.
    pub release: &'a str,
    /// Stage of an AICR run.
    pub stage: &'a str,
    /// ID of an AICR run.
    pub run: &'a str,
}

impl Subject<'_> {
    /// A span whose lines carry the subject.
    pub fn span(&self) -> Span {
        let Self { runtime, rollout, release, stage, run } = *self;
        tracing::error_span!("subject", runtime, rollout, release, stage, run)
    }
}

/// Sends everything that is logged from now on to standard error. Other programs' code is heard from warnings up.
pub(super) fn start(format: LogFormat, level: Level, now: fn() -> Timestamp) {
    let lines = Lines { format, level, now, out: Mutex::new(std::io::stderr()) };
    // Fails only when one is set already, which then goes on.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines));
}

/// Writes each event as a line.
struct Lines<W> {
    format: LogFormat,
    level: Level,
    now: fn() -> Timestamp,
    out: Mutex<W>,
}

/// The fields of a span, kept with it.
#[derive(Default)]
struct Fields(BTreeMap<&'static str, Value>);

impl Fields {
    fn set(&mut self, field: &Field, value: Value) {
        let empty = value.as_str().is_some_and(str::is_empty);
        if !empty {
            self.0.insert(field.name(), value);
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }
}

impl<S, W> Layer<S> for Lines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + 'static,
{
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        let own = metadata.target().starts_with("kubectl_aicr");
        let most = if own { self.level } else { self.level.min(Level::WARN) };
        *metadata.level() <= most
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        let spans =
            context.event_scope(event).into_iter().flat_map(tracing_subscriber::registry::Scope::from_root);
        for span in spans {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                fields.0.extend(of_span.0.iter().map(|(name, value)| (*name, value.clone())));
            }
        }
        event.record(&mut fields);
        let metadata = event.metadata();
        let line = match self.format {
            LogFormat::Json => json((self.now)(), metadata, fields),
            LogFormat::Text => text((self.now)(), metadata, fields),
        };
        // Nobody can be told that standard error is closed.
        let _ = self.out.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

fn json(now: Timestamp, metadata: &Metadata<'_>, mut fields: Fields) -> String {
    let message = fields.0.remove("message").unwrap_or_default();
    let mut line = Map::from_iter([
        ("time".to_owned(), now.to_string().into()),
        ("level".to_owned(), metadata.level().as_str().to_lowercase().into()),
        ("message".to_owned(), message),
        ("target".to_owned(), metadata.target().into()),
    ]);
    for (name, value) in fields.0 {
        // A field cannot hide what every line has.
        line.entry(name).or_insert(value);
    }
    format!("{}\n", Value::Object(line))
}

fn text(now: Timestamp, metadata: &Metadata<'_>, mut fields: Fields) -> String {
    let message = fields.0.remove("message").unwrap_or_default();
    let message = message.as_str().unwrap_or_default();
    let mut line = format!("{now} {:5} {}", metadata.level(), one_line(message));
    for (name, value) in fields.0 {
        let value = match &value {
            Value::String(text) if !text.contains([' ', '"', '=', '\n']) => text.clone(),
            value => value.to_string(),
        };
        let _ = write!(line, " {name}={}", one_line(&value));
    }
    line.push('\n');
    line
}

/// Control characters escaped: a line stays one, and no input can move the cursor.
fn one_line(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing::Level;
    use tracing_subscriber::layer::SubscriberExt;

    use super::{Lines, LogFormat, Subject};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, level: Level, work: impl FnOnce()) -> String {
        let memory = Memory::default();
        let now = || jiff::Timestamp::UNIX_EPOCH;
        let lines = Lines { format, level, now, out: Mutex::new(memory.clone()) };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), work);
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn work() {
        let subject = Subject { runtime: "cluster", stage: "render", run: "7", ..Subject::default() };
        subject.span().in_scope(|| tracing::info!(attempt = 2, "ran\nwell"));
        Subject { rollout: "r-1", release: "gpu-operator", ..subject }
            .span()
            .in_scope(|| tracing::warn!(time = "never", "it \"said\" {}", "so"));
    }

    #[test]
    fn a_json_line_carries_its_subject_as_fields_that_cannot_hide_its_own() {
        insta::assert_snapshot!(logged(LogFormat::Json, Level::INFO, work), @r#"
        {"attempt":2,"level":"info","message":"ran\nwell","run":"7","runtime":"cluster","stage":"render","target":"kubectl_aicr::controller::log::tests","time":"1970-01-01T00:00:00Z"}
        {"level":"warn","message":"it \"said\" so","release":"gpu-operator","rollout":"r-1","run":"7","runtime":"cluster","stage":"render","target":"kubectl_aicr::controller::log::tests","time":"1970-01-01T00:00:00Z"}
        "#);
    }

    #[test]
    fn a_text_line_stays_one_line() {
        insta::assert_snapshot!(logged(LogFormat::Text, Level::INFO, work), @r#"
        1970-01-01T00:00:00Z INFO  ran\nwell attempt=2 run=7 runtime=cluster stage=render
        1970-01-01T00:00:00Z WARN  it "said" so release=gpu-operator rollout=r-1 run=7 runtime=cluster stage=render time=never
        "#);
    }

    #[test]
    fn a_level_hides_what_is_below_it_and_other_programs_are_heard_from_warnings_up() {
        let work = || {
            tracing::debug!("own debug");
            tracing::info!(target: "hyper", "other info");
            tracing::warn!(target: "hyper", "other warning");
        };
        let at = |level| {
            let text = logged(LogFormat::Text, level, work);
            text.lines().map(|line| line[27..].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(at(Level::TRACE), ["own debug", "other warning"]);
        assert_eq!(at(Level::INFO), ["other warning"]);
        assert_eq!(at(Level::ERROR), [""; 0]);
    }
}
