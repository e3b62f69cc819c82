import { MAX_REPLICAS } from '../../units/bounds.js';
import {
  type Field,
  ifSet,
  integerFrom,
  listOf,
  orElse,
  orNull,
  readFields,
  readInstant,
  readNumber,
  readString,
} from './json-reader.js';
import type { ForecastState, LoadHistory, Recommendation, ScaleEvent } from './snapshot.js';

export function readHistory(field: Field): LoadHistory {
  return readFields(field, {
    leadSeconds: integerFrom(0),
    highest: readNumber,
    seasons: listOf((season) => readFields(season, { at: readInstant, load: readNumber, level: readNumber })),
    unusable: orNull(readString),
  });
}

export function readForecastState(field: Field): ForecastState {
  return readFields(field, {
    at: readInstant,
    minutes: listOf((minute) =>
      readFields(minute, { at: readInstant, sum: readNumber, count: integerFrom(1) }),
    ),
    reactive: (reactive) =>
      readFields(reactive, {
        replicas: integerFrom(0),
        lastScaleUp: orNull(readInstant),
        lastScaleDown: orNull(readInstant),
        scaleEvents: listOf(readScaleEvent),
      }),
    proposals: listOf(readRecommendation),
    spent: listOf((part) =>
      readFields(part, {
        from: readInstant,
        reactive: readNumber,
        added: readNumber,
        short: readNumber,
        prevented: readNumber,
      }),
    ),
    raises: orElse(
      listOf((raise) =>
        readFields(raise, {
          from: readInstant,
          until: readInstant,
          added: readNumber,
          prevented: readNumber,
        }),
      ),
      [],
    ),
  });
}

export function readRecommendation(field: Field): Recommendation {
  return readFields(field, { at: readInstant, replicas: integerFrom(0) });
}

export function readScaleEvent(field: Field): ScaleEvent {
  return readFields(field, {
    at: readInstant,
    change: integerFrom(-MAX_REPLICAS),
    earliest: ifSet(readInstant),
  });
}
