//! Handwritten files: each is parsed, or refused with a sentence that names the file.

use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_base::document::decoded;
use tare_bench::{experiment::ExperimentFile, figures::Figures};
use tare_contract::Contract;
use tare_service::{
    catalogue::{Catalogue, RawSocket},
    workspace::Root,
};

use crate::scratch;

/// A contract: a parsed contract makes exchanges, each of which is one whole request.
pub(crate) fn contract(input: &[u8]) {
    let Ok(text) = decoded(input) else { return };
    let contract = match Contract::parse(&text, Path::new("fuzzed.toml")) {
        Ok(contract) => contract,
        Err(error) => return assert!(error.to_string().contains("fuzzed"), "{error}"),
    };
    let _ = tare_contract::fixed_response(&contract);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for request in contract.loaded() {
        let exchange = contract.exchange(request, "127.0.0.1", &mut rng);
        assert!(exchange.request.windows(4).any(|end| end == b"\r\n\r\n"), "a request without an end");
    }
}

/// A manifest of a service in a catalogue.
pub(crate) fn manifest(input: &[u8]) {
    let path = scratch::file("catalogue/services/any/fuzzed/service.toml", input);
    let raw_socket = RawSocket { program: "/bin/true".into(), contracts: std::collections::BTreeMap::new() };
    let catalogue = Catalogue::load(scratch::above(&path, 4), &["hello", "rest"], raw_socket);
    let catalogue = catalogue.expect("the folder can be listed");
    let is_there = catalogue.get("fuzzed").is_some()
        || catalogue.services.iter().any(|service| service.language == "any");
    assert!(is_there || !catalogue.broken.is_empty(), "the manifest is neither read nor refused");
}

/// An experiment of any kind, and the figures of a published one.
pub(crate) fn experiment(input: &[u8]) {
    let path = scratch::file("experiments/fuzzed.toml", input);
    let errors = [ExperimentFile::load(&path).err(), Figures::load(&path).err()];
    for error in errors.into_iter().flatten() {
        assert!(error.to_string().contains("fuzzed.toml"), "{error}");
    }
}

/// A `tare.toml`.
pub(crate) fn project(input: &[u8]) {
    let Ok(text) = decoded(input) else { return };
    let _ = Root::of_text(Path::new("/nonexistent"), &text).map(|root| (root.runs(), root.experiments()));
}
