import { useEffect, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { announce } from '../ui/announcer.jsx';
import { plural } from '../format/numbers.js';
import { keyOf } from './merge-overview.js';
import type { Fleet } from './merge-overview.js';
import { replicasText } from './row-texts.js';

const NO_NEWS: ReadonlyMap<string, string> = new Map();
/** Interval between announcements, each of which interrupts the reader. */
const QUIET_MS = 10_000;
const MAX_NAMED = 3;

/** Announces changed rows and returns their keys with the time of the answer. */
export function useNews(fleet: Fleet, clock: Clock): ReadonlyMap<string, string> {
  const [news, setNews] = useState(NO_NEWS);
  const announcedMs = useRef(-Infinity);
  useEffect(() => {
    if (fleet.news.length === 0) return;
    setNews(new Map(fleet.news.map((row) => [keyOf(row), fleet.facts.at])));
    if (clock.monotonicMs() - announcedMs.current < QUIET_MS) return;
    announcedMs.current = clock.monotonicMs();
    announce(sentenceOf(fleet.news));
  }, [fleet, clock]);
  return news;
}

function sentenceOf(news: Fleet['news']): string {
  if (news.length > MAX_NAMED) return `${plural(news.length, 'scaler')} changed`;
  return news.map((row) => `${row.name}: ${replicasText(row)} replicas`).join('. ');
}
