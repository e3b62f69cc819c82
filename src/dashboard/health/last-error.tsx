import type { VNode } from 'preact';
import { UNKNOWN } from '../ui/numbers.js';
import { Time } from '../ui/time.jsx';

interface LastErrorProps {
  readonly error: { readonly at: string; readonly message: string } | null;
}

export function LastError({ error }: LastErrorProps): VNode {
  if (error === null) return <span class="muted">{UNKNOWN}</span>;
  return (
    <span>
      <bdi>{error.message}</bdi>{' '}
      <span class="muted">
        (<Time at={error.at} show="ago" />)
      </span>
    </span>
  );
}
