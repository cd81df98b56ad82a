//! A service that already runs, named by its URL: it has no command, manifest or build.

use std::{env, time::Duration};

use super::{Catalogue, Place, Run, Running, Service, Style, command::without_number};

/// Time limit for its first answer: it started long ago.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

impl Catalogue {
    /// Adds the server that the user names by `url`.
    pub fn add_running(&mut self, url: &str, running: Running) {
        let id = without_number(url);
        if self.get(id).is_none() {
            self.services.push(service(id, running));
        }
    }
}

/// Whether a word is meant as a server's URL, even an invalid one, and not as a service name or a command.
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
