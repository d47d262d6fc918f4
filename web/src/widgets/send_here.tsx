// SPDX-License-Identifier: Apache-2.0
// In a workspace that has nothing yet: how a machine sends to this server.
import type { ReactNode } from "react";
import { SERVER_PAGE, workspace } from "../base/place";
import { Copyable } from "./parts";
import "./send_here.css";

// `record`: what to run on the machine, once it knows the server.
export function SendHere({ record, children }: { record: string; children: ReactNode }) {
  const server = new URL(SERVER_PAGE, window.location.href).href.replace(/[#?].*|\/$/g, "");
  return (
    <ol className="send-here">
      <li>
        Whoever runs this server makes a key for the machine:
        <pre>
          <Copyable text={`gpufl admin key add MACHINE --workspace ${workspace} --data DIR`} />
        </pre>
      </li>
      <li>
        On the machine, this asks for the key and keeps it:
        <pre>
          <Copyable text={`gpufl login ${server}`} />
        </pre>
      </li>
      <li>
        {children}
        <pre>
          <Copyable text={record} />
        </pre>
      </li>
    </ol>
  );
}
