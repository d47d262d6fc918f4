// SPDX-License-Identifier: Apache-2.0
// The script and the style of the HTML report, which the program embeds: one file each, the same
// bytes from the same sources, and kept in the repository so that it builds without Node.
import { defineConfig, type Plugin } from "vite";

const ORIGIN = "SPDX-License-Identifier: Apache-2.0. Made by `./dev web report` from web/.";

function named(): Plugin {
  return {
    name: "named",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") file.code = `// ${ORIGIN}\n${file.code.trim()}\n`;
        else file.source = `/* ${ORIGIN} */\n${String(file.source).trim()}\n`;
      }
    },
  };
}

export default defineConfig({
  plugins: [named()],
  publicDir: false,
  build: {
    target: "es2022",
    outDir: "../src/report/html/assets",
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: {
      entry: "src/report/main.ts",
      formats: ["iife"],
      name: "gpufl",
      fileName: () => "report.js",
      cssFileName: "report",
    },
  },
});
