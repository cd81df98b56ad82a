// Makes `dist/` of the sources: what `crates/report` embeds into every page. It is kept in git, so that whoever builds
// Tare needs no node. `node build.js --check` writes nothing, and fails where `dist/` is not what the sources give.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

// `import.meta.dirname` would be shorter, and wants a newer node than the 18 of Debian 12.
process.chdir(fileURLToPath(new URL(".", import.meta.url)));

const common = { bundle: true, charset: "utf8", logLevel: "error", target: "es2022", write: false };
const parts = [
  // Only pages with a flame graph have it.
  { entryPoints: ["src/flame.js"], outfile: "dist/flame.js", format: "iife" },
  // Not minified: its changes can be read in a diff, and it is small.
  { entryPoints: ["src/page.js"], outfile: "dist/page.js", format: "iife" },
  { entryPoints: ["src/page.css"], outfile: "dist/page.css" },
  // Only the pages of a site have these.
  { entryPoints: ["src/site.js"], outfile: "dist/site.js", format: "iife" },
  { entryPoints: ["src/site.css"], outfile: "dist/site.css" },
];

const check = process.argv.includes("--check");
for (const part of parts) {
  const made = await build({ ...common, ...part });
  const text = made.outputFiles[0].text;
  if (text.includes("</script") || text.includes("</style")) {
    throw new Error(`"${part.outfile}" would end the element that it is embedded in`);
  }
  if (!check) {
    await writeFile(part.outfile, text);
  } else if ((await readFile(part.outfile, "utf8")) !== text) {
    throw new Error(`"${part.outfile}" is not what the sources give: run "npm run build" in web/`);
  }
}
