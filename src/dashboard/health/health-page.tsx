import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import { serviceRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { formatDistance, parseTime } from '../format/times.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { Outdated, PartMissing, Waiting } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { usePart } from '../ui/use-part.js';

const EVERY_MS = 10_000;

/** Shows the state of the service. Code and data are loaded in parallel. */
export function HealthPage({ api }: { readonly api: Api }): VNode {
  const { value, error, refresh } = useAnswer(api, serviceRequest(), {
    everyMs: EVERY_MS,
    isAffected: ({ type }) => type === 'reload' || type === 'failure',
  });
  const nowMs = useNow(api.clock, 1000);
  const { part, hasFailed } = usePart(loadContent, true);
  if (value === null || part === null)
    return (
      <>
        <PageHeading title="Health" />
        {hasFailed ? <PartMissing /> : <Waiting error={value === null ? error : null} onRetry={refresh} />}
      </>
    );
  return (
    <>
      <PageHeading title="Health">
        <p class="muted">{introduction(value, nowMs)}</p>
      </PageHeading>
      <Outdated error={error} at={value.at} nowMs={nowMs} />
      <part.HealthContent status={value} nowMs={nowMs} />
    </>
  );
}

function introduction({ version, startedAt, identity }: ServiceStatus, nowMs: number): string {
  const startedMs = parseTime(startedAt);
  const age = startedMs === null ? '' : `, started ${formatDistance(startedMs, nowMs)}`;
  return `${identity}, version ${version}${age}`;
}

const loadContent = () => import('./health-content.jsx');
