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
        message="The answer of promscaler cannot be shown. Reload the page; if the error persists, report a bug with the console of the browser."
        onRetry={() => this.setState({ hasFailed: false })}
      />
    );
  }
}
