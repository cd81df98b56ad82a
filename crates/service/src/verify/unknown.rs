//! Requests outside a contract: similar paths, and methods of other paths. No I/O.

use rand::Rng;

use tare_contract::{Ask, Contract, Filled, Request, Template, Values};

/// Methods outside the contract: for each path the first that it does not support is tried.
const METHODS: [&str; 3] = ["DELETE", "PUT", "PATCH"];
/// Methods that frameworks often answer by themselves.
const OF_ITSELF: [&str; 2] = ["HEAD", "OPTIONS"];

/// A target without its query.
pub(super) fn path(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

/// For each path and method of the contract: `PATHxyz`, `PATH/xyz` and the parent, unless the contract has
/// that path. The root is left out: a service may have another contract there.
pub(super) fn paths_beside<R: Rng>(contract: &Contract, rng: &mut R) -> Vec<Filled> {
    let mut found: Vec<Filled> = Vec::new();
    for request in one_for_each_path_and_method(contract) {
        let filled = request.ask.fill(&mut Values::new(rng, None));
        let own = path(&filled.target);
        let word = Template::parse("{{label}}").expect("a template of this file");
        let mut word = || word.fill(&mut Values::new(rng, Some(8)));
        let parent = own.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let mut targets = vec![format!("{own}{}", word()), format!("{own}/{}", word())];
        targets.retain(|_| own != "/");
        targets.extend(parent.filter(|parent| !parent.is_empty()));
        for target in targets.into_iter().filter(|target| !is_known(contract, target)) {
            let is_new = |other: &Filled| (&other.method, &other.target) != (&filled.method, &target);
            if found.iter().all(is_new) {
                found.push(Filled { target, ..filled.clone() });
            }
        }
    }
    found
}

/// For each path of the contract: every method of other paths, with that method's request, and one method
/// that the path lacks.
pub(super) fn methods<R: Rng>(contract: &Contract, rng: &mut R) -> Vec<Filled> {
    let mut found = Vec::new();
    let mut seen: Vec<&Ask> = Vec::new();
    for request in &contract.requests {
        let ask = &request.ask;
        let filled = ask.fill(&mut Values::new(rng, None));
        let own = path(&filled.target);
        if seen.iter().any(|seen| seen.path.matches(own)) {
            continue;
        }
        seen.push(ask);
        let knows = |method: &str| {
            contract.requests.iter().any(|other| other.ask.method == method && other.ask.path.matches(own))
        };
        for other in one_for_each_method(contract) {
            if !knows(&other.ask.method) {
                let sent = other.ask.fill(&mut Values::new(rng, None));
                found.push(Filled { target: filled.target.clone(), ..sent });
            }
        }
        if let Some(method) = METHODS.into_iter().find(|method| !knows(method)) {
            found.push(bare(method, &filled));
        }
    }
    found.dedup_by(|a, b| a.method == b.method && a.target == b.target);
    found
}

/// The request without body and Content-Type.
fn bare(method: &str, filled: &Filled) -> Filled {
    let mut headers = filled.headers.clone();
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    Filled { method: method.to_owned(), target: filled.target.clone(), headers, body: None, ..filled.clone() }
}

fn is_known(contract: &Contract, target: &str) -> bool {
    contract.requests.iter().any(|request| request.ask.path.matches(target))
}

fn one_for_each_path_and_method(contract: &Contract) -> Vec<&Request> {
    let key =
        |request: &Request| (path(&request.ask.path.to_string()).to_owned(), request.ask.method.clone());
    first_of_each(contract, key)
}

fn one_for_each_method(contract: &Contract) -> Vec<&Request> {
    let mut requests = first_of_each(contract, |request| request.ask.method.clone());
    requests.retain(|request| !OF_ITSELF.contains(&request.ask.method.as_str()));
    requests
}

fn first_of_each<K: PartialEq>(contract: &Contract, key: impl Fn(&Request) -> K) -> Vec<&Request> {
    let mut keys = Vec::new();
    let mut is_new = |request: &&Request| {
        let key = key(request);
        let is_new = !keys.contains(&key);
        keys.push(key);
        is_new
    };
    contract.requests.iter().filter(|request| is_new(request)).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn contract(requests: &[(&str, &str)]) -> Contract {
        let mut text = String::from("format = \"1.0\"\nname = \"a\"\ntitle = \"\"\n");
        for (number, (method, path)) in requests.iter().enumerate() {
            text += &format!(
                "[[request]]\nname = \"{number}\"\nmethod = \"{method}\"\npath = \"{path}\"\n[request.response]\nstatus = 200\n"
            );
        }
        Contract::parse(&text, std::path::Path::new("a.toml")).unwrap()
    }

    /// Invented words are shown as `*`.
    fn asked(filled: Vec<Filled>, words: &[&str]) -> Vec<String> {
        let word = |target: &str| {
            let known = words.iter().filter(|word| target.starts_with(**word)).max_by_key(|word| word.len());
            let known = known.copied().unwrap_or_default();
            let rest = &target[known.len()..];
            match rest.strip_prefix('/') {
                Some("") | None if rest.is_empty() => known.to_owned(),
                Some(_) => format!("{known}/*"),
                None => format!("{known}*"),
            }
        };
        filled.into_iter().map(|filled| format!("{} {}", filled.method, word(&filled.target))).collect()
    }

    #[test]
    fn paths_beside_those_of_the_contract_that_it_has_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut beside = |requests: &[(&str, &str)], words: &[&str]| {
            asked(paths_beside(&contract(requests), &mut rng), words)
        };
        assert_eq!(beside(&[("GET", "/")], &[]), [""; 0]);
        assert_eq!(
            beside(&[("GET", "/api/test?x=1")], &["/api/test", "/api"]),
            ["GET /api/test*", "GET /api/test/*", "GET /api"]
        );
        let rest = [
            ("POST", "/test"),
            ("GET", "/test/status"),
            ("GET", "/test/labels/{{label}}"),
            ("GET", "/test/labels/x"),
        ];
        let words = ["/test", "/test/status", "/test/labels"];
        assert_eq!(
            beside(&rest, &words),
            [
                "POST /test*",
                "POST /test/*",
                "GET /test/status*",
                "GET /test/status/*",
                "GET /test/labels/*",
                "GET /test/labels",
                "GET /test/labels/*",
            ]
        );
    }

    #[test]
    fn every_method_of_the_contract_on_every_path() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut methods =
            |requests: &[(&str, &str)], words: &[&str]| asked(methods(&contract(requests), &mut rng), words);
        assert_eq!(methods(&[("GET", "/"), ("HEAD", "/")], &["/"]), ["DELETE /"]);
        let rest = [
            ("POST", "/test"),
            ("GET", "/s?a=1"),
            ("GET", "/l/{{label}}"),
            ("GET", "/l/x"),
            ("DELETE", "/s"),
        ];
        assert_eq!(
            methods(&rest, &["/test", "/s?a=1", "/l"]),
            ["GET /test", "DELETE /test", "POST /s?a=1", "PUT /s?a=1", "POST /l/*", "DELETE /l/*",]
        );
    }
}
