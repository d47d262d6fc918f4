// SPDX-License-Identifier: Apache-2.0
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { followEvents } from "./api/live";
import { listenForKeys } from "./base/keys";
import { App } from "./pages/app";
import "./styles/tokens.css";
import "./styles/base.css";

const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: Infinity, gcTime: 120_000, refetchOnWindowFocus: false },
  },
});
followEvents(client);
listenForKeys();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
