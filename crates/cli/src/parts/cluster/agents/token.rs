//! The token of a run. It is no option, because every user of a machine can read the options of a process.

use std::{os::unix::fs::PermissionsExt, path::Path};

use anyhow::Context;
use tare_agent::Token;
use tare_host::secrets;

/// The variable with the token, if there is no file.
pub(in crate::parts::cluster) const TOKEN_VARIABLE: &str = "TARE_AGENT_TOKEN";

/// Reads the token from the file or the variable, and registers it as a secret, which is never printed.
pub(in crate::parts::cluster) fn agent_token(file: Option<&Path>) -> anyhow::Result<Token> {
    let token = match file {
        Some(path) => {
            let token = Token::read(path)?;
            let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode());
            if mode & 0o077 != 0 {
                let name = path.display();
                tare_host::message!("warning: other users may read the token in {name}: chmod 600 {name}");
            }
            token
        }
        None => {
            let text = std::env::var(TOKEN_VARIABLE).ok().filter(|text| !text.is_empty());
            let text = text.with_context(|| {
                format!("no token: give --token-file FILE, or set {TOKEN_VARIABLE}; `tare agent --new-token FILE` makes one")
            })?;
            Token::parse(&text).with_context(|| TOKEN_VARIABLE)?
        }
    };
    secrets::keep(TOKEN_VARIABLE, token.reveal());
    Ok(token)
}

/// The version that controllers and agents compare.
pub(in crate::parts::cluster) fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
