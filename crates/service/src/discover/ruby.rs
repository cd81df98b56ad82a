//! Discovers Ruby services: Rack applications.

use std::path::{Path, PathBuf};

use super::Guess;
use crate::install;

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let has = |name: &str| folder.join(name).is_file();
    if !has("config.ru") {
        return Vec::new();
    }
    let build = install::of_ruby(folder).map(|found| found.steps).unwrap_or_default();
    let prefix = if build.is_empty() { "" } else { "bundle exec " };
    let guess = |server: &str| Guess {
        what: "Rack".to_owned(),
        file: PathBuf::from("config.ru"),
        build: build.clone(),
        command: format!("{prefix}{server}"),
    };
    vec![
        guess("puma --bind tcp://127.0.0.1:{port} config.ru"),
        guess("rackup --host 127.0.0.1 --port {port}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn a_rack_application_is_served_by_puma() {
        let found = guessed(&[("config.ru", "run App"), ("Gemfile", "")]);
        assert_eq!(
            found[0],
            "Rack (config.ru): bundle install --quiet && bundle exec puma --bind tcp://127.0.0.1:{port} config.ru"
        );
    }
}
