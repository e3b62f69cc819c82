import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { plural } from '../ui/numbers.js';
import { Icon } from '../ui/icon.jsx';
import { HEALTH_LINK } from '../ui/links.js';
import { useHash } from '../ui/use-hash.js';
import { useSteps } from '../ui/use-now.js';
import { warningsOf } from './warnings.js';
import './service-line.css';

interface ServiceLineProps {
  readonly status: ServiceStatus;
  /** Why the status is outdated; null: it is current. */
  readonly error: string | null;
}

/** Maximum number of lines: more would hide the page. */
const MOST_LINES = 2;
const STEP_MS = 10_000;

/** Shows the problems of the service below the header of each page; nothing if there are none. */
export function ServiceLine({ status, error }: ServiceLineProps): VNode | null {
  const warnings = warningsOf(status, error, useSteps(STEP_MS));
  const more = warnings.length - MOST_LINES;
  const isOnHealth = useHash().startsWith(HEALTH_LINK);
  if (warnings.length === 0) return null;
  return (
    <div class="service-line" role="status">
      {warnings.slice(0, MOST_LINES).map(({ tone, text }, index) => (
        <p key={text} class={`tone-${tone}`}>
          <Icon name={tone === 'bad' ? 'error' : 'warning'} />
          <span>
            <bdi>{text}</bdi>
            {isOnHealth || (index < MOST_LINES - 1 && more > -1) ? null : (
              <a href={HEALTH_LINK}>{more > 0 ? `and ${plural(more, 'more problem')}` : 'Health'}</a>
            )}
          </span>
        </p>
      ))}
    </div>
  );
}
