import type { VNode } from 'preact';
import type { ScalerDetail } from '../../api/answers.js';
import { formatCount } from '../format/numbers.js';
import { formatDuration, parseTime } from '../format/times.js';
import { Icon } from '../ui/icon.jsx';
import type { IconName } from '../ui/icon-paths.js';
import { LIMIT_NAMES } from '../ui/limit-names.js';
import { Time } from '../ui/time.jsx';
import { Sentence } from './text/sentence.jsx';
import { judge } from './model/verdict.js';
import type { Verdict } from './model/verdict.js';

const STYLES: Readonly<Record<Verdict['tone'], { readonly icon: IconName; readonly tone: string }>> = {
  calm: { icon: 'ok', tone: 'tone-good' },
  moving: { icon: 'scaling', tone: 'tone-info' },
  held: { icon: 'lock', tone: 'tone-warn' },
  failing: { icon: 'error', tone: 'tone-bad' },
};

interface VerdictCardProps {
  readonly detail: ScalerDetail;
  readonly nowMs: number;
}

/** Answers "Why did it not scale?": the result for the count, the sentence, and until when it applies. */
export function VerdictCard({ detail, nowMs }: VerdictCardProps): VNode {
  const { decision, outcome, reason, conditions, conflictingWriter, shadow, pause } = detail;
  const { tone, title, sentence, aside } = judge({ decision, outcome, reason, conditions });
  const style = STYLES[tone];
  const more = [aside ?? pause?.message, conflictingWriter?.message].filter((text) => text !== undefined);
  return (
    <section class={`card scaler-verdict ${style.tone}`} aria-label="The last decision">
      <h2>
        <Icon name={style.icon} />
        <span dir="auto">{title}</span>
      </h2>
      <p class="verdict-sentence">
        <Sentence text={sentence} nowMs={nowMs} />
      </p>
      {more.map((text) => (
        <p key={text}>
          <Sentence text={text} nowMs={nowMs} />
        </p>
      ))}
      {shadow === null ? null : (
        <p dir="auto">
          {shadow.beside} has {formatCount(shadow.theirReplicas)} desired replicas,{' '}
          {differenceOf(shadow.difference)}
        </p>
      )}
      <Facts detail={detail} nowMs={nowMs} />
    </section>
  );
}

function differenceOf(difference: number): string {
  if (difference === 0) return 'the same';
  return `promscaler ${formatCount(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'}`;
}

function Facts({ detail, nowMs }: VerdictCardProps): VNode {
  const { target, currentReplicas, minReplicas, maxReplicas, at, lastScaleUp, lastScaleDown } = detail;
  return (
    <dl class="scaler-facts">
      <div>
        <dt>Target</dt>
        <dd dir="auto">
          {target.kind} {target.name}
        </dd>
      </div>
      <div>
        <dt>Replicas</dt>
        <dd>
          <b>{formatCount(currentReplicas)}</b>, bounds {formatCount(minReplicas)} to{' '}
          {formatCount(maxReplicas)}
        </dd>
      </div>
      <div>
        <dt>Last decision</dt>
        <dd>
          <Time at={at} nowMs={nowMs} show="distance" />
        </dd>
      </div>
      <Until limits={detail.limits} nowMs={nowMs} />
      <div>
        <dt>Last scale-up</dt>
        <dd>
          <Time at={lastScaleUp} nowMs={nowMs} show="distance" />
        </dd>
      </div>
      <div>
        <dt>Last scale-down</dt>
        <dd>
          <Time at={lastScaleDown} nowMs={nowMs} show="distance" />
        </dd>
      </div>
    </dl>
  );
}

/** Shows the end of the limit that ends last, if it is known. */
function Until({
  limits,
  nowMs,
}: {
  readonly limits: ScalerDetail['limits'];
  readonly nowMs: number;
}): VNode | null {
  const ends = limits.flatMap(({ limit, until }) => {
    const ms = until === null ? null : parseTime(until);
    return ms === null || until === null || ms <= nowMs ? [] : [{ limit, until, ms }];
  });
  const last = ends.reduce<(typeof ends)[number] | null>((a, b) => (a === null || b.ms > a.ms ? b : a), null);
  if (last === null) return null;
  return (
    <div>
      <dt>Limited until</dt>
      <dd>
        <Time at={last.until} nowMs={nowMs} />, in {formatDuration((last.ms - nowMs) / 1000)} (
        {LIMIT_NAMES[last.limit]})
      </dd>
    </div>
  );
}
