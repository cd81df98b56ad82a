//! Where the token of a run comes from. It is not an option, because every user of a machine can read the options of a process.

use std::{os::unix::fs::PermissionsExt, path::Path};

use anyhow::Context;
use tare_agent::Token;
use tare_host::secrets;

/// Holds the token where there is no file.
pub(crate) const TOKEN_VARIABLE: &str = "TARE_AGENT_TOKEN";

/// From the file, or from the variable. From now on it is printed nowhere.
pub(crate) fn agent_token(file: Option<&Path>) -> anyhow::Result<Token> {
    let token = match file {
        Some(path) => {
            let token = Token::read(path)?;
            let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode());
            if mode & 0o077 != 0 {
                let name = path.display();
                tare_host::tell!("warning: other users may read the token in {name}: chmod 600 {name}");
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
pub(crate) fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
