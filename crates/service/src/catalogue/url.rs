//! A service that runs already: it has no command, no manifest and no build, and is known by its URL.

use std::{env, time::Duration};

use super::{Catalogue, Place, Run, Running, Service, Style, command::without_number};

/// How long it may take to answer: it has started long ago.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

impl Catalogue {
    /// Takes in the server that the user calls `url`.
    pub fn add_running(&mut self, url: &str, running: Running) {
        let id = without_number(url);
        if self.get(id).is_none() {
            self.services.push(service(id, running));
        }
    }
}

/// Whether a word of the user is meant as the URL of a server, and not as the name of a service or as a command. It may be wrong.
pub fn is_url(word: &str) -> bool {
    let is_of_http = word.starts_with("http://") || word.starts_with("https://");
    is_of_http || word.contains("://") && !word.contains(char::is_whitespace)
}

fn service(id: &str, running: Running) -> Service {
    let folder = env::current_dir().unwrap_or_else(|_| ".".into());
    let hash = blake3::hash(id.as_bytes()).to_hex();
    Service {
        id: id.to_owned(),
        name: format!("server+{}", &hash[..8]),
        style: Style::Running,
        protocol: running.channel.protocol,
        run: Run { ready_timeout: ANSWER_TIMEOUT, keeps_connections: true, ..Run::default() },
        running: Some(running),
        folder: folder.clone(),
        build_root: folder.clone(),
        place: Place::new(folder),
        ..Service::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_no_command_and_no_folder() {
        assert!(is_url("http://127.0.0.1:3000") && is_url("http://[::1]:80/a?b@2") && is_url("https://x"));
        assert!(
            is_url("http://127.0.0.1/a b") && is_url("unix://x"),
            "they are refused as what they are meant as"
        );
        assert!(!is_url("./a") && !is_url("hyper") && !is_url("curl http://127.0.0.1/"));
    }
}
