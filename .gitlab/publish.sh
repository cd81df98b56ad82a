#!/bin/bash
# A release in GitLab, run by a job of .gitlab-ci.yml: the packages of both architectures go into the package registry of the project, a
# tag names the commit that has their checksums, and a release names the tag.
#
#   .gitlab/publish.sh DIST
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly dist=$1
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
readonly version api=$CI_API_V4_URL/projects/$CI_PROJECT_ID
readonly packages=$api/packages/generic/tare-http/$version
call() { curl --fail --silent --show-error --header "JOB-TOKEN: $CI_JOB_TOKEN" "$@"; }
refuse() {
    printf 'publish: %s\n' "$*" >&2
    exit 1
}

grep -q "^## \[$version\]" CHANGELOG.md || refuse "CHANGELOG.md has no section [$version]"
[[ -z $(git ls-remote origin "refs/tags/v$version") ]] || refuse "there is a tag v$version already"

rm -f "$dist/SHA256SUMS"
sums=$(cd "$dist" && sha256sum -- *)
printf '%s\n' "$sums" >"$dist/SHA256SUMS"
for file in "$dist"/*; do
    call --upload-file "$file" "$packages/${file##*/}" >/dev/null
done

scripts/install.sh --pin "$dist" "$packages"
git -c user.name="${GITLAB_USER_NAME:-release}" -c user.email="${GITLAB_USER_EMAIL:-release@localhost}" \
    commit --quiet --message "release: the checksums of the packages of v$version" -- scripts/released.txt
git tag "v$version"
git push --quiet "https://gitlab-ci-token:$CI_JOB_TOKEN@${CI_SERVER_HOST}/$CI_PROJECT_PATH.git" "v$version"

python3 - "$version" "$packages" "$dist" <<'END' >release.json
import json, pathlib, sys

version, packages, dist = sys.argv[1:]
sections = pathlib.Path("CHANGELOG.md").read_text().split("\n## ")
notes = next(section for section in sections if section.startswith(f"[{version}]")).partition("\n")[2]
links = [{"name": file.name, "url": f"{packages}/{file.name}", "link_type": "package"} for file in sorted(pathlib.Path(dist).iterdir())]
print(json.dumps({"tag_name": f"v{version}", "name": f"Tare {version}", "description": notes, "assets": {"links": links}}))
END
call --header 'Content-Type: application/json' --data @release.json "$api/releases" >/dev/null
