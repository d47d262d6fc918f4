// SPDX-License-Identifier: Apache-2.0
// What fails leaves the rest working: of a panel, the other panels; of a page, the frame around it.
import { Component, type ReactNode } from "react";
import { failureOf } from "./failure";
import { Failed } from "./states";

interface Props {
  // "page" or "panel".
  what: string;
  // Another one gives it another try.
  of: string;
  children: ReactNode;
}

export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: Props) {
    if (before.of !== this.props.of && this.state.error !== null) this.setState({ error: null });
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const { problem, action } = failureOf(error, this.props.what);
    const retry = () => {
      if (action === "Reload") window.location.reload();
      else this.setState({ error: null });
    };
    return <Failed problem={problem} retry={retry} action={action} />;
  }
}
