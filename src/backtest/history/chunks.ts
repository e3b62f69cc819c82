import { addSeconds, type Instant, instantFromMs, secondsBetween } from '../../units/time.js';

/** A part of the history; it includes both ends. The points are multiples of the step since the epoch. */
export interface Chunk {
  readonly start: Instant;
  readonly end: Instant;
}

/** Below the limit of Prometheus of 11,000 points per series, and small enough for its default of 50 million samples. */
const CHUNK_POINTS = 4000;
const FEWEST_POINTS = 60;

/**
 * Divides a time range into chunks that begin at multiples of their length. Another time range then finds most of its
 * chunks in the cache.
 */
export function chunksOf(from: Instant, to: Instant, stepSeconds: number): readonly Chunk[] {
  const stepMs = stepSeconds * 1000;
  const lengthMs = stepMs * CHUNK_POINTS;
  const last = Math.floor(to / stepMs) * stepMs;
  const chunks: Chunk[] = [];
  for (let start = Math.ceil(from / stepMs) * stepMs; start <= last;) {
    const next = (Math.floor(start / lengthMs) + 1) * lengthMs;
    chunks.push({ start: instantFromMs(start), end: instantFromMs(Math.min(next - stepMs, last)) });
    start = next;
  }
  return chunks;
}

/** Returns the two halves of a chunk that a server rejected; null if the chunk is too small to divide. */
export function halvesOf({ start, end }: Chunk, stepSeconds: number): readonly [Chunk, Chunk] | null {
  const points = Math.floor(secondsBetween(start, end) / stepSeconds) + 1;
  if (points < 2 * FEWEST_POINTS) return null;
  const middle = addSeconds(start, Math.floor(points / 2) * stepSeconds);
  return [
    { start, end: addSeconds(middle, -stepSeconds) },
    { start: middle, end },
  ];
}
