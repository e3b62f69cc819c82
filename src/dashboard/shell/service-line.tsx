import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import { plural } from '../ui/formats.js';
import { useHash } from '../ui/hooks.js';
import { Icon } from '../ui/icon.jsx';
import { HEALTH_LINK } from '../ui/links.js';
import { Sentence, Time, useNow, useSteps } from '../ui/time.jsx';
import { notLiveOf, staleOf, warningsOf } from './warnings.js';
import './service-line.css';

interface ServiceLineProps {
  readonly api: Api;
  /** Null: it is not known yet. */
  readonly status: ServiceStatus | null;
}

/** Maximum number of lines: more would hide the page. */
const MOST_LINES = 2;
const STEP_MS = 10_000;

/** Shows the problems of the service below the header of each page; nothing if there are none. */
export function ServiceLine({ api, status }: ServiceLineProps): VNode | null {
  const stale = staleOf(useCell(api.loads));
  const isBroken = useCell(api.live.state).kind === 'broken';
  const warnings = warningsOf(status, stale, useSteps(stale === null ? STEP_MS : 1000));
  const more = warnings.length - MOST_LINES;
  const isOnHealth = useHash().startsWith(HEALTH_LINK);
  if (warnings.length === 0) return null;
  return (
    <div class="service-line" role="status">
      {warnings.slice(0, MOST_LINES).map(({ tone, text }, index) => (
        <p key={text} class={`tone-${tone}`}>
          <Icon name={tone === 'bad' ? 'error' : 'warning'} />
          <span>
            <Sentence text={text} />
            {isOnHealth || (index < MOST_LINES - 1 && more > -1) ? null : (
              <a href={HEALTH_LINK}>{more > 0 ? `and ${plural(more, 'more problem')}` : 'Health'}</a>
            )}
            {index === 0 && stale !== null && isBroken ? (
              <button type="button" class="link-button" onClick={api.live.retryNow}>
                Try again
              </button>
            ) : null}
          </span>
        </p>
      ))}
    </div>
  );
}

const CONNECTION_TEXTS = { connecting: 'Connecting', open: 'Live', broken: 'Updated every 10 s' } as const;

/** Shows how current the page is: whether it receives changes, and when the last decisions were made. */
export function Connection({ api, status }: ServiceLineProps): VNode {
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
      <span>{why === '' ? CONNECTION_TEXTS[kind] : why}</span>
      {last === null ? null : (
        <span class="muted">
          <span class="connection-detail">· last round</span> <Time at={last.at} />
        </span>
      )}
    </span>
  );
}
