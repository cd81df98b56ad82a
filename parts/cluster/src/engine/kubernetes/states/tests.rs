use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const BATCH: &str = "quick-0a1b2c3d4e5f";

/// A Job as the API lists it, with the positions of its jobs.
fn job(name: &str, created: &str, places: &str, status: Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": name, "creationTimestamp": created, "labels": { "tare/batch": BATCH } },
        "spec": { "completions": places.split(',').count(), "template": { "spec": spec(places, None) } },
        "status": status,
    })
}

fn spec(places: &str, node: Option<&str>) -> Value {
    let env = json!([{ "name": "TARE_JOB_POSITIONS", "value": places }]);
    let mut spec = json!({ "containers": [{ "name": "tare", "image": "i", "env": env }] });
    if let Some(node) = node {
        spec["nodeName"] = node.into();
    }
    spec
}

fn pod(job: &str, index: usize, places: &str, node: Option<&str>, status: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{job}-{index}-x"),
            "creationTimestamp": "2026-01-02T03:04:06Z",
            "labels": { "tare/batch": BATCH, "batch.kubernetes.io/job-name": job, "job-name": job },
            "annotations": { "batch.kubernetes.io/job-completion-index": index.to_string() },
        },
        "spec": spec(places, node),
        "status": status,
    })
}

