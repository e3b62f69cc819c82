import type { FailureReason } from '../../units/failure.js';
import { type Answer, INTERNAL_ERROR } from '../answers/answer.js';

/** A query for several members (workloads or namespaces). Each member gets the answer that it would get alone. */
export interface MergedQuery {
  /** Returns a function that returns the answer for a member; null if it is not in `members`. */
  readonly send: (
    /** The same map as in the last round means the same members. */
    members: ReadonlyMap<string, unknown>,
    round: MergedRound,
  ) => (member: string) => Promise<Answer> | null;
}

export interface MergedRound {
  /** Increases from round to round. */
  readonly round: number;
  /** Groups members into one list per query. `isClean`: the members had no recent failure. */
  readonly pack: (members: readonly string[], isClean: boolean) => readonly (readonly string[])[];
  /** The lists of the last round are reused while this is unchanged. */
  readonly packKey: unknown;
  readonly query: (members: readonly string[]) => Promise<TimedAnswer>;
  readonly budget: SplitBudget;
}

/** Queries that a round may send to find the members that cause a failure. */
export interface SplitBudget {
  /** Queries left for a namespace, so that its workloads leave some to others, or for all namespaces. */
  left: number;
  /** Queries left for the data source. */
  readonly source: { left: number };
}

export const SPLITS_PER_NAMESPACE = 20;
export const SPLITS_PER_SOURCE = 40;

/** Rounds after its last failure in which a member shares no query with clean members. */
const APART_ROUNDS = 40;
/** If both halves of a failed query are clean twice within this number of rounds, they stay separate. */
const REPEAT_ROUNDS = 4;

/** A member that shares no query with clean members. */
interface Outlier {
  /** `apart`: clean alone, but not together with others. */
  readonly kind: AnswerKind | 'apart';
  /** The members of the failed query: only this one, or several that include the cause. */
  readonly set: readonly string[];
  /** The answer to a query for this member alone; null: there was none. */
  own: Answer | null;
  /** Round of the last failure, and of the last query for this member alone. */
  uncleanAt: number;
  aloneAt: number;
}

interface Found {
  readonly of: (member: string) => Answer;
  readonly isClean: boolean;
}

/**
 * Creates a merged query. If its answer is not clean (a value, or no series), it is split in halves within the budget,
 * in this round and the next ones, until the members that cause it are known. From then on, members with the same kind
 * of answer share a query. A member whose own query is clean joins the clean ones again; it is retried after 40 rounds.
 * `onTooMany`: the query for this number of members is too large, although the queries for its halves are not.
 */
