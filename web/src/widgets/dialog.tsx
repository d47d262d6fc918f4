// SPDX-License-Identifier: Apache-2.0
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import "./dialog.css";

// A native modal dialog. It is open as long as it is rendered: Escape, a click beside it and its own
// buttons ask for it to go by onClose.
export function Dialog({
  title,
  label,
  onClose,
  children,
  className = "",
}: {
  // Shown above the content; a dialog without one has a label.
  title?: string;
  label?: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  // The page below must not act on keys that are typed here.
  const onKeyDown = (event: KeyboardEvent) => event.stopPropagation();
  return (
    <dialog
      ref={element}
      className={`dialog ${className}`}
      tabIndex={-1}
      {...(title === undefined ? { "aria-label": label } : { "aria-labelledby": titleId })}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div className="dialog-body">
        {title !== undefined && (
          <h2 id={titleId} className="dialog-title">
            {title}
          </h2>
        )}
        {children}
      </div>
    </dialog>
  );
}
