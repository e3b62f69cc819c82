import type { VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { Icon } from '../ui/icon.jsx';
import { useSteps } from '../ui/use-now.js';
import { Changes } from './changes.jsx';
import { DataSources } from './data-sources.jsx';
import { Conflicts, Problems } from './problems.jsx';
import { Replicas } from './replicas.jsx';
import { Kubernetes, Rounds } from './rounds.jsx';
import { TONE_ICONS, verdictsOf } from './verdicts.js';
import './health.css';

const STEP_MS = 5000;

interface HealthContentProps {
  readonly status: ServiceStatus;
}

export function HealthContent({ status }: HealthContentProps): VNode {
  return (
    <>
      <dl class="health-verdicts">
        {verdictsOf(status, useSteps(STEP_MS)).map(({ subject, tone, text }) => (
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
        <DataSources status={status} />
        <Problems status={status} />
        <Conflicts status={status} />
        <Rounds status={status} />
        <Kubernetes status={status} />
        <Replicas status={status} />
        <Changes status={status} />
      </div>
    </>
  );
}
