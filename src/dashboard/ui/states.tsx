import { Component, type ComponentChildren, type VNode } from 'preact';
import type { ApiError } from '../data/api-error.js';
import { Icon } from './icon.jsx';
import { Sentence } from './time.jsx';

interface WaitingProps {
  readonly error: ApiError | null;
  readonly onRetry: () => void;
}

/** Shows that an answer is loading, or why the request failed. */
export function Waiting({ error, onRetry }: WaitingProps): VNode {
  if (error === null)
    return (
      <div class="state-view" role="status">
        <p class="loading">Loading…</p>
      </div>
    );
  return <ErrorView title={titleOf(error)} message={error.message} onRetry={onRetry} />;
}

function titleOf({ kind }: ApiError): string {
  if (kind === 'not-found') return 'Not found';
  if (kind === 'unauthorized') return 'A token is required';
  if (kind === 'forbidden') return 'Not allowed';
  return 'No data';
}

interface ErrorViewProps {
  readonly title: string;
  readonly message: string;
  readonly onRetry?: () => void;
}

export function ErrorView({ title, message, onRetry }: ErrorViewProps): VNode {
  return (
    <div class="state-view" role="alert">
      <h2>
        <Icon name="error" />
        {title}
      </h2>
      <p>
        <Sentence text={message} />
      </p>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

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
        message="The response of promscaler cannot be shown. Reload the page. If the error persists, report a bug and attach the output of the browser console."
        onRetry={() => this.setState({ hasFailed: false })}
      />
    );
  }
}

/** Shows that the code of a part of the page could not be loaded. */
export function PartMissing(): VNode {
  return <ErrorView title="A part of this page is missing" message={PART_MISSING} />;
}

const PART_MISSING =
  'The code cannot be loaded: promscaler cannot be reached, or has a new version. Reload the page.';

interface EmptyViewProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

export function EmptyView({ title, children }: EmptyViewProps): VNode {
  return (
    <div class="state-view">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Notice({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <div class="notice" role="status">
      <Icon name="warning" />
      <div>{children}</div>
    </div>
  );
}
