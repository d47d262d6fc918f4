// SPDX-License-Identifier: Apache-2.0
// What "?" shows: the keys that work right now.
import { Fragment, useState } from "react";
import { activeKeys, useKeys } from "../base/keys";
import { Dialog } from "./dialog";
import { groupKeys, keyParts, type KeyGroup } from "./key_groups";
import { Kbd } from "./parts";
import "./key_help.css";

export function KeyHelp() {
  const [groups, setGroups] = useState<KeyGroup[] | null>(null);
  useKeys([{ keys: "?", what: "Show the keys", run: () => setGroups(groupKeys(activeKeys())) }]);
  if (groups === null) return null;
  return (
    <Dialog title="Keys" className="key-help" onClose={() => setGroups(null)}>
      <div className="key-groups">
        {groups.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(({ keys: pressed, what }) => (
                <Fragment key={`${pressed} ${what}`}>
                  <dt>
                    {keyParts(pressed).map((part, i) => (
                      <Fragment key={i}>
                        {i > 0 && " "}
                        <Kbd>{part}</Kbd>
                      </Fragment>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="dialog-buttons">
        <button className="btn" onClick={() => setGroups(null)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
