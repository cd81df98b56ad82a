//! Dockerfiles of foreign entries.

use tare_import::adopt;

/// The shells that run the script of a build step.
const SHELLS: [&str; 3] = ["sh", "bash", "dash"];

/// Any text as a Dockerfile: nothing panics, and the result is deterministic. It is a valid command for a
/// manifest, and installs nothing into the machine's own system.
pub(crate) fn dockerfile(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some((steps, command)) = adopt::interpreted(text) else { return };
    assert_eq!(adopt::interpreted(text), Some((steps.clone(), command.clone())));
    assert!(!command.is_empty() && steps.iter().all(|step| !step.command.is_empty()));
    for step in &steps {
        let program = step.command[0].as_str();
        assert!(SHELLS.contains(&program) || program == "python3", "{program}");
        let script = step.command.last().map(String::as_str).unwrap_or_default();
        let installs =
            |line: &str| ["apt-get ", "make install", "sysctl "].iter().any(|begin| line.starts_with(begin));
        // Here-documents may contain any lines.
        assert!(script.contains("<<") || !script.lines().any(installs), "{script}");
    }
}
