import type { VNode } from 'preact';
import type { ServiceStatus } from '../data/answers.js';
import type { Api } from '../data/api.js';
import { serviceRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { formatDistance, formatLocal, parseTime } from '../format/times.js';
import { Icon } from '../ui/icon.jsx';
import { PageHeading } from '../ui/page-heading.jsx';
import { Notice, Waiting } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { Changes } from './changes.jsx';
import { DataSources } from './data-sources.jsx';
import { Conflicts, Problems } from './problems.jsx';
import { Replicas } from './replicas.jsx';
import { Kubernetes, Rounds } from './rounds.jsx';
import { TONE_ICONS, verdictsOf } from './verdicts.js';

const EVERY_MS = 10_000;

export function HealthPage({ api }: { readonly api: Api }): VNode {
  const { value, error, refresh } = useAnswer(api, serviceRequest(), {
    everyMs: EVERY_MS,
    isAffected: ({ type }) => type === 'reload' || type === 'failure',
  });
  const nowMs = useNow(api.clock, 1000);
  if (value === null)
    return (
      <>
        <PageHeading title="Health" />
        <Waiting error={error} onRetry={refresh} />
      </>
    );
  const atMs = parseTime(value.at);
  return (
    <>
      <PageHeading title="Health">
        <p class="muted">{introduction(value, nowMs)}</p>
      </PageHeading>
      {error === null ? null : (
        <Notice>
          Outdated{atMs === null ? '' : `, as of ${formatLocal(atMs, nowMs)}`}: {error.message}.
        </Notice>
      )}
      <Verdicts status={value} nowMs={nowMs} />
      <div class="health">
        <DataSources status={value} nowMs={nowMs} />
        <Problems status={value} />
        <Conflicts status={value} />
        <Rounds status={value} nowMs={nowMs} />
        <Kubernetes status={value} nowMs={nowMs} />
        <Replicas status={value} />
        <Changes status={value} nowMs={nowMs} />
      </div>
    </>
  );
}

function introduction({ version, startedAt, identity }: ServiceStatus, nowMs: number): string {
  const startedMs = parseTime(startedAt);
  const age = startedMs === null ? '' : `, started ${formatDistance(startedMs, nowMs)}`;
  return `${identity}, version ${version}${age}`;
}

function Verdicts({ status, nowMs }: { readonly status: ServiceStatus; readonly nowMs: number }): VNode {
  return (
    <dl class="verdicts">
      {verdictsOf(status, nowMs).map(({ subject, tone, text }) => (
        <div key={subject} class={`verdict tone-${tone}`}>
          <dt>{subject}</dt>
          <dd>
            <Icon name={TONE_ICONS[tone]} />
            {text}
          </dd>
        </div>
      ))}
    </dl>
  );
}
