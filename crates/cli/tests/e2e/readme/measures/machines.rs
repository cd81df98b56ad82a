//! Several machines: one experiment on many, and one load from several.

use std::path::Path;

use serde_json::Value;

use crate::{
    agents::{Ground, sum, u64_of},
    cluster::site::{Site, is},
    readme::shop::{Shop, Version},
    support::Workspace,
};

/// A server for the contract `hello` that needs only Node.
const HELLO: &str = r#"
require("node:http").createServer((request, response) => {
  const found = request.url === "/";
  response.writeHead(found ? 200 : 404, { "Content-Type": "text/plain; charset=utf-8", "Content-Length": found ? 12 : 0 });
  response.end(found ? "Hello world!" : "");
}).listen(process.env.PORT, "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
"#;

const MANIFEST: &str = r#"format    = "1.0"
name      = "shop"
language  = "node"
framework = "node:http"
url       = "https://nodejs.org"
licence   = "MIT"
contracts = ["hello"]
style     = "platform"
[version]
command = ["node", "--version"]
[run]
command       = ["node", "server.js"]
ready-timeout = "30s"
"#;

fn add_shop(workspace: &Workspace) {
    workspace.write("services/node/shop/service.toml", MANIFEST);
    workspace.write("services/node/shop/server.js", HELLO);
    let experiment = crate::cluster::site::EXPERIMENT.replace("raw-socket@2", "shop");
    workspace.write("experiments/shop.toml", &experiment);
}

#[test]
fn two_nodes_give_one_answer() {
    const TEST: &str = "an experiment on two nodes";
    if !tare_host::fixture::has_program(TEST, "node") {
        return;
    }
    let Some(site) = Site::new(TEST) else { return };
    add_shop(&site.workspace);
    let batch = site.submit("shop", "--seeds 1 --seed 5", "--selftest none");
    site.wait(&batch, "both have arrived", |jobs| jobs.iter().all(|job| is(job, "arrived")));
    let collected = site.expect(&format!("cluster collect {}", batch.display()), 0);
    assert_eq!(collected.lines().count(), 2, "{collected}");
    let folder = Path::new(collected.lines().next().unwrap()).ancestors().nth(2).unwrap();
    // The result of so few blocks depends on other programs on this machine.
    let merged = site.tare(&format!("merge {} --json", folder.display()));
    assert!(matches!(merged.status.code(), Some(0 | 4 | 5)), "{merged:?}");
    let merged: Value = serde_json::from_slice(&merged.stdout).unwrap();
    assert_eq!(merged["kind"], "machines");
    for name in ["shop", "raw-socket", "n1"] {
        assert!(merged.to_string().contains(&format!("\"{name}\"")), "{name}: {merged:#}");
    }
}

#[test]
fn two_agents_send_one_load_and_a_third_watches_the_service() {
    let Some(shop) = Shop::new("load from two agents") else { return };
    let server = shop.serve(Version::Cheap);
    let ground = Ground::new();
    let words = [
        "-c 4 -d 1500ms --json --quiet",
        "-c 8 -R 1k --arrivals poisson -d 1500ms --seed 3 --json --warm-up 100ms",
    ];
    for words in words {
        let agents = [ground.agent(&[]), ground.agent(&[])];
        let watcher = ground.agent(&["--watch", &server.pid()]);
        let load = ground.load_path(&[&agents[0], &watcher, &agents[1]], server.port, "/items/1", words);
        // Other programs on this machine may make the load invalid.
        let ended = load.end().expect_measured();
        let found = ended.json();
        assert_eq!(found["agents"].as_array().unwrap().len(), 2, "{found}");
        let totals = &found["totals"];
        assert_eq!(sum(&found, "sent"), u64_of(totals, "/sent"));
        assert_eq!(sum(&found, "answered"), u64_of(totals, "/answered"));
        assert_eq!(sum(&found, "answered_in_window"), u64_of(totals, "/answered_in_window"));
        assert_eq!(u64_of(totals, "/failed"), 0);
        assert_eq!(found["settings"]["connections"], if words.contains("-c 8") { 8 } else { 4 });
        let (from_ns, to_ns) = (u64_of(&found, "/alignment/from_ns"), u64_of(&found, "/alignment/to_ns"));
        assert_eq!(u64_of(&found, "/window_ns"), to_ns - from_ns);
        assert!(to_ns < 1_500_000_000 && to_ns - from_ns > 900_000_000, "{found}");
        assert!(u64_of(&found, "/alignment/uncertainty_ns") < 100_000_000, "{found}");
        assert!(found["service_cpu"]["ns_per_answer"].as_f64().unwrap() > 100.0, "{found}");
        for agent in agents.into_iter().chain([watcher]) {
            let ended = agent.end().expect(0);
            assert!(ended.stderr.contains("is complete"), "{ended}");
        }
    }
}
