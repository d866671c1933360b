//! `examples/batch`: what engines of others need for `stockade batch` is right by their own rules.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Place, STOCKADE, checkout, finish, python_with, skipped};

fn example(name: &str) -> String {
    checkout()
        .join("examples/batch")
        .join(name)
        .to_str()
        .unwrap()
        .to_string()
}

#[test]
fn the_script_for_slurm_runs_a_part_and_is_clean() {
    let place = Place::new();
    place.file(
        "parts/03.jsonl",
        "{\"id\": 1, \"shell\": \"echo one\"}\n{\"shel\": \"x\"}\n",
    );
    fs::create_dir(place.path("results")).unwrap();
    // Slurm's own program starts its arguments.
    place.program("~/bin/srun", "#!/bin/sh\nexec \"$@\"\n");
    std::os::unix::fs::symlink(STOCKADE.to_string(), place.path("~/bin/stockade")).unwrap();
    let path = format!("{}:/usr/bin:/bin", place.path("~/bin").display());
    let mut command = place.command("sh");
    command
        .arg(example("slurm.sh"))
        .args(["--profile", "readonly"])
        .env("PATH", path);
    command.env("SLURM_ARRAY_TASK_ID", "3").env("SLURM_CPUS_PER_TASK", "2");
    for _ in 0..2 {
        let finished = finish(&mut command, b"");
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    }
    let results = fs::read_to_string(place.path("results/03.jsonl")).unwrap();
    assert_eq!(results.lines().count(), 2);
    match Command::new("shellcheck").arg(example("slurm.sh")).output() {
        Ok(checked) => assert_eq!(String::from_utf8_lossy(&checked.stdout), ""),
        Err(_) => skipped("shellcheck isn't installed"),
    }
}

#[test]
fn the_manifest_for_kubernetes_is_valid_and_restricted() {
    const CHECK: &str = "import sys, yaml, json, kubernetes_validate\n\
        job = yaml.safe_load(open(sys.argv[1]))\n\
        kubernetes_validate.validate(job, '1.28', strict=True)\n\
        print(json.dumps(job['spec']['template']['spec']))";
    let Some(python) = python_with(&["kubernetes_validate"]) else {
        return skipped("the Python package kubernetes-validate isn't installed");
    };
    let finished = finish(
        Command::new(python).args(["-c", CHECK, &example("kubernetes.yaml")]),
        b"",
    );
    assert_eq!(finished.stderr(), "");
    let pod: Value = serde_json::from_str(&finished.stdout()).unwrap();
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        pod["securityContext"]["seccompProfile"],
        json!({"type": "RuntimeDefault"})
    );
    let container = &pod["containers"][0]["securityContext"];
    let expected = json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    });
    assert_eq!(container, &expected);
}

#[test]
fn tasks_of_ray_do_the_parts_that_are_missing() {
    let Some(python) = python_with(&["ray"]) else {
        return skipped("the Python package ray isn't installed (`STOCKADE_TEST_PYTHONS` names a Python that has it)");
    };
    let place = Place::new();
    let jobs: Vec<String> = (0..5)
        .map(|i| format!("{{\"id\": {i}, \"shell\": \"echo {i}\"}}\n"))
        .collect();
    place.file("jobs.jsonl", jobs.concat());
    let call = || {
        let mut command = place.command(&python);
        command
            .arg(example("ray_batch.py"))
            .args(["jobs.jsonl", "results", "--profile", "readonly"]);
        // Its sockets have long names below its directory.
        command
            .env("STOCKADE", STOCKADE)
            .env("PART", "2")
            .env("JOBS_AT_ONCE", "1")
            .env("RAY_USAGE_STATS_ENABLED", "0");
        let finished = finish(&mut command, b"");
        assert!(finished.status.success(), "{}", finished.stderr());
    };
    call();
    let part = |name: &str| fs::read_to_string(place.path("results").join(name)).unwrap();
    let all = || ["000000.jsonl", "000001.jsonl", "000002.jsonl"].map(part).concat();
    let told: Vec<Value> = all()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["stdout"].clone())
        .collect();
    assert_eq!(told, (0..5).map(|i| json!(format!("{i}\n"))).collect::<Vec<_>>());
    let (first, last) = (part("000000.jsonl"), part("000002.jsonl"));
    fs::remove_file(place.path("results/000001.jsonl")).unwrap();
    call();
    assert_eq!((part("000000.jsonl"), part("000002.jsonl")), (first, last));
    assert_eq!(part("000001.jsonl").lines().count(), 2);
}
