import { Component, type ReactNode } from "react";
import { Failure } from "./states";

/** A broken pane never takes the page. */
export class Boundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  state: { error?: unknown } = {};
  static getDerivedStateFromError = (error: unknown) => ({ error });
  render() {
    if (this.state.error === undefined) return this.props.children;
    return <Failure error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
