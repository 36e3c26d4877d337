//! The only gate to standard output and standard error.

use std::io::{ErrorKind, IsTerminal, Write};

use owo_colors::Style;

use super::env::Env;

/// How text is laid out for one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Whether escapes for colour may be written.
    pub(super) color: bool,
    /// Columns of the terminal; `None` in a pipe, where nothing is wrapped.
    pub(super) width: Option<u16>,
}

impl Look {
    /// The look for a stream: colour only on a terminal, never with `NO_COLOR` or `TERM=dumb`.
    pub(super) fn new(is_terminal: bool, width: Option<u16>, env: &Env) -> Self {
        let dumb = env.text("TERM").is_some_and(|term| term == "dumb");
        let color = is_terminal && !dumb && env.raw("NO_COLOR").is_none();
        Self { color, width: width.filter(|_| is_terminal) }
    }

    /// `text` in a style, or as it is where colour is not wanted.
    pub(super) fn paint(self, text: &str, style: Style) -> String {
        if self.color { style.style(text).to_string() } else { text.to_owned() }
    }
}

/// Writes to the two streams. A reader that went away ends the output quietly, since it has seen what it wanted.
pub(super) struct Printer {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    /// Look of standard output.
    pub(super) look: Look,
    /// Look of standard error.
    pub(super) err_look: Look,
    closed: bool,
}

impl Printer {
    /// The printer of this process.
    pub(super) fn of_process(env: &Env) -> Self {
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let columns = |size: Option<(terminal_size::Width, _)>| size.map(|(width, _)| width.0);
        let look = Look::new(out.is_terminal(), columns(terminal_size::terminal_size_of(&out)), env);
        let err_look = Look::new(err.is_terminal(), columns(terminal_size::terminal_size_of(&err)), env);
        Self { out: Box::new(out), err: Box::new(err), look, err_look, closed: false }
    }

    /// Writes text to standard output and flushes it.
    ///
    /// # Errors
    /// When the stream takes no more for another reason than a closed pipe, such as a full disk.
    pub(super) fn out(&mut self, text: &str) -> std::io::Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }

    /// Writes text to standard error. Nobody can be told when that fails.
    pub(super) fn err(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}

#[cfg(test)]
mod tests {
    use owo_colors::Style;

    use super::{Env, Look};

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        let env = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Env>();
        for (terminal, variables, color) in [
            (true, env(&[("TERM", "xterm")]), true),
            (true, env(&[]), true),
            (false, env(&[("TERM", "xterm")]), false),
            (true, env(&[("NO_COLOR", "1")]), false),
            (true, env(&[("NO_COLOR", "")]), true),
            (true, env(&[("TERM", "dumb")]), false),
        ] {
            assert_eq!(Look::new(terminal, Some(80), &variables).color, color);
        }
    }

    #[test]
    fn a_pipe_has_no_width_and_no_escapes() {
        let look = Look::new(false, Some(80), &Env::default());
        assert_eq!(look.width, None);
        assert_eq!(look.paint("Failed", Style::new().red()), "Failed");
    }
}
