//! Chooses a request of a contract that all tools can send: a GET without placeholders, headers or a body.

use tare_contract::{Contract, Request};

/// Why no request can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("contract \"{contract}\" has no request \"{name}\"{nearest}")]
    Unknown { contract: String, name: String, nearest: String },
    #[error(
        "request \"{name}\" of contract \"{contract}\" is no GET of one fixed path without headers and body{others}"
    )]
    Unfit { contract: String, name: String, others: String },
    #[error("the load of contract \"{contract}\" has several requests: choose one by --request, of {names}")]
    Several { contract: String, names: String },
}

/// The request called `name`, or the only request of the load.
///
/// # Errors
/// There is no such request, there are several, or a tool cannot send it.
pub fn fixed_get<'c>(contract: &'c Contract, name: Option<&str>) -> Result<&'c Request, AskError> {
    let own = || contract.name.clone();
    let fit_names = || {
        let fit = contract.requests.iter().filter(|request| is_fit(request));
        fit.map(|request| format!("\"{}\"", request.name)).collect::<Vec<_>>().join(", ")
    };
    let found = match name {
        Some(name) => contract.requests.iter().find(|request| request.name == name).ok_or_else(|| {
            let names = contract.requests.iter().map(|request| request.name.as_str());
            let nearest = tare_base::spelling::suggestion(name, names);
            AskError::Unknown { contract: own(), name: name.to_owned(), nearest }
        })?,
        None => {
            let mut loaded = contract.loaded();
            match (loaded.next(), loaded.next()) {
                (Some(only), None) => only,
                _ => return Err(AskError::Several { contract: own(), names: fit_names() }),
            }
        }
    };
    match is_fit(found) {
        true => Ok(found),
        false => {
            let others = match fit_names() {
                names if names.is_empty() => String::new(),
                names => format!("; by --request there is {names}"),
            };
            Err(AskError::Unfit { contract: own(), name: found.name.clone(), others })
        }
    }
}

fn is_fit(request: &Request) -> bool {
    let ask = &request.ask;
    ask.method == "GET" && ask.headers.is_empty() && ask.body.is_none() && !request.has_placeholders()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn requests_of_the_real_contracts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts");
        let contracts = Contract::load_all(&root).unwrap();
        let found = |contract: &str, name| {
            fixed_get(&contracts[contract], name)
                .map_or_else(|error| error.to_string(), |request| format!("= {}", request.name))
        };
        let said = [
            found("hello", None),
            found("api", None),
            found("strings", None),
            found("strings", Some("benchmark")),
            found("strings", Some("benchmrak")),
            found("rest", None),
            found("rest", Some("status")),
            found("rest", Some("echo")),
        ];
        insta::assert_snapshot!(said.join("\n"));
    }
}
