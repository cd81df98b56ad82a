"""A Python wheel that carries a program and nothing for Python: `pip install` puts it on PATH.

The form is that of the packaging specifications (binary distribution format): a zip archive whose `.data/scripts` and
`.data/data` go to the `bin` and to the root of an environment. All files have the time of SOURCE_DATE_EPOCH, so that the
same input gives the same bytes.
"""

import argparse
import base64
import hashlib
import os
import time
import zipfile
from pathlib import Path


def main() -> None:
    args = arguments()
    name = args.name.replace("-", "_")
    stem = f"{name}-{args.version}"
    files = dict(contents(args, stem))
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},{digest(data)},{len(data)}" for path, (data, _) in files.items()]
    files[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644
    write(args.out / f"{stem}-py3-none-{args.platform}.whl", files, args.level)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("name", "version", "platform", "summary"):
        parser.add_argument(f"--{option}", required=True)
    for option in ("readme", "staged", "out"):
        parser.add_argument(f"--{option}", required=True, type=Path)
    parser.add_argument("--level", type=int, default=9)
    return parser.parse_args()


def contents(args: argparse.Namespace, stem: str):
    """Path in the archive, with content and mode; the metadata comes last, as the specification asks for."""
    for path in sorted(args.staged.rglob("*")):
        if not path.is_file():
            continue
        inside = path.relative_to(args.staged).as_posix()
        if inside.startswith("bin/"):
            yield f"{stem}.data/scripts/{inside.removeprefix('bin/')}", (path.read_bytes(), 0o755)
        else:
            yield f"{stem}.data/data/{inside}", (path.read_bytes(), 0o644)
    # Where tools look for what is inside of a wheel (PEP 770).
    for path in sorted(args.staged.rglob("sbom.cdx.json")):
        yield f"{stem}.dist-info/sboms/{args.name}.cdx.json", (path.read_bytes(), 0o644)
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        yield f"{stem}.dist-info/licenses/{licence}", (Path(licence).read_bytes(), 0o644)
    metadata = (
        f"Metadata-Version: 2.4\nName: {args.name}\nVersion: {args.version}\nSummary: {args.summary}\n"
        "License-Expression: Apache-2.0 OR MIT\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n"
        "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Topic :: System :: Benchmark\nRequires-Python: >=3.7\n"
        f"Description-Content-Type: text/markdown\n\n{args.readme.read_text()}"
    )
    yield f"{stem}.dist-info/METADATA", (metadata.encode(), 0o644)
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in args.platform.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: tare\nRoot-Is-Purelib: false\n{tags}"
    yield f"{stem}.dist-info/WHEEL", (wheel.encode(), 0o644)


def digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(path: Path, files: dict, level: int) -> None:
    made = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for inside, (data, mode) in files.items():
            entry = zipfile.ZipInfo(inside, made)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data, compresslevel=level)


if __name__ == "__main__":
    main()
