//! The adapter with an API in memory, and once with a port on which nothing listens.

pub(super) mod server;

use std::{collections::HashMap, net::TcpListener, path::Path, time::Duration};

use kube::{Client, Config};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::fixture::kubernetes_batch;
use server::Server;

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn start() -> Start {
    Start { command: ["tare", "--root", "/repository", "job", "BATCH"].map(str::to_owned).to_vec() }
}

/// A batch with two classes in two namespaces.
fn batch(seeds: usize) -> (TempDir, Batch) {
    let store = tempfile::tempdir().unwrap();
    let batch = kubernetes_batch(store.path(), seeds);
    (store, batch)
}

/// Runs `work` with a server, and returns the result or the error.
fn on<T>(
    server: &Server,
    work: impl AsyncFnOnce(&Cluster) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    block(async { work(&server.cluster()).await })
}

fn error<T: std::fmt::Debug>(answer: Result<T, EngineError>) -> String {
    answer.unwrap_err().to_string()
}

#[test]
fn jobs_are_submitted_once_and_found_again_by_the_name_of_their_batch() {
    let (_store, batch) = batch(2);
    let server = Server::default();
    let lines = on(&server, async |cluster| submit(cluster, &batch, &[0, 1, 2], &start()).await).unwrap();
    insta::assert_snapshot!(lines.join("\n"), @r"
    Job tare-quick-e57435e8fe-arm-15106ffe39-1 of class arm: 2 jobs
    Job tare-quick-e57435e8fe-x86-a5b265dadd-1 of class x86: 1 job
    ");
    let states = on(&server, async |cluster| look(cluster, &batch).await).unwrap();
    assert_eq!(states.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
    assert!(states.values().all(EngineState::is_active), "{states:?}");
    insta::assert_snapshot!(server.log(), @r"
    GET /apis/batch/v1/namespaces/default/jobs?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    GET /apis/batch/v1/namespaces/bench/jobs?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    POST /apis/batch/v1/namespaces/bench/jobs? tare-quick-e57435e8fe-arm-15106ffe39-1
    POST /apis/batch/v1/namespaces/default/jobs? tare-quick-e57435e8fe-x86-a5b265dadd-1
    GET /apis/batch/v1/namespaces/default/jobs?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    GET /api/v1/namespaces/default/pods?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    GET /apis/batch/v1/namespaces/bench/jobs?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    GET /api/v1/namespaces/bench/pods?&labelSelector=tare%2Fbatch%3Dquick-e57435e8fe4c&limit=250
    ");
}

#[test]
fn what_is_submitted_again_is_another_job() {
    let (_store, batch) = batch(2);
    let server = Server::default();
    on(&server, async |cluster| submit(cluster, &batch, &[0, 2], &start()).await).unwrap();
    server.set_status(json!({ "completedIndexes": "0", "failedIndexes": "1",
        "conditions": [{ "type": "Failed", "status": "True", "reason": "FailedIndexes" }] }));
    let states = on(&server, async |cluster| look(cluster, &batch).await).unwrap();
    assert_eq!(states[&2], EngineState::Ended { how: "it failed".to_owned() });
    let lines = on(&server, async |cluster| submit(cluster, &batch, &[2], &start()).await).unwrap();
    insta::assert_snapshot!(lines.join("\n"), @"Job tare-quick-e57435e8fe-arm-15106ffe39-2 of class arm: 1 job");
    let states = on(&server, async |cluster| look(cluster, &batch).await).unwrap();
    assert_eq!((states[&0].is_active(), states[&2].is_active()), (false, true));
}

#[test]
fn a_job_whose_creation_was_not_confirmed_is_not_created_twice() {
    let (_store, batch) = batch(1);
    let server = Server::default();
    // The Job of the first call is stored, but its answer is lost. The second call uses the same number,
    // because its list was older.
    let planned = on(&server, async |cluster| plan(cluster, &batch, &[0], &start()).await).unwrap();
    server.put(&planned[0].object);
    server.hide_jobs_once();
    let lines = on(&server, async |cluster| submit(cluster, &batch, &[0], &start()).await).unwrap();
    insta::assert_snapshot!(lines.join("\n"), @"Job tare-quick-ef291ee2d8-arm-28c3ddfcea-1 of class arm: 1 job, which was there");
    assert_eq!(server.jobs(), 1);
    // Another tare has submitted other jobs under the same number.
    let (_store, larger) = self::batch(2);
    let server = Server::default();
    let planned = on(&server, async |cluster| plan(cluster, &larger, &[0], &start()).await).unwrap();
    server.put(&planned[0].object);
    server.hide_jobs_once();
    insta::assert_snapshot!(error(on(&server, async |cluster| submit(cluster, &larger, &[0, 2], &start()).await)), @"Kubernetes: a Job tare-quick-e57435e8fe-arm-15106ffe39-1 with other jobs has been created meanwhile: submit the list again");
}

#[test]
fn all_pages_of_a_list_are_read() {
    let (_store, batch) = batch(1100);
    let server = Server::default();
    let all: Vec<usize> = (0..batch.list.jobs.len()).collect();
    server.set_page(1);
    let lines = on(&server, async |cluster| submit(cluster, &batch, &all, &start()).await).unwrap();
    assert_eq!((lines.len(), server.jobs()), (4, 4), "1,000 and 100 jobs of each class: {lines:?}");
    let states = on(&server, async |cluster| look(cluster, &batch).await).unwrap();
    assert_eq!(states.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn what_is_cancelled_goes_with_its_pods_and_nothing_else_does() {
    let (_store, batch) = batch(1);
    let server = Server::default();
    on(&server, async |cluster| submit(cluster, &batch, &[0, 1], &start()).await).unwrap();
    let other =
        json!({ "metadata": { "name": "other", "namespace": "bench", "labels": { "tare/batch": "x" } } });
    server.put(&serde_json::from_value(other).unwrap());
    server.clear_log();
    on(&server, async |cluster| delete(cluster, &batch).await).unwrap();
    insta::assert_snapshot!(server.log(), @r#"
    GET /apis/batch/v1/namespaces/default/jobs?&labelSelector=tare%2Fbatch%3Dquick-ef291ee2d856&limit=250
    DELETE /apis/batch/v1/namespaces/default/jobs/tare-quick-ef291ee2d8-x86-a4ad19a2ea-1? "Background"
    GET /apis/batch/v1/namespaces/bench/jobs?&labelSelector=tare%2Fbatch%3Dquick-ef291ee2d856&limit=250
    DELETE /apis/batch/v1/namespaces/bench/jobs/tare-quick-ef291ee2d8-arm-28c3ddfcea-1? "Background"
    "#);
    assert_eq!(server.jobs(), 1);
    on(&server, async |cluster| delete(cluster, &batch).await).unwrap();
    assert!(on(&server, async |cluster| look(cluster, &batch).await).unwrap().is_empty());
    // A Job that disappeared between the list and the call.
    on(&server, async |cluster| cluster.delete(Some("bench"), "gone").await).unwrap();
}

fn status(code: u16, reason: &str, message: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message }),
    )
}

/// The error of listing Jobs for this answer, and whether it is temporary.
fn refused(answer: (u16, Value)) -> String {
    let server = Server::default();
    server.answer_next(answer);
    let error = on(&server, async |cluster| cluster.jobs(Some("bench"), "tare/batch=x").await).unwrap_err();
    format!("{}: {error}", if error.is_passing() { "passing" } else { "final" })
}

#[test]
fn an_error_says_what_is_missing() {
    insta::assert_snapshot!(refused(status(403, "Forbidden", "jobs.batch is forbidden: User \"eve\" cannot list resource \"jobs\" in API group \"batch\" in the namespace \"bench\"")), @r#"final: Kubernetes does not permit to list jobs in the namespace "bench": docs/examples/kubernetes-role.yaml grants what is needed (jobs.batch is forbidden: User "eve" cannot list resource "jobs" in API group "batch" in the namespace "bench")"#);
    insta::assert_snapshot!(refused(status(403, "Forbidden", "jobs.batch \"j\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1")), @r#"final: kubernetes: cannot list jobs in the namespace "bench": jobs.batch "j" is forbidden: exceeded quota: q, requested: count/jobs.batch=1"#);
    insta::assert_snapshot!(refused(status(401, "Unauthorized", "Unauthorized")), @r#"final: kubernetes: cannot list jobs in the namespace "bench": the credentials of the kubeconfig are not accepted, or have expired"#);
    insta::assert_snapshot!(refused(status(404, "NotFound", "namespaces \"bench\" not found")), @r#"final: kubernetes: cannot list jobs in the namespace "bench": namespaces "bench" not found"#);
    insta::assert_snapshot!(refused(status(422, "Invalid", "Job.batch \"j\" is invalid: spec.completions: Invalid value")), @r#"final: kubernetes: cannot list jobs in the namespace "bench": Job.batch "j" is invalid: spec.completions: Invalid value"#);
    insta::assert_snapshot!(refused(status(429, "TooManyRequests", "please try again later")), @r#"passing: Kubernetes does not answer: please try again later: list jobs in the namespace "bench""#);
    insta::assert_snapshot!(refused(status(500, "InternalError", "etcdserver: leader\n changed")), @r#"passing: Kubernetes does not answer: etcdserver: leader changed: list jobs in the namespace "bench""#);
    insta::assert_snapshot!(refused((200, json!("<html>"))), @r#"final: kubernetes: cannot list jobs in the namespace "bench": Error deserializing response: expected value at line 1 column 1"#);
    insta::assert_snapshot!(refused((502, json!("<html>Bad Gateway"))), @r#"passing: Kubernetes does not answer: <html>Bad Gateway: list jobs in the namespace "bench""#);
}

#[test]
fn an_api_that_does_not_answer_is_passing() {
    let server = Server::default();
    server.never_answer();
    let (_store, batch) = batch(1);
    let late = on(&server, async |cluster| look(cluster, &batch).await).unwrap_err();
    assert!(late.is_passing());
    insta::assert_snapshot!(late, @r#"Kubernetes does not answer: no answer within 30ms: list jobs in the namespace "default""#);
    // The port is free again, so nothing listens on it.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = block(async {
        let config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
        let cluster = Cluster::of(Client::try_from(config).unwrap(), Duration::from_secs(20));
        look(&cluster, &batch).await.unwrap_err()
    });
    assert!(refused.is_passing());
    insta::assert_snapshot!(refused, @r#"Kubernetes does not answer: client error (Connect): tcp connect error: Connection refused (os error 111): list jobs in the namespace "default""#);
}

/// The documented Role, which users install, has all verbs that are needed and no others.
#[test]
fn the_role_of_the_documentation_has_the_verbs_of_a_batch_and_no_others() {
    let (_store, batch) = batch(1);
    let server = Server::default();
    let planned = on(&server, async |cluster| plan(cluster, &batch, &[0], &start()).await).unwrap();
    server.put(&planned[0].object);
    server.hide_jobs_once();
    on(&server, async |cluster| {
        submit(cluster, &batch, &[0, 1], &start()).await?;
        look(cluster, &batch).await?;
        delete(cluster, &batch).await
    })
    .unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/kubernetes-role.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let documents: Vec<Value> =
        text.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    let role = documents.iter().find(|document| document["kind"] == "Role").unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut granted = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        for (group, resource) in texts(&rule["apiGroups"]).iter().zip(texts(&rule["resources"])) {
            granted.extend(texts(&rule["verbs"]).iter().map(|verb| format!("{verb} {group}/{resource}")));
        }
    }
    assert_eq!(server.rights(), granted);
    let binding = documents.iter().find(|document| document["kind"] == "RoleBinding").unwrap();
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
}

#[test]
fn a_preview_of_a_batch_that_is_not_there_asks_no_cluster() {
    let (_store, batch) = batch(1);
    let batch = Batch { folder: "/nonexistent/quick-0a1b2c3d4e5f".into(), ..batch };
    let text = Kubernetes.preview(&batch, &[0, 1], &start()).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    let kinds: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    assert_eq!((&list["kind"], kinds), (&json!("List"), vec![&json!("Job"); 2]));
}

fn variables(changes: &[(&str, Option<&str>)]) -> Result<Allocation, EngineError> {
    let fine = [
        ("TARE_JOB_POSITIONS", "4,7,9"),
        ("JOB_COMPLETION_INDEX", "1"),
        ("TARE_JOB_POD", "tare-quick-arm-0a1b2c3d4e-1-1-x7k2p"),
        ("TARE_JOB_NODE", "n1"),
        ("TARE_JOB_CPUS", "2"),
    ];
    let mut given: HashMap<&str, &str> = fine.into();
    for (name, value) in changes {
        match value {
            Some(value) => given.insert(name, value),
            None => given.remove(name),
        };
    }
    let received = Received { cpus: vec![2, 3], online: 8, ..Received::default() };
    allocation(&|name| given.get(name).map(|value| (*value).to_owned()), &received)
}

#[test]
fn an_attempt_is_known_by_its_pod_and_its_job_by_the_index() {
    let found = variables(&[]).unwrap();
    let expected = (7, "tare-quick-arm-0a1b2c3d4e-1-1-x7k2p", "n1", Some(true));
    assert_eq!((found.position, found.attempt.as_str(), found.node.as_str(), found.is_exclusive), expected);
    assert_eq!(variables(&[("TARE_JOB_CPUS", None)]).unwrap().is_exclusive, None);
    let wrong = |name, value| error(variables(&[(name, value)]));
    insta::assert_snapshot!(wrong("JOB_COMPLETION_INDEX", None), @"this is no job of Kubernetes: JOB_COMPLETION_INDEX is not in the environment");
    insta::assert_snapshot!(wrong("JOB_COMPLETION_INDEX", Some("3")), @"this is no job of Kubernetes: its Job has no index 3");
    insta::assert_snapshot!(wrong("JOB_COMPLETION_INDEX", Some("x")), @r#"this is no job of Kubernetes: JOB_COMPLETION_INDEX is "x""#);
    insta::assert_snapshot!(wrong("TARE_JOB_POSITIONS", Some("4-9")), @r#"this is no job of Kubernetes: TARE_JOB_POSITIONS is "4-9""#);
    insta::assert_snapshot!(wrong("TARE_JOB_POD", Some("../x")), @r#"this is no job of Kubernetes: TARE_JOB_POD is "../x""#);
    insta::assert_snapshot!(wrong("TARE_JOB_NODE", None), @"this is no job of Kubernetes: TARE_JOB_NODE is not in the environment");
}

#[test]
fn cpus_are_a_jobs_own_only_if_the_manager_has_given_them() {
    let received = |cpus: usize, quota_cpus| Received {
        cpus: (0..cpus).collect(),
        online: 8,
        quota_cpus,
        ..Received::default()
    };
    assert_eq!(is_exclusive(2, &received(2, None)), Some(true));
    assert_eq!(is_exclusive(2, &received(8, Some(2.0))), Some(false), "the shared pool, with a quota");
    assert_eq!(is_exclusive(2, &received(7, Some(2.0))), Some(false), "what the manager left for others");
    assert_eq!(is_exclusive(2, &received(2, Some(2.0))), None, "a small pool, or Kubernetes before 1.33");
    assert_eq!(is_exclusive(8, &received(8, None)), None, "all CPUs of a machine: others may run there");
    assert_eq!(is_exclusive(4, &received(2, None)), None, "a cpuset of another origin");
}