export function createMergedQuery(parts: {
  /** Plural name of the members in messages. */
  readonly noun: string;
  readonly onTooMany: (count: number) => void;
  /** Called with an internal error. The members of the query then have no value. */
  readonly onFault: (error: unknown) => void;
  /** Whether `pack` learns from timeouts how many members a query may have. Default: false. */
  readonly learnsFromTimeouts?: boolean;
}): MergedQuery {
  const { noun, onTooMany, onFault, learnsFromTimeouts = false } = parts;
  const outliers = new Map<string, Outlier>();
  /** Changes whenever the set of outliers changes. */
  let version = 0;
  let now = 0;
  let lastRound: number | null = null;
  /** The last two rounds in which both halves of a failed query were clean. */
  let unexplained: readonly [number, number] = [-Infinity, -Infinity];
  let last: { readonly members: unknown; readonly packKey: unknown; readonly version: number } | null = null;
  let lists: readonly { readonly members: readonly string[]; readonly kind: Outlier['kind'] | 'clean' }[] =
    [];

  const note = (set: readonly string[], kind: Outlier['kind'], own: Answer | null): void => {
    version += 1;
    for (const member of set) outliers.set(member, { kind, set, own, uncleanAt: now, aloneAt: now });
  };
  const release = (members: readonly string[]): void => {
    version += 1;
    for (const member of members) outliers.delete(member);
  };

  const failed = (error: unknown): Found => {
    onFault(error);
    return { of: () => INTERNAL_ERROR, isClean: false };
  };

  const examine = async (
    members: readonly string[],
    timed: TimedAnswer,
    round: MergedRound,
  ): Promise<Found> => {
    const { answer } = timed;
    const kind = kindOf(timed);
    if (kind === 'clean') return { of: () => answer, isClean: true };
    const whole = { of: () => answer, isClean: false };
    if (kind === null) return whole;
    if (members.length === 1) {
      note(members, kind, answer);
      return whole;
    }
    // A query that is also invalid for one member is invalid for all.
    if (kind === 'bad_query' && isBadQuery((await round.query(members.slice(0, 1))).answer)) return whole;
    if (!SLOW_KINDS.has(kind) && take(round.budget, 2)) return split(members, { kind, answer, round });
    note(members, kind, null);
    return { of: () => sharedAnswer(answer, members.length, noun), isClean: false };
  };

  /** `answer`: of this round, for all `members`; null: there was none. */
  const split = async (
    members: readonly string[],
    whole: { readonly kind: AnswerKind; readonly answer: Answer | null; readonly round: MergedRound },
  ): Promise<Found> => {
    const { kind, answer, round } = whole;
    const middle = Math.ceil(members.length / 2);
    const halves = [members.slice(0, middle), members.slice(middle)] as const;
    const [left, right] = await Promise.all(
      halves.map(async (half): Promise<Found> => {
        const timed = await round.query(half);
        if (kindOf(timed) !== null) return examine(half, timed, round);
        note(half, kind, null);
        const of = answer === null ? timed.answer : sharedAnswer(answer, members.length, noun);
        return { of: () => of, isClean: false };
      }),
    );
    if (left === undefined || right === undefined) throw new Error('a query has two halves');
    if (left.isClean && right.isClean) separate(halves, kind);
    const inLeft = new Set(halves[0]);
    return { of: (member) => (inLeft.has(member) ? left : right).of(member), isClean: false };
  };

  /** An outage that ends between the queries has the same result, so only a repetition separates the halves. */
  const separate = (halves: readonly (readonly string[])[], kind: AnswerKind): void => {
    if (kind === 'too_large' || kind === 'bad_query') {
      onTooMany(halves.reduce((count, { length }) => count + length, 0));
      return;
    }
    if (kind === 'timeout' && learnsFromTimeouts) return;
    const [at, before] = unexplained;
    const previous = at === now ? before : at;
    unexplained = [now, previous];
    if (now - previous <= REPEAT_ROUNDS) for (const half of halves) note(half, 'apart', null);
  };

  /** Queries members whose last answer was of this kind. */
  const sendOutliers = async (
    members: readonly string[],
    kind: Outlier['kind'],
    round: MergedRound,
  ): Promise<Found> => {
    const timed = await round.query(members);
    const { answer } = timed;
    const current = kindOf(timed);
    if (current === null) return { of: () => answer, isClean: false };
    if (current === 'clean') {
      // They were never queried alone, so nothing shows that they are the cause.
      if (kind !== 'apart') release(members.filter((member) => outliers.get(member)?.own === null));
      return { of: () => answer, isClean: true };
    }
    if (current !== kind) {
      release(members);
      return examine(members, timed, round);
    }
    const of = new Map<string, Answer>();
    for (const member of members) {
      const outlier = outliers.get(member);
      if (outlier === undefined) continue;
      outlier.uncleanAt = now;
      if (members.length === 1) [outlier.own, outlier.aloneAt] = [answer, now];
      const { own, set } = outlier;
      of.set(member, own === null ? sharedAnswer(answer, set.length, noun) : withOwnWords(answer, own));
    }
    return { of: (member) => of.get(member) ?? answer, isClean: false };
  };

  /** Removes the sets that are queried again in this round from the outliers, and returns them. */
  const takeDue = (members: ReadonlyMap<string, unknown>, { budget }: MergedRound): readonly Outlier[] => {
    const due = new Set<Outlier>();
    const sets = new Set<readonly string[]>();
    let hasSlow = false;
    for (const [member, outlier] of outliers) {
      const { kind, own, uncleanAt, aloneAt, set } = outlier;
      if (now - uncleanAt > APART_ROUNDS) release([member]);
      if (!members.has(member) || kind === 'apart' || now - uncleanAt > APART_ROUNDS || sets.has(set))
        continue;
      // Retrying known members is less urgent than finding new ones.
      if (own !== null && (now - aloneAt <= APART_ROUNDS || budget.left <= SPLITS_PER_NAMESPACE / 2))
        continue;
      const isSlow = SLOW_KINDS.has(kind);
      if ((isSlow && hasSlow) || !take(budget, set.length === 1 ? 1 : 2)) continue;
      hasSlow ||= isSlow;
      sets.add(set);
      due.add({
        ...outlier,
        set: set.filter((each) => members.has(each) && outliers.get(each)?.set === set),
      });
    }
    for (const { set } of due) release(set);
    return [...due];
  };

  const sendDue = async (outlier: Outlier, round: MergedRound): Promise<Found> => {
    const { set, kind } = outlier;
    if (set.length > 1 && kind !== 'apart') return split(set, { kind, answer: null, round });
    const timed = await round.query(set);
    if (kindOf(timed) === null) for (const member of set) outliers.set(member, outlier);
    return examine(set, timed, round);
  };

  const divide = (
    members: ReadonlyMap<string, unknown>,
    { pack, packKey }: MergedRound,
    due: ReadonlySet<string>,
  ): typeof lists => {
    if (due.size === 0 && last?.members === members && last.packKey === packKey && last.version === version)
      return lists;
    const groups = new Map<
      unknown,
      { readonly kind: Outlier['kind'] | 'clean'; readonly members: string[] }
    >();
    groups.set('clean', { kind: 'clean', members: [] });
    for (const member of members.keys()) {
      if (due.has(member)) continue;
      const { kind = 'clean', set } = outliers.get(member) ?? {};
      const key = kind === 'apart' ? set : kind;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { kind, members: [member] });
      else group.members.push(member);
    }
    lists = Array.from(groups.values()).flatMap((group) =>
      pack(group.members, group.kind === 'clean').map((list) => ({ members: list, kind: group.kind })),
    );
    last = due.size === 0 ? { members, packKey, version } : null;
    return lists;
  };

  return {
    send: (members, round) => {
      if (round.round !== lastRound) now += 1;
      lastRound = round.round;
      const answers = new Map<string, Promise<Found>>();
      for (const outlier of takeDue(members, round)) {
        const found = sendDue(outlier, round).catch(failed);
        for (const member of outlier.set) answers.set(member, found);
      }
      for (const { members: list, kind } of divide(members, round, new Set(answers.keys()))) {
        const found =
          kind === 'clean'
            ? round.query(list).then((timed) => examine(list, timed, round))
            : sendOutliers(list, kind, round);
        const safe = found.catch(failed);
        for (const member of list) answers.set(member, safe);
      }
      return (member) => answers.get(member)?.then(({ of }) => of(member)) ?? null;
    },
  };
}

