import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import { Icon } from '../ui/icon.jsx';
import { Time } from '../ui/time.jsx';
import { useNow } from '../ui/use-now.js';
import { notLiveOf } from './warnings.js';

interface ConnectionProps {
  readonly api: Api;
  /** Null: it is not known yet. */
  readonly status: ServiceStatus | null;
}

const TEXTS = { connecting: 'Connecting', open: 'Live', broken: 'Read every 10 s' } as const;

/** Shows how current the page is: whether it receives changes, and when the last decisions were made. */
export function Connection({ api, status }: ConnectionProps): VNode {
  const { kind } = useCell(api.live.state);
  const loads = useCell(api.loads);
  const why = useNow((nowMs) => notLiveOf(status, loads, nowMs) ?? '');
  const last = status?.rounds.last ?? null;
  return (
    <span
      class={`connection ${why === '' ? 'muted' : 'tone-bad'}`}
      title={kind === 'open' ? 'Changes appear at once' : undefined}
    >
      {why === '' ? null : <Icon name="warning" />}
      <span>{why === '' ? TEXTS[kind] : why}</span>
      {last === null ? null : (
        <span class="muted">
          <span class="connection-detail">· last round</span> <Time at={last.at} />
        </span>
      )}
    </span>
  );
}
