//! `kubectl aicr version`: this plugin, and the server it would talk to.

use serde::Serialize;

use super::args::Flags;
use super::error::CliError;
use super::session::Session;
use super::text;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    client: String,
    /// Version of the Kubernetes API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
}

/// The plugin's own version; no call is made.
pub(super) fn client(flags: &Flags) -> Result<String, CliError> {
    print(&Versions { client: own(), server: None }, flags)
}

/// The plugin's version and the API server's.
pub(super) async fn both(session: &Session<'_>) -> Result<String, CliError> {
    let client = session.connection.client();
    let info = session.connection.call(client.apiserver_version()).await?;
    print(&Versions { client: own(), server: Some(info.git_version) }, session.flags)
}

fn own() -> String {
    format!("v{}", env!("CARGO_PKG_VERSION"))
}

fn print(versions: &Versions, flags: &Flags) -> Result<String, CliError> {
    if let Some(format) = flags.output {
        return super::structured(versions, format);
    }
    let server =
        versions.server.as_deref().map(|version| format!("Kubernetes Version: {}\n", text::line(version)));
    Ok(format!("Client Version: {}\n{}", versions.client, server.unwrap_or_default()))
}
