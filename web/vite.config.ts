// SPDX-License-Identifier: Apache-2.0
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Addresses are relative and routes are in the fragment, so that the pages work behind any prefix.
// `vite` alone serves the sources and passes requests on to a running `gpufl serve`: GPUFL_SERVER
// is its address, GPUFL_TOKEN its token.
declare const process: { env: Record<string, string | undefined> };
const server = process.env["GPUFL_SERVER"] ?? "http://127.0.0.1:9486";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // Those of e2e/ need a server and a browser.
  test: { include: ["src/**/*.test.{ts,tsx}"], css: { include: [/tokens\.css/] } },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        headers: { Authorization: `Bearer ${process.env["GPUFL_TOKEN"] ?? ""}`, Origin: server },
      },
    },
  },
});
