import { Component } from 'preact';
import type { ComponentChildren } from 'preact';
import { ErrorView } from './states.jsx';

interface ErrorBoundaryProps {
  readonly children: ComponentChildren;
}

/** Shows an error in place of a page that cannot be rendered, so that the rest of the dashboard still works. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  override componentDidCatch(error: unknown): void {
    this.setState({ hasFailed: true });
    console.error(error);
  }

  override render(): ComponentChildren {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <ErrorView
        title="This page failed"
        message="It cannot draw the answer of promscaler. Reload the page; if that does not help, report a bug with the console of the browser."
        onRetry={() => this.setState({ hasFailed: false })}
      />
    );
  }
}
