import type { ComponentChildren, VNode } from 'preact';
import type { ServiceStatus } from '../../api/answers.js';
import { formatCount, formatDuration, formatLatency } from '../ui/formats.js';
import { Badge, Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { Section } from '../ui/section.jsx';
import { Table } from '../ui/table.jsx';
import { Sentence, Time, useSteps } from '../ui/time.jsx';
import { DataSources, LastError, Reachability } from './data-sources.jsx';
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

const CHANGE_COLUMNS = [{ title: 'Time' }, { title: 'Scaler' }, { title: 'Replicas' }];

function Changes({ status: { lastOutcomes } }: HealthPartProps): VNode {
  return (
    <Section title="Last changes" isWide>
      {lastOutcomes.length === 0 ? (
        <p class="muted">No replica count has changed since promscaler started.</p>
      ) : (
        <Table
          caption="Last changes"
          columns={CHANGE_COLUMNS}
          rows={lastOutcomes.map(({ namespace, name, at, outcome: { kind, from, to, message } }, index) => ({
            key: `${at} ${namespace}/${name} ${index}`,
            cells: [
              <Time at={at} />,
              <a href={scalerLink(namespace, name)}>
                <bdi>
                  {namespace}/{name}
                </bdi>
              </a>,
              <span>
                {formatCount(from)} <Icon name="right" />
                <span class="visually-hidden">to</span> {formatCount(to)}{' '}
                {kind === 'patched' ? null : (
                  <span class="muted">
                    <Sentence text={message} />
                  </span>
                )}
              </span>,
            ],
          }))}
        />
      )}
    </Section>
  );
}

const REPLICA_COLUMNS = [{ title: 'Name' }, { title: 'State' }, { title: 'Scalers', isNumber: true }];

function Replicas({ status: { leader, replicas } }: { readonly status: ServiceStatus }): VNode {
  const others = leader !== null && !replicas.some(({ identity }) => identity === leader);
  return (
    <Section title="Replicas of promscaler">
      {replicas.length === 0 ? null : (
        <Table
          caption="Replicas of promscaler"
          columns={REPLICA_COLUMNS}
          rows={replicas.map(({ identity, scalers, isReachable }) => ({
            key: identity,
            cells: [
              <bdi>{identity}</bdi>,
              identity === leader && isReachable ? (
                <Badge tone="good" icon="ok" text="Leader" />
              ) : (
                <Reachability isReachable={isReachable} />
              ),
              formatCount(scalers),
            ],
          }))}
        />
      )}
      {others ? (
        <p class="muted">
          The leader is <bdi>{leader}</bdi>.
        </p>
      ) : null}
      {leader === null && replicas.length < 2 ? <p class="muted">The leader is unknown.</p> : null}
    </Section>
  );
}

interface HealthPartProps {
  readonly status: ServiceStatus;
}

function Rounds({ status: { rounds } }: HealthPartProps): VNode {
  const { last, periodSeconds, missed } = rounds;
  return (
    <Section title="Rounds">
      {last === null ? <p class="muted">This replica has made no decision yet.</p> : null}
      <Facts
        facts={[
          ...(last === null
            ? []
            : [
                { name: 'Last round', value: <Time at={last.at} show="ago" /> },
                { name: 'Duration', value: formatLatency(last.seconds) },
                { name: 'Lateness', value: formatLatency(last.latenessSeconds) },
                { name: 'Scalers', value: formatCount(last.scalers) },
              ]),
          { name: 'Sync period', value: formatDuration(periodSeconds) },
          { name: 'Missed rounds', value: formatCount(missed) },
        ]}
      />
    </Section>
  );
}

export function Kubernetes({ status: { kubernetes } }: HealthPartProps): VNode {
  const { isReachable, requests, errors, lastError } = kubernetes;
  return (
    <Section title="API server">
      <Facts
        facts={[
          { name: 'State', value: <Reachability isReachable={isReachable} /> },
          { name: 'Requests', value: formatCount(requests) },
          { name: 'Errors', value: formatCount(errors) },
          { name: 'Last error', value: <LastError error={lastError} /> },
        ]}
      />
    </Section>
  );
}

interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

function Facts({ facts }: { readonly facts: readonly Fact[] }): VNode {
  return (
    <dl class="health-facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ProblemsProps {
  readonly status: ServiceStatus;
}

/** Shows the problems of the documents, each with the lines of the document and a caret below the column. */
function Problems({ status: { problems } }: ProblemsProps): VNode | null {
  if (problems.length === 0) return null;
  return (
    <Section title="Problems in scaler documents" isWide>
      <ul class="health-problems">
        {problems.map(({ severity, code, message, file, line, excerpt }, index) => (
          <li key={`${index} ${code}`}>
            <p class="health-problem">
              {severity === 'error' ? (
                <Badge tone="bad" icon="error" text="Error" />
              ) : (
                <Badge tone="warn" icon="warning" text="Warning" />
              )}
              <span class="health-problem-message">
                <Sentence text={message} />
              </span>
              <code class="muted">{code}</code>
            </p>
            {file === null ? null : (
              <p class="mono muted">
                <bdi>{line === null ? file : `${file}:${line}`}</bdi>
              </p>
            )}
            {excerpt === null ? null : (
              // The excerpt scrolls if it is too wide, because a line break would move the caret away from its column.
              <pre class="health-excerpt" tabIndex={0} aria-label="Lines of the document" role="region">
                {excerpt}
              </pre>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Conflicts({ status: { conflicts } }: ProblemsProps): VNode | null {
  if (conflicts.length === 0) return null;
  return (
    <Section title="Conflicts with other writers" isWide>
      <ul class="health-problems">
        {conflicts.map(({ namespace, name, message }) => (
          <li key={`${namespace}/${name}`}>
            <p class="health-problem">
              <Badge tone="bad" icon="conflict" text="Conflict" />
              <a href={scalerLink(namespace, name)}>
                <bdi>
                  {namespace}/{name}
                </bdi>
              </a>
              <span class="health-problem-message">
                <Sentence text={message} />
              </span>
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
