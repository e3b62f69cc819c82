import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { Icon } from '../ui/icon.jsx';
import { Changes } from './changes.jsx';
import { DataSources } from './data-sources.jsx';
import { Conflicts, Problems } from './problems.jsx';
import { Replicas } from './replicas.jsx';
import { Kubernetes, Rounds } from './rounds.jsx';
import { TONE_ICONS, verdictsOf } from './verdicts.js';
import './health.css';

interface HealthContentProps {
  readonly status: ServiceStatus;
  readonly nowMs: number;
}

export function HealthContent({ status, nowMs }: HealthContentProps): VNode {
  return (
    <>
      <dl class="health-verdicts">
        {verdictsOf(status, nowMs).map(({ subject, tone, text }) => (
          <div key={subject} class={`health-verdict tone-${tone}`}>
            <dt>{subject}</dt>
            <dd>
              <Icon name={TONE_ICONS[tone]} />
              {text}
            </dd>
          </div>
        ))}
      </dl>
      <div class="health">
        <DataSources status={status} nowMs={nowMs} />
        <Problems status={status} />
        <Conflicts status={status} />
        <Rounds status={status} nowMs={nowMs} />
        <Kubernetes status={status} nowMs={nowMs} />
        <Replicas status={status} />
        <Changes status={status} nowMs={nowMs} />
      </div>
    </>
  );
}
