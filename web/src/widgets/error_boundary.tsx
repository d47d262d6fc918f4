// SPDX-License-Identifier: Apache-2.0
// A page that fails leaves the rest working: the frame around it stays, and another page can be opened.
import { Component, type ReactNode } from "react";
import { Problem } from "../api/client";
import { Failed } from "./states";

interface Props {
  // Another one gives the page another try.
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
    const detail = error instanceof Error ? error.message : String(error);
    return (
      <Failed
        problem={new Problem(-1, "This page failed", detail)}
        retry={() => window.location.reload()}
      />
    );
  }
}
