// SPDX-License-Identifier: Apache-2.0
// Beside a session of a workspace, for those who may share it.
import { lazy, Suspense, useState } from "react";
import { useSharing } from "../../api/shares";

const ShareDialog = lazy(() => import("./share_dialog"));

export function ShareSession({ session }: { session: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const sharing = useSharing().data;
  if (!sharing) return null;
  return (
    <>
      <button className="btn" onClick={() => setIsOpen(true)}>
        Share session
      </button>
      {isOpen && (
        <Suspense>
          <ShareDialog session={session} sharing={sharing} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
