//! The contracts included in the executable, for use outside Tare's repository.

use std::{collections::BTreeMap, path::Path};

use super::Contract;

const FILES: [(&str, &str); 17] = [
    ("api.toml", include_str!("../contracts/api.toml")),
    ("bare.toml", include_str!("../contracts/bare.toml")),
    ("compress.toml", include_str!("../contracts/compress.toml")),
    ("crud.toml", include_str!("../contracts/crud.toml")),
    ("db.toml", include_str!("../contracts/db.toml")),
    ("fortunes.toml", include_str!("../contracts/fortunes.toml")),
    ("gateway.toml", include_str!("../contracts/gateway.toml")),
    ("hello.toml", include_str!("../contracts/hello.toml")),
    ("httparena.toml", include_str!("../contracts/httparena.toml")),
    ("json.toml", include_str!("../contracts/json.toml")),
    ("queries.toml", include_str!("../contracts/queries.toml")),
    ("rest.toml", include_str!("../contracts/rest.toml")),
    ("static.toml", include_str!("../contracts/static.toml")),
    ("strings.toml", include_str!("../contracts/strings.toml")),
    ("techempower.toml", include_str!("../contracts/techempower.toml")),
    ("updates.toml", include_str!("../contracts/updates.toml")),
    ("upload.toml", include_str!("../contracts/upload.toml")),
];

impl Contract {
    pub fn built_in() -> BTreeMap<String, Contract> {
        let contracts = FILES.iter().map(|(name, text)| {
            let contract = Contract::parse(text, Path::new(name)).expect("a test reads them all");
            (contract.name.clone(), contract)
        });
        contracts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_contracts_of_the_repository_are_built_in() {
        let of_folder = Contract::load_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts")).unwrap();
        assert_eq!(Contract::built_in(), of_folder);
    }
}