function take(budget: SplitBudget, queries: number): boolean {
  if (Math.min(budget.left, budget.source.left) < queries) return false;
  budget.left -= queries;
  budget.source.left -= queries;
  return true;
}

/** The answer to a query, and how long the server took; null: the query was not sent. */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly seconds: number | null;
  /** Time that the server had for its answer. Default: the time limit of a query. */
  readonly limit?: number | null;
}

/** Members share a query only if their answers are of the same kind. `clean`: a value, or no series. */
type AnswerKind = 'clean' | 'partial' | 'invalid' | FailureReason;

/** Often failures of the whole source, and expensive: the search for their cause sends one query per round. */
const SLOW_KINDS: ReadonlySet<AnswerKind | 'apart'> = new Set<AnswerKind>([
  'timeout',
  'server_error',
  'bad_answer',
  'unauthorized',
]);

/** Failures that do not depend on the query. */
const OF_SOURCE: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'busy',
  'connection',
  'rate_limited',
  'canceled',
]);

/** Returns null if the answer does not depend on the members of the query. */
function kindOf({ answer, seconds }: TimedAnswer): AnswerKind | null {
  if (answer.class === 'value' || answer.class === 'missing') return 'clean';
  if (seconds === null) return null;
  if (answer.class !== 'failed') return answer.class;
  return OF_SOURCE.has(answer.reason) ? null : answer.reason;
}

function isBadQuery(answer: Answer): boolean {
  return answer.class === 'failed' && answer.reason === 'bad_query';
}

/** Returns the answer to a shared query for one of its members, which may not be the cause of the failure. */
function sharedAnswer(answer: Answer, count: number, noun: string): Answer {
  if (count === 1) return answer;
  const note = ` (one query for ${count} ${noun}; which of them is the cause is not known yet)`;
  if (answer.class === 'partial') return withWhy(answer, answer.why + note);
  return 'message' in answer ? { ...answer, message: answer.message + note } : answer;
}

/** Returns the shared answer of members of one kind, with the last message of this member's own query. */
function withOwnWords(answer: Answer, own: Answer): Answer {
  if (answer.class === 'partial' && own.class === 'partial') return withWhy(answer, own.why);
  return 'message' in answer ? own : answer;
}

/** A spread would create an object for each series. */
function withWhy(answer: Extract<Answer, { readonly class: 'partial' }>, why: string): Answer {
  const { evaluatedAt, columns, urlIndex } = answer;
  return {
    class: 'partial',
    evaluatedAt,
    columns,
    urlIndex,
    why,
    get series() {
      return answer.series;
    },
  };
}
