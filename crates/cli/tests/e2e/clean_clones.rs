//! The files that `tare init` writes work in a clean clone. Each repository has ignored files, such as a
//! virtual environment, and the gate runs in another clone, by the script of the workflow.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tare_host::fixture::has_program;

use crate::{dependencies::Repository, support::real_root};

/// A repository with these files and a commit; `prepare` makes files that git ignores.
fn repository(ignored: &str, files: &[(&str, &str)], prepare: &str) -> Repository {
    let repository = Repository::new();
    repository.write(".gitignore", &format!("{ignored}\n.tare\n"));
    for (name, text) in files {
        repository.write(name, text);
    }
    repository.run(prepare);
    assert!(repository.path().join(ignored).exists(), "{prepare}");
    repository.commit("a service");
    repository
}

/// Runs `tare init`, commits its files, and runs the gate in a clone with one more commit.
fn has_a_gate_that_runs(repository: &Repository, ignored: &str) {
    repository
        .tare(&["init", "--name", "shop", "--get", "/items/1", "--no-compare", "--ci", "github"])
        .expect(0);
    let written = fs::read_to_string(repository.path().join("tare.toml")).unwrap();
    assert!(written.contains("[gate.shop]"), "{written}");
    repository.commit("a gate");
    let clone = tempfile::tempdir().unwrap();
    let root = clone.path().join("clone");
    let from = repository.path().display();
    repository.run(&format!(
        "git clone --quiet {from} {to} && cd {to} && git checkout --quiet -b topic && echo more >README.md && git add . && \
         git -c user.name=a -c user.email=a@example.org commit --quiet -m more",
        to = root.display()
    ));
    assert!(!root.join(ignored).exists());
    let ended = gate(&root, repository);
    // On a busy machine it may be undecided: it only matters that it was measured.
    assert!(matches!(ended.status.code(), Some(0 | 4 | 5)), "{written}\n{ended:?}");
    let comment = fs::read_to_string(root.join("tare-gate/gate.md")).unwrap();
    assert!(comment.contains("shop@HEAD") && comment.contains("CPU/request"), "{comment}");
}

fn gate(root: &Path, repository: &Repository) -> Output {
    let [_, home] = repository.home();
    let mut gate = Command::new("sh");
    gate.arg(real_root().join("scripts/gate.sh"))
        .current_dir(root)
        .env("TARE", env!("CARGO_BIN_EXE_tare"))
        .env("TARE_NO_WHY", "1");
    gate.envs([("TARE_HOME", home), ("GATE_NAME", "shop"), ("GATE_BUDGET", "12s"), ("GATE_AGAIN", "false")]);
    gate.output().unwrap()
}

#[test]
fn of_fastapi_with_a_virtual_environment() {
    if !has_program("a clean clone of FastAPI", "python3") {
        return;
    }
    let app = "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get(\"/items/{number}\")\ndef item(number: int):\n    \
               return {\"id\": number, \"name\": \"tea\"}\n";
    let files = [("app.py", app), ("requirements.txt", "fastapi==0.165.0\nuvicorn==0.54.0\n")];
    let install = "python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt";
    has_a_gate_that_runs(&repository(".venv", &files, install), ".venv");
}

#[test]
fn of_express_with_its_packages() {
    if !["node", "npm"].iter().all(|program| has_program("a clean clone of Express", program)) {
        return;
    }
    let server = "const app = require('express')();\napp.get('/items/:id', (request, response) => response.json({ id: request.params.id \
                  }));\napp.listen(process.env.PORT, '127.0.0.1');\n";
    let package =
        r#"{"name": "shop", "version": "1.0.0", "private": true, "scripts": {"start": "node server.js"}}"#;
    let files = [("server.js", server), ("package.json", package)];
    let install = "npm install --no-audit --no-fund --save-exact express@5.3.0";
    has_a_gate_that_runs(&repository("node_modules", &files, install), "node_modules");
}

#[test]
fn of_go_with_a_program_that_was_built() {
    if !has_program("a clean clone of Go", "go") {
        return;
    }
    let main = "package main\n\nimport (\n    \"net/http\"\n    \"os\"\n)\n\nfunc main() {\n    http.HandleFunc(\"/items/1\", func(w \
                http.ResponseWriter, r *http.Request) { w.Write([]byte(\"tea\")) })\n    http.ListenAndServe(\"127.0.0.1:\"+os.Getenv(\"PORT\"), \
                nil)\n}\n";
    let files = [("main.go", main), ("go.mod", "module shop\n\ngo 1.21\n")];
    has_a_gate_that_runs(&repository("bin", &files, "go build -o bin/shop ."), "bin");
}

const POM: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>4.1.2</version>
    <relativePath/>
  </parent>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <java.version>17</java.version>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.springframework.boot</groupId>
      <artifactId>spring-boot-starter-webmvc</artifactId>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.springframework.boot</groupId>
        <artifactId>spring-boot-maven-plugin</artifactId>
      </plugin>
    </plugins>
  </build>
</project>
"#;

const SPRING: &str = r#"package shop;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Shop {
    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @GetMapping("/items/{id}")
    Map<String, Integer> item(@PathVariable int id) {
        return Map.of("id", id);
    }
}
"#;

#[test]
fn of_spring_boot_with_an_archive_that_was_packaged() {
    if !["java", "mvn"].iter().all(|program| has_program("a clean clone of Spring Boot", program)) {
        return;
    }
    let files = [("pom.xml", POM), ("src/main/java/shop/Shop.java", SPRING)];
    has_a_gate_that_runs(&repository("target", &files, "mkdir target && touch target/shop-1.jar"), "target");
}
