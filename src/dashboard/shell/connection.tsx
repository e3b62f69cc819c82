import type { VNode } from 'preact';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import type { LiveState } from '../data/live-events.js';
import { formatDuration } from '../ui/times.js';
import { Icon } from '../ui/icon.jsx';
import { Time } from '../ui/time.jsx';
import { useSteps } from '../ui/use-now.js';

interface ConnectionProps {
  readonly api: Api;
  /** Time of the last round of decisions, in RFC 3339; null: unknown. */
  readonly lastRound: string | null;
}

/**
 * Shows whether the page receives changes. Shows nothing while the viewer must enter a token, because no connection is
 * lost then.
 */
export function Connection({ api, lastRound }: ConnectionProps): VNode | null {
  const state = useCell(api.live.state);
  const { demand } = useCell(api.session.state);
  if (demand !== null) return null;
  if (state.kind === 'broken') return <Broken api={api} state={state} />;
  if (state.kind === 'connecting') return <span class="connection connection-detail muted">Connecting</span>;
  return (
    <span class="connection muted" title="Changes appear at once">
      <span>Live</span>
      {lastRound === null ? null : (
        <span class="connection-detail muted">
          · last round <Time at={lastRound} />
        </span>
      )}
    </span>
  );
}

interface BrokenProps {
  readonly api: Api;
  readonly state: Extract<LiveState, { kind: 'broken' }>;
}

function Broken({ api, state }: BrokenProps): VNode {
  const nowMs = useSteps(1000);
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
