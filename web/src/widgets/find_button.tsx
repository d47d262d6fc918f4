// SPDX-License-Identifier: Apache-2.0
// Opens the palette, and says which keys do.
import { keyParts } from "./key_groups";
import { openPalette } from "./palette";
import { Kbd } from "./parts";
import "./find_button.css";

export function FindButton({ what }: { what: string }) {
  return (
    <button className="find" onClick={openPalette}>
      Find <span className="what">{what}</span> <Kbd>{keyParts("Mod+k").join(" ")}</Kbd>
    </button>
  );
}
