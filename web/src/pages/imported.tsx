// SPDX-License-Identifier: Apache-2.0
// Sessions that another tool recorded: advice has to be that tool's.
import { useSection } from "../api/hooks";
import type { Capability } from "../api/types";
import { WithCode } from "./kernels/with_code";

const TOOLS: Record<string, { name: string; stacks: string }> = {
  torch_profiler: { name: "torch.profiler", stacks: "profile with `with_stack=True`" },
  nsight_systems: {
    name: "Nsight Systems",
    stacks: "record with `nsys profile --cudabacktrace=all`",
  },
};

// Its name in the log; null: gpufl itself recorded it.
export function importedFrom(capabilities: Capability[]): string | null {
  const found = capabilities.find(
    ({ feature, reason }) => feature === "recording" && reason === "imported",
  );
  return found?.got ?? null;
}

// Undefined: not known yet.
export function useImportedFrom(session: string): string | null | undefined {
  const capabilities = useSection(session, "capabilities").data;
  return capabilities && importedFrom(capabilities);
}

export function toolName(tool: string): string {
  return TOOLS[tool]?.name ?? tool.replaceAll("_", " ");
}

// What makes that tool keep the lines of the program.
export function ImportedStacks({ tool }: { tool: string }) {
  const how = TOOLS[tool]?.stacks;
  return (
    <p>
      It was imported from {toolName(tool)}, whose trace does not have the lines.
      {how !== undefined && (
        <>
          {" "}
          To have them: <WithCode text={how} />.
        </>
      )}
    </p>
  );
}
