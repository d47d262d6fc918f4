// SPDX-License-Identifier: Apache-2.0
// Builds dist/ and compresses each of its files once, so that the server never has to; the compressed
// ones are what cmake/EmbedDashboard.cmake puts into the program. With --sizes it ends in an error when
// scripts have outgrown their limits.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import { build } from "vite";

const MOST_FIRST = 180_000; // bytes of compressed script that any page needs to show itself
const MOST_ALL = 400_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

// Files come in an order in which index.html.gz, by which the build sees that all are there, is last.
async function compress(output) {
  const names = output.map((file) => file.fileName).filter((name) => name !== "index.html");
  const sizes = new Map();
  for (const name of [...names, "index.html"]) {
    const packed = gzipSync(await readFile(join(dist, name)), {
      level: constants.Z_BEST_COMPRESSION,
    });
    sizes.set(name, packed.length);
    await writeFile(join(dist, `${name}.gz`), packed);
  }
  return sizes;
}

// What has to be loaded before a script runs, itself included.
function closure(chunks, name, found = new Set()) {
  if (found.has(name) || !chunks.has(name)) return found;
  found.add(name);
  for (const next of chunks.get(name).imports) closure(chunks, next, found);
  return found;
}

function checkSizes(output, sizes) {
  const chunks = new Map(
    output.filter((one) => one.type === "chunk").map((one) => [one.fileName, one]),
  );
  const total = (names) => [...names].reduce((sum, name) => sum + sizes.get(name), 0);
  const [entry] = [...chunks.values()].filter((chunk) => chunk.isEntry);
  const first = closure(chunks, entry.fileName);
  const pages = [...chunks.values()].filter((chunk) => chunk.isDynamicEntry);
  const needs = [["the frame", total(first)]];
  for (const page of pages) {
    needs.push([page.name, total(closure(chunks, page.fileName, new Set(first)))]);
  }
  const all = total(chunks.keys());
  const kb = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  for (const [name, bytes] of needs) console.log(`${kb(bytes).padStart(10)}  ${name}`);
  console.log(`${kb(all).padStart(10)}  all scripts`);
  const [worst, most] = needs.reduce((a, b) => (a[1] >= b[1] ? a : b));
  if (most > MOST_FIRST) throw new Error(`${worst} needs over ${kb(MOST_FIRST)} of script`);
  if (all > MOST_ALL) throw new Error(`all scripts together are over ${kb(MOST_ALL)}`);
}

// What is owed to others whose packages are inside, for tools/third_party.py. The lock knows which:
// those that are not for development alone.
async function listPackages() {
  const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const all = {};
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === "" || entry.dev || entry.optional || entry.devOptional || entry.peer) continue;
    const folder = join(root, path);
    const name = (await readdir(folder)).find((file) => /^licen[cs]e(\.|$)/i.test(file));
    const licence = name === undefined ? "" : (await readFile(join(folder, name), "utf8")).trim();
    all[path.replace("node_modules/", "")] = { version: entry.version, licence };
  }
  await writeFile(join(dist, "packages.json"), `${JSON.stringify(all, null, 2)}\n`);
}

try {
  await rm(join(dist, "index.html.gz"), { force: true });
  const { output } = await build({ root, logLevel: "warn" });
  await listPackages();
  const sizes = await compress(output);
  if (process.argv.includes("--sizes")) checkSizes(output, sizes);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
