"""Two npm packages: one carries the program for this architecture, the other has the command, its manual and its completions.

The second names the first, and that of every other architecture, as an optional dependency: npm installs the one whose `os` and
`cpu` are those of the machine, and nothing runs at install. One package with all binaries would make each user download those of
other machines. All files have the time of SOURCE_DATE_EPOCH, so that the same input gives the same bytes.
"""

import argparse
import gzip
import io
import json
import os
import tarfile
from pathlib import Path

CPUS = {"x86_64": "x64", "aarch64": "arm64"}


def main() -> None:
    args = arguments()
    common = {
        "version": args.version,
        "description": args.summary,
        "license": "Apache-2.0 OR MIT",
        "repository": {"type": "git", "url": f"git+{args.repository}.git"},
        "os": ["linux"],
    }
    licences = {f"LICENSE-{kind}": Path(f"LICENSE-{kind}").read_bytes() for kind in ("APACHE", "MIT")}
    write(args, *program(args, common, licences))
    write(args, *command(args, common, licences))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("name", "version", "machine", "libc", "summary", "repository"):
        parser.add_argument(f"--{option}", required=True)
    for option in ("readme", "launcher", "staged", "out"):
        parser.add_argument(f"--{option}", required=True, type=Path)
    parser.add_argument("--level", type=int, default=9)
    return parser.parse_args()


def of_platform(name: str, cpu: str) -> str:
    return f"{name}-linux-{cpu}"


def program(args: argparse.Namespace, common: dict, licences: dict):
    cpu = CPUS[args.machine]
    name = of_platform(args.name, cpu)
    manifest = {"name": name, **common, "cpu": [cpu], "preferUnplugged": True}
    # A static program runs with any C library.
    if args.libc != "musl":
        manifest["libc"] = ["glibc"]
    readme = f"The program of [{args.name}](https://www.npmjs.com/package/{args.name}) for Linux on {cpu}. Install that one.\n"
    files = {"README.md": readme.encode(), **licences, **below(args.staged, "bin"), **below(args.staged, "share/doc")}
    return name, manifest, files


def command(args: argparse.Namespace, common: dict, licences: dict):
    shared = {path: data for path, data in below(args.staged, "share").items() if not path.startswith("share/doc")}
    manifest = {
        "name": args.name,
        **common,
        "cpu": list(CPUS.values()),
        "bin": {"tare": "bin/tare.js"},
        "man": [path for path in shared if path.startswith("share/man/")],
        "engines": {"node": ">=14"},
        "optionalDependencies": {of_platform(args.name, cpu): args.version for cpu in CPUS.values()},
    }
    files = {"README.md": args.readme.read_bytes(), **licences, "bin/tare.js": args.launcher.read_bytes(), **shared}
    return args.name, manifest, files


def below(staged: Path, folder: str) -> dict:
    paths = sorted(path for path in (staged / folder).rglob("*") if path.is_file())
    return {path.relative_to(staged).as_posix(): path.read_bytes() for path in paths}


def write(args: argparse.Namespace, name: str, manifest: dict, files: dict) -> None:
    made = int(os.environ["SOURCE_DATE_EPOCH"])
    files = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode(), **files}
    packed = gzip.GzipFile("", "wb", args.level, open(args.out / f"{name}-{args.version}.tgz", "wb"), made)
    with packed, tarfile.open(mode="w", fileobj=packed, format=tarfile.USTAR_FORMAT) as archive:
        for inside, data in files.items():
            entry = tarfile.TarInfo(f"package/{inside}")
            entry.size, entry.mtime = len(data), made
            entry.mode = 0o755 if inside.startswith("bin/") else 0o644
            archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    main()