fn terminated(code: i32, reason: &str, message: &str) -> Value {
    let end = json!({ "exitCode": code, "reason": reason, "message": message });
    json!({
        "phase": if code == 0 { "Succeeded" } else { "Failed" },
        "containerStatuses": [{ "name": "tare", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": end } }],
    })
}

fn waiting(reason: &str, message: &str) -> Value {
    let state = json!({ "waiting": { "reason": reason, "message": message } });
    json!({
        "phase": "Pending",
        "containerStatuses": [{ "name": "tare", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": state }],
    })
}

fn read(jobs: &[Value], pods: &[Value]) -> BTreeMap<usize, EngineState> {
    let jobs: Vec<Job> = jobs.iter().map(|job| serde_json::from_value(job.clone()).unwrap()).collect();
    let pods: Vec<Pod> = pods.iter().map(|pod| serde_json::from_value(pod.clone()).unwrap()).collect();
    states(&jobs, &pods)
}

fn lines(states: &BTreeMap<usize, EngineState>) -> String {
    states.iter().map(|(position, state)| format!("{position} {state:?}\n")).collect()
}

#[test]
fn each_index_has_the_state_that_its_job_and_its_pod_give() {
    let places = "0,2,4,6,8,10,12,14,16,18,20,22";
    let status = json!({ "active": 5, "completedIndexes": "0-1", "failedIndexes": "2,3-5,11" });
    let unschedulable = json!({ "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu." }] });
    let pods = [
        pod("j-1", 1, places, Some("n1"), terminated(0, "Completed", "")),
        pod(
            "j-1",
            2,
            places,
            Some("n1"),
            terminated(1, "Error", "job arm-1\nerror: a build\u{1b}[2J failed\n"),
        ),
        pod(
            "j-1",
            3,
            places,
            Some("n1"),
            json!({ "phase": "Failed", "reason": "DeadlineExceeded",
            "message": "Pod was active on the node longer than the specified deadline" }),
        ),
        pod("j-1", 4, places, Some("n2"), terminated(137, "OOMKilled", "")),
        pod("j-1", 6, places, Some("n2"), json!({ "phase": "Running" })),
        pod("j-1", 7, places, None, unschedulable),
        pod("j-1", 8, places, Some("n3"), waiting("ImagePullBackOff", "Back-off pulling image \"tare:1\"")),
        pod("j-1", 9, places, Some("n3"), terminated(137, "Error", "")),
        pod(
            "j-1",
            11,
            places,
            Some("n3"),
            json!({ "phase": "Failed", "reason": "Evicted",
            "message": "The node was low on resource: memory." }),
        ),
    ];
    let found = read(&[job("j-1", "2026-01-02T03:04:05Z", places, status)], &pods);
    insta::assert_snapshot!(lines(&found), @r#"
    0 Ended { how: "it ended" }
    2 Ended { how: "it ended" }
    4 Ended { how: "it failed with status 1: error: a build\\u{1b}[2J failed" }
    6 Ended { how: "it reached its time limit" }
    8 Ended { how: "it was out of memory" }
    10 Ended { how: "it failed" }
    12 Running { node: "n2" }
    14 Waiting { why: "0/3 nodes are available: 3 Insufficient cpu." }
    16 Waiting { why: "ImagePullBackOff: Back-off pulling image \"tare:1\" on n3" }
    18 Waiting { why: "it may be started again: it was killed" }
    20 Waiting { why: "it has no pod yet" }
    22 Ended { how: "Evicted: The node was low on resource: memory." }
    "#);
}

#[test]
fn of_two_jobs_the_active_one_counts_and_then_the_newer_one() {
    let failed = json!({ "failedIndexes": "0-1", "conditions": [{ "type": "Failed", "status": "True",
        "reason": "FailedIndexes", "message": "Job has failed indexes" }] });
    let jobs = [
        job("j-2", "2026-01-02T04:00:00Z", "3,5", json!({ "completedIndexes": "0", "failedIndexes": "1" })),
        job("j-1", "2026-01-02T03:00:00Z", "3,5", failed),
        job("j-3", "2026-01-02T05:00:00Z", "5", json!({})),
    ];
    insta::assert_snapshot!(lines(&read(&jobs, &[])), @r#"
    3 Ended { how: "it ended" }
    5 Waiting { why: "it has no pod yet" }
    "#);
}

#[test]
fn what_was_cancelled_is_active_until_its_pods_have_ended() {
    let places = "3,5,7";
    let pods = [
        pod("j-1", 0, places, Some("n1"), json!({ "phase": "Running" })),
        pod("j-1", 1, places, Some("n2"), terminated(143, "Error", "")),
        pod("j-1", 9, places, Some("n2"), json!({ "phase": "Running" })),
    ];
    insta::assert_snapshot!(lines(&read(&[], &pods)), @r#"3 Running { node: "n1" }"#);
    let mut going = job("j-1", "2026-01-02T03:00:00Z", places, json!({ "active": 1 }));
    going["metadata"]["deletionTimestamp"] = "2026-01-02T03:00:09Z".into();
    insta::assert_snapshot!(lines(&read(&[going], &pods)), @r#"
    3 Running { node: "n1" }
    5 Ended { how: "it was cancelled" }
    7 Ended { how: "it was cancelled" }
    "#);
}

#[test]
fn a_job_that_starts_nothing_any_more_settles_all_of_its_indexes() {
    let condition = |name: &str| {
        let condition = json!({ "type": name, "status": "True", "reason": "BackoffLimitExceeded", "message": "too many" });
        read(&[job("j", "2026-01-02T03:00:00Z", "0", json!({ "conditions": [condition] }))], &[])
    };
    let states = ["Complete", "Failed", "Suspended", "SomethingNew"].map(|name| lines(&condition(name)));
    insta::assert_snapshot!(states.concat(), @r#"
    0 Ended { how: "its Job is complete" }
    0 Ended { how: "its Job failed: BackoffLimitExceeded: too many" }
    0 Waiting { why: "its Job is suspended" }
    0 Waiting { why: "it has no pod yet" }
    "#);
}

#[test]
fn a_pod_that_lives_comes_before_one_that_was_lost() {
    let lost = pod("j", 0, "4", Some("n1"), json!({ "phase": "Failed", "reason": "NodeLost" }));
    let mut next = pod("j", 0, "4", Some("n2"), json!({ "phase": "Running" }));
    next["metadata"]["creationTimestamp"] = "2026-01-02T03:00:00Z".into();
    let job = job("j", "2026-01-02T03:00:00Z", "4", json!({}));
    let expected = BTreeMap::from([(4, EngineState::Running { node: "n2".to_owned() })]);
    assert_eq!(read(std::slice::from_ref(&job), &[lost.clone(), next.clone()]), expected);
    assert_eq!(read(std::slice::from_ref(&job), &[next, lost.clone()]), expected, "in any order of the list");
    let why = "it may be started again: its node was lost".to_owned();
    assert_eq!(read(&[job], &[lost]), BTreeMap::from([(4, EngineState::Waiting { why })]));
}

#[test]
fn what_is_not_tares_is_no_job() {
    let mut foreign = job("j", "2026-01-02T03:00:00Z", "0", json!({}));
    foreign["spec"]["template"]["spec"]["containers"][0]["env"] = json!([]);
    let bare: Value = json!({ "metadata": {}, "spec": { "template": {} } });
    let unindexed = json!({ "metadata": { "labels": { "job-name": "j" } }, "spec": { "containers": [] } });
    assert_eq!(read(&[foreign, bare], &[unindexed]), BTreeMap::new());
}

proptest! {
    #[test]
    fn any_list_of_indexes_is_read(text in "[0-9,x -]{0,30}", index in 0..40_usize) {
        let _ = has(Some(&text), index);
    }

    #[test]
    fn an_index_is_in_the_list_that_has_it(indexes in proptest::collection::btree_set(0..30_usize, 0..20), probe in 0..30_usize) {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for index in &indexes {
            match ranges.last_mut().filter(|(_, last)| last + 1 == *index) {
                Some((_, last)) => *last = *index,
                None => ranges.push((*index, *index)),
            }
        }
        let spell = |(first, last): &(usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
        let text = ranges.iter().map(spell).collect::<Vec<_>>().join(",");
        prop_assert_eq!(has(Some(&text), probe), indexes.contains(&probe));
    }

    #[test]
    fn what_others_wrote_is_one_short_line(text in "(?s).{0,400}") {
        let line = said(&text);
        prop_assert!(!line.contains('\n') && line.chars().count() <= SAID_CHARS_MAX + 3);
    }
}
