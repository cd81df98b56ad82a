"""The bill of materials of the command, as CycloneDX 1.5: each crate that is in the binary, and each that only builds it.

Cargo says which: `cargo tree` resolves features as a build of the command does, `cargo metadata` has the edges and the licences,
and Cargo.lock the hashes of what the registry serves. A crate that is only compiled for build scripts and macros has the scope
`excluded`. C code that a crate brings (aws-lc-sys) is a part of that crate here.
"""

import argparse
import json
import os
import subprocess
import time
import tomllib
import uuid
from pathlib import Path

NAME = "tare-http"


def main() -> None:
    args = arguments()
    bom = bill(args)
    # The same content has the same number.
    text = json.dumps(bom, sort_keys=True)
    bom["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, text).urn
    args.out.write_text(json.dumps(bom, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True)
    parser.add_argument("--cargo", default="cargo")
    parser.add_argument("--out", required=True, type=Path)
    return parser.parse_args()


def bill(args: argparse.Namespace) -> dict:
    # Build scripts run here, so crates of this machine are among those that build the command.
    here = next(line.split()[1] for line in run("rustc", "-vV").splitlines() if line.startswith("host: "))
    platforms = [f"--filter-platform={platform}" for platform in sorted({here, args.target})]
    metadata = json.loads(run(args.cargo, "metadata", "--locked", "--format-version=1", *platforms))
    packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
    linked = tree(args, "normal,no-proc-macro")
    built = tree(args, "normal,build")
    root = next(key for key in linked if key[0] == NAME)
    hashes = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock()["package"]}
    rust = run("rustc", "--version").split()[1]
    parts = [component(packages[key], hashes[key], key in linked) for key in sorted(built) if key != root]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
            "component": {**component(packages[root], None, True), "type": "application"},
            "properties": [{"name": "tare:target", "value": args.target}],
        },
        "components": [*parts, standard_library(rust)],
        "dependencies": edges(metadata, built),
    }


def tree(args: argparse.Namespace, kinds: str) -> set:
    """Names with versions of what the command needs through edges of these kinds."""
    form = ["--prefix=none", "--format={p}", f"--target={args.target}", f"--edges={kinds}"]
    lines = run(args.cargo, "tree", "--locked", f"--package={NAME}", *form).splitlines()
    words = [line.split() for line in lines if line]
    return {(word[0], word[1].removeprefix("v")) for word in words}


def component(package: dict, checksum: str | None, is_linked: bool) -> dict:
    purl = f"pkg:cargo/{package['name']}@{package['version']}"
    part = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl}
    part["scope"] = "required" if is_linked else "excluded"
    if checksum:
        part["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        # Older crates part alternatives by a slash.
        part["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package["repository"]:
        part["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return part


def standard_library(rust: str) -> dict:
    return {
        "type": "library",
        "bom-ref": f"rust-std@{rust}",
        "name": "rust-std",
        "version": rust,
        "description": "The standard library of Rust; for a target with musl also musl and libunwind, as the target brings them",
        "scope": "required",
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
    }


def edges(metadata: dict, built: set) -> list:
    keys = {package["id"]: (package["name"], package["version"]) for package in metadata["packages"]}
    dependencies = []
    for node in metadata["resolve"]["nodes"]:
        if keys[node["id"]] not in built:
            continue
        kinds = {dep["pkg"]: {kind["kind"] for kind in dep["dep_kinds"]} for dep in node["deps"]}
        used = {keys[package] for package, kind in kinds.items() if kind != {"dev"}} & built
        refs = sorted(f"pkg:cargo/{name}@{version}" for name, version in used)
        name, version = keys[node["id"]]
        dependencies.append({"ref": f"pkg:cargo/{name}@{version}", "dependsOn": refs})
    return sorted(dependencies, key=lambda entry: entry["ref"])


def lock() -> dict:
    return tomllib.loads(Path("Cargo.lock").read_text())


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
