# Reads service manifests and prints one line for each [[requires]]:
#   SERVICE <tab> the words of `command`, parted by 0x1f <tab> the packages of `debian`, parted by spaces
# Knows just as much TOML as that takes: a fresh Debian has awk, and Python only once this list is installed.

FNR == 1            { finish(); inside = 0; depth = split(FILENAME, part, "/"); service = part[depth - 1] }
open                { array($0); next }
/^[ \t]*\[/         { finish(); inside = ($0 ~ /^[ \t]*\[\[[ \t]*requires[ \t]*\]\]/); next }
inside && match($0, /^[ \t]*(command|debian)[ \t]*=[ \t]*\[/) {
    key = ($0 ~ /^[ \t]*command/) ? "command" : "debian"
    open = 1
    array(substr($0, RLENGTH + 1))
}
END                 { finish() }

# Takes the strings of an array, up to its end or that of the line: an array may go on over several lines.
function array(text,    c, word) {
    while (text != "") {
        c = substr(text, 1, 1)
        if (c == "#") return
        if (c == "]") { open = 0; return }
        if (c == "\"" || c == "'") {
            if (!match(text, c == "\"" ? "^\"(\\\\.|[^\"\\\\])*\"" : "^'[^']*'")) return
            word = substr(text, 2, RLENGTH - 2)
            if (c == "\"") gsub(/\\"/, "\"", word)
            value[key] = value[key] (value[key] == "" ? "" : key == "command" ? "\037" : " ") word
            text = substr(text, RLENGTH + 1)
        } else {
            text = substr(text, 2)
        }
    }
}

function finish() {
    if (value["command"] != "") print service "\t" value["command"] "\t" value["debian"]
    value["command"] = value["debian"] = ""
    open = 0
}
