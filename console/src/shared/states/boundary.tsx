import { Component, type ReactNode } from "react";
import { FailureState } from "./states";

/** A broken pane never takes the page. */
export class Boundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  state: { error?: unknown } = {};
  static getDerivedStateFromError = (error: unknown) => ({ error });
  render() {
    if (this.state.error === undefined) return this.props.children;
    return <FailureState error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
