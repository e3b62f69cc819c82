import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import { formatDuration } from '../format/times.js';
import { Icon } from '../ui/icon.jsx';
import { useNow } from '../ui/use-now.js';

/** Shows whether the page receives changes. */
export function Connection({ api }: { readonly api: Api }): VNode {
  const state = useCell(api.live.state);
  const nowMs = useNow(api.clock, 1000);
  if (state.kind === 'open')
    return (
      <span class="connection tone-good" title="Changes appear at once">
        <Icon name="ok" />
        Live
      </span>
    );
  if (state.kind === 'connecting')
    return (
      <span class="connection tone-quiet">
        <Icon name="clock" />
        Connecting
      </span>
    );
  const seconds = Math.max(0, Math.ceil((state.retryAt - nowMs) / 1000));
  return (
    <span class="connection tone-bad" title={state.message}>
      <Icon name="warning" />
      <span>
        Disconnected <span class="connection-detail">for {formatDuration((nowMs - state.since) / 1000)}</span>
      </span>
      <button type="button" class="link-button" onClick={api.live.retryNow}>
        {seconds > 0 ? `Retry (${seconds} s)` : 'Retry'}
      </button>
    </span>
  );
}
