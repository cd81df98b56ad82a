//! Discovers Go services: the main packages of a module.

use std::path::Path;

use super::{Guess, sources, text, with_port};
use crate::install;

const FRAMEWORKS: [(&str, &str); 6] = [
    ("gin-gonic/gin", "Gin"),
    ("labstack/echo", "Echo"),
    ("gofiber/fiber", "Fiber"),
    ("go-chi/chi", "chi"),
    ("gorilla/mux", "gorilla/mux"),
    ("valyala/fasthttp", "fasthttp"),
];

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let Some(module) = text(folder, "go.mod") else { return Vec::new() };
    let framework = FRAMEWORKS.iter().find(|(path, _)| module.contains(path)).map_or("Go", |(_, name)| name);
    let is_main = |path: &Path| {
        let text = path.to_str().and_then(|path| text(folder, path)).unwrap_or_default();
        text.lines().any(|line| line.trim() == "package main") && text.contains("func main()")
    };
    let programs = sources(folder, ".go").into_iter().filter(|path| is_main(path));
    let guesses = programs.flat_map(|file| {
        let package = match file.parent().and_then(Path::to_str) {
            None | Some("") => ".".to_owned(),
            Some(inner) => format!("./{inner}"),
        };
        let fetched = install::of_go(folder).map(|found| found.steps).unwrap_or_default();
        let build =
            [fetched, vec![install::offline(&format!("go build -o tare-service {package}"))]].concat();
        let commands = with_port(folder, ".go", "./tare-service");
        commands.into_iter().map(move |command| Guess {
            what: framework.to_owned(),
            file: file.clone(),
            build: build.clone(),
            command,
        })
    });
    guesses.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn a_main_package_takes_its_port_as_its_source_says() {
        let main = "package main\n\nfunc main() { os.Getenv(\"PORT\") }\n";
        let of = |main: &str| {
            guessed(&[
                ("go.mod", "module a\nrequire github.com/go-chi/chi/v5 v5"),
                ("cmd/shop/main.go", main),
            ])
        };
        assert_eq!(
            of(main),
            [
                "chi (cmd/shop/main.go): go mod download && go build -o tare-service ./cmd/shop && ./tare-service"
            ]
        );
        let flags = of("package main\nfunc main() { flag.String(\"addr\", \"\", \"\") }\n");
        assert!(flags[0].ends_with("./tare-service --addr 127.0.0.1:{port}"), "{flags:?}");
        assert!(flags[1].ends_with("&& ./tare-service"), "{flags:?}");
    }
}
