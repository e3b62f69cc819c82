import { MAX_REPLICAS } from '../../units/bounds.js';
import type { Field } from './json-reader.js';
import {
  optional,
  readArray,
  readInstant,
  readInteger,
  readNumber,
  readObject,
  readString,
} from './json-reader.js';
import type { ForecastState, LoadHistory, Recommendation, ScaleEvent } from './snapshot.js';

export function readHistory(field: Field): LoadHistory {
  const history = readObject(field, ['leadSeconds', 'highest', 'seasons', 'unusable']);
  return {
    leadSeconds: readInteger(history.leadSeconds, 0),
    highest: readNumber(history.highest),
    seasons: readArray(history.seasons).map((entry) => {
      const { at, load, level } = readObject(entry, ['at', 'load', 'level']);
      return { at: readInstant(at), load: readNumber(load), level: readNumber(level) };
    }),
    unusable: optional(history.unusable, readString),
  };
}

export function readForecastState(field: Field): ForecastState {
  const state = readObject(field, ['at', 'minutes', 'reactive', 'proposals', 'spent', 'raises']);
  const reactive = readObject(state.reactive, ['replicas', 'lastScaleUp', 'lastScaleDown', 'scaleEvents']);
  return {
    at: readInstant(state.at),
    minutes: readArray(state.minutes).map((entry) => {
      const { at, sum, count } = readObject(entry, ['at', 'sum', 'count']);
      return { at: readInstant(at), sum: readNumber(sum), count: readInteger(count, 1) };
    }),
    reactive: {
      replicas: readInteger(reactive.replicas, 0),
      lastScaleUp: optional(reactive.lastScaleUp, readInstant),
      lastScaleDown: optional(reactive.lastScaleDown, readInstant),
      scaleEvents: readArray(reactive.scaleEvents).map(readScaleEvent),
    },
    proposals: readArray(state.proposals).map(readRecommendation),
    spent: readArray(state.spent).map((entry) => {
      const part = readObject(entry, ['from', 'reactive', 'added', 'short', 'prevented']);
      return {
        from: readInstant(part.from),
        reactive: readNumber(part.reactive),
        added: readNumber(part.added),
        short: readNumber(part.short),
        prevented: readNumber(part.prevented),
      };
    }),
    raises: (optional(state.raises, readArray) ?? []).map((entry) => {
      const raise = readObject(entry, ['from', 'until', 'added', 'prevented']);
      return {
        from: readInstant(raise.from),
        until: readInstant(raise.until),
        added: readNumber(raise.added),
        prevented: readNumber(raise.prevented),
      };
    }),
  };
}

export function readRecommendation(field: Field): Recommendation {
  const { at, replicas } = readObject(field, ['at', 'replicas']);
  return { at: readInstant(at), replicas: readInteger(replicas, 0) };
}

export function readScaleEvent(field: Field): ScaleEvent {
  const { at, change, earliest } = readObject(field, ['at', 'change', 'earliest']);
  const event = { at: readInstant(at), change: readInteger(change, -MAX_REPLICAS) };
  const first = optional(earliest, readInstant);
  return first === null ? event : { ...event, earliest: first };
}
