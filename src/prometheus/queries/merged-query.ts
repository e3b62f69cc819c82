import { type FailureReason, INTERNAL_ERROR } from '../../units/failure.js';
import { groupBy } from '../../units/maps.js';
import { type Answer, withFields } from '../answers/answer.js';
import type { TimedAnswer } from '../source/queue.js';

/**
 * One query for several members (workloads or namespaces). Each member gets the answer that its own query would get.
 */
export interface MergedQuery {
  /** Sends the query. Maps each of `members` to its answer. No promise is rejected. */
  readonly sendLists: (
    /** The caller passes the same map object as in the last round if the members are the same. */
    members: ReadonlyMap<string, unknown>,
    round: MergedRound,
  ) => ReadonlyMap<string, Promise<Answer>>;
}

export interface MergedRound {
  /** Increases from round to round. */
  readonly round: number;
  /** Divides the members into lists, one for each query. `isClean`: none of the members had a recent failure. */
  readonly pack: (members: readonly string[], isClean: boolean) => readonly (readonly string[])[];
  /** While this value stays the same, the lists of the last round are used again. */
  readonly packKey: unknown;
  readonly queryMembers: (members: readonly string[]) => Promise<TimedAnswer>;
  readonly budget: SplitBudget;
}

/** Limits the queries of a round that only find out which members cause a failure. */
export interface SplitBudget {
  /**
   * Queries left for the members of one namespace (merged workloads), or for all members (merged namespaces). The limit
   * for each namespace leaves queries to the other namespaces.
   */
  left: number;
  /** Queries left for the data source. */
  readonly source: { left: number };
}

export const SPLITS_PER_NAMESPACE = 20;
export const SPLITS_PER_SOURCE = 40;

/** For this number of rounds after its last failure, a member is queried separately from members without failures. */
const APART_ROUNDS = 40;
/**
 * If a query fails although both of its halves succeed, and this happens twice within this number of rounds, the halves
 * stay separate.
 */
const REPEAT_ROUNDS = 4;

/** A member whose query failed recently and which therefore shares no query with clean members. */
interface Outlier {
  /** The kind of its failed answer. `apart`: both halves of a failed query were clean, so the halves stay separate. */
  readonly kind: AnswerKind | 'apart';
  /** The members of the query that failed: only this one, or several, one of which is the cause. */
  readonly set: readonly string[];
  /** The last answer to a query for this member alone; null: there was no such query. */
  own: Answer | null;
  /** The round of the last failure, and the round of the last query for this member alone. */
  failedAt: number;
  aloneAt: number;
  /** Whether this member shares no query, because a query for members of this kind failed in another way. */
  isSeparate: boolean;
}

type Group = Outlier['kind'] | Outlier['set'];

interface Found {
  readonly of: (member: string) => Answer;
  readonly isClean: boolean;
}

/**
 * Creates a merged query. An answer is clean if it is a value or has no series. A query whose answer is not clean is
 * split into halves, in this round and the next ones and within the budget, until the members that cause the failure
 * are known. From then on, members with the same kind of failure share a query. If this query twice fails in another
 * way, although each of them has only its own failure, each gets its own query. After 40 rounds, such a member is
 * queried alone; if the answer is clean, it shares a query with the clean members again. `onTooMany` is called if a
 * query for this number of members is too large, although the queries for its halves are not.
 */
export function createMergedQuery(parts: {
  /** Plural name of the members in messages. */
  readonly noun: string;
  readonly onTooMany: (count: number) => void;
  /** Called with an internal error of a query, whose members then have no value. */
  readonly onFault: (error: unknown) => void;
  /** Whether `pack` makes queries smaller after timeouts, so that a timeout separates no members. Default: false. */
  readonly learnsFromTimeouts?: boolean;
}): MergedQuery {
  const { noun, onTooMany, onFault, learnsFromTimeouts = false } = parts;
  const outliers = new Map<string, Outlier>();
  /** Changes whenever the set of outliers changes, so that the lists are built again. */
  let version = 0;
  let now = 0;
  let lastRound: number | null = null;
  /** The last two rounds in which a query failed in a way in which its parts did not. */
  let unexplained: readonly [number, number] = [-Infinity, -Infinity];
  let last: { readonly members: unknown; readonly packKey: unknown; readonly version: number } | null = null;
  let lists: readonly { readonly members: readonly string[]; readonly kind: Outlier['kind'] }[] = [];

  const note = (set: readonly string[], kind: Outlier['kind'], own: Answer | null): void => {
    version += 1;
    for (const member of set)
      outliers.set(member, { kind, set, own, failedAt: now, aloneAt: now, isSeparate: false });
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
    // If the query is invalid even for a single member, it is invalid for all members.
    if (kind === 'bad_query' && isBadQuery((await round.queryMembers(members.slice(0, 1))).answer))
      return whole;
    if (!SLOW_KINDS.has(kind) && spend(round.budget, 2)) return split(members, { kind, answer, round });
    note(members, kind, null);
    return { of: () => sharedAnswer(answer, members.length, noun), isClean: false };
  };

  /** Queries both halves. `answer`: the answer to the query for all `members` in this round; null: there was none. */
  const split = async (
    members: readonly string[],
    whole: { readonly kind: AnswerKind; readonly answer: Answer | null; readonly round: MergedRound },
  ): Promise<Found> => {
    const { kind, answer, round } = whole;
    const middle = Math.ceil(members.length / 2);
    const halves = [members.slice(0, middle), members.slice(middle)] as const;
    const [left, right] = await Promise.all(
      halves.map(async (half): Promise<Found> => {
        const timed = await round.queryMembers(half);
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

  /**
   * Called if a query failed although both of its halves were clean. Only the second time separates the halves, because
   * an outage that ends between the queries looks the same.
   */
  const separate = (halves: readonly (readonly string[])[], kind: AnswerKind): void => {
    if (kind === 'too_large' || kind === 'bad_query') {
      onTooMany(halves.reduce((count, { length }) => count + length, 0));
      return;
    }
    if (kind === 'timeout' && learnsFromTimeouts) return;
    if (noteUnexplained()) for (const half of halves) note(half, 'apart', null);
  };

  /**
   * Records that a query failed in a way in which its parts did not. Returns whether this also happened in one of the
   * last `REPEAT_ROUNDS` earlier rounds.
   */
  const noteUnexplained = (): boolean => {
    const [at, before] = unexplained;
    const previous = at === now ? before : at;
    unexplained = [now, previous];
    return now - previous <= REPEAT_ROUNDS;
  };

  /**
   * Called if a query for members with failures of this kind failed in another way. If each of them still has only its
   * own failure, the failure comes from their combination, so they share no query anymore.
   */
  const separateOutliers = (members: readonly string[], kind: Outlier['kind']): void => {
    const found = members.flatMap((member) => outliers.get(member) ?? []);
    const isCombined =
      found.length === members.length && found.every((one) => one.kind === kind && one.own !== null);
    if (isCombined && noteUnexplained()) {
      version += 1;
      for (const one of found) one.isSeparate = true;
    }
  };

  /** Sends one query for members whose last answers were of the same kind. */
  const sendOutliers = async (
    members: readonly string[],
    kind: Outlier['kind'],
    round: MergedRound,
  ): Promise<Found> => {
    const timed = await round.queryMembers(members);
    const { answer } = timed;
    const current = kindOf(timed);
    if (current === null) return { of: () => answer, isClean: false };
    if (current === 'clean') {
      // Members whose own query never failed count as clean again, because another member may have caused the failure.
      if (kind !== 'apart') release(members.filter((member) => outliers.get(member)?.own === null));
      return { of: () => answer, isClean: true };
    }
    if (current !== kind) {
      release(members);
      const found = await examine(members, timed, round);
      if (members.length > 1) separateOutliers(members, kind);
      return found;
    }
    const of = new Map<string, Answer>();
    for (const member of members) {
      const outlier = outliers.get(member);
      if (outlier === undefined) continue;
      outlier.failedAt = now;
      if (members.length === 1) [outlier.own, outlier.aloneAt] = [answer, now];
      const { own, set } = outlier;
      of.set(member, own === null ? sharedAnswer(answer, set.length, noun) : withOwnWords(answer, own));
    }
    return { of: (member) => of.get(member) ?? answer, isClean: false };
  };

  /** Returns the outliers whose sets are queried again in this round, and removes their members from `outliers`. */
  const takeDue = (members: ReadonlyMap<string, unknown>, { budget }: MergedRound): readonly Outlier[] => {
    const due = new Set<Outlier>();
    const sets = new Set<readonly string[]>();
    let hasSlow = false;
    for (const [member, outlier] of outliers) {
      const { kind, own, failedAt, aloneAt, set } = outlier;
      if (now - failedAt > APART_ROUNDS) {
        release([member]);
        continue;
      }
      if (!members.has(member) || kind === 'apart' || sets.has(set)) continue;
      // Members that are known to fail are queried again rarely, and only while more than half of the budget is left:
      // the rest is for finding other members that fail.
      if (own !== null && (now - aloneAt <= APART_ROUNDS || budget.left <= SPLITS_PER_NAMESPACE / 2))
        continue;
      const isSlow = SLOW_KINDS.has(kind);
      if ((isSlow && hasSlow) || !spend(budget, set.length === 1 ? 1 : 2)) continue;
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
    const timed = await round.queryMembers(set);
    if (kindOf(timed) === null) for (const member of set) outliers.set(member, outlier);
    return examine(set, timed, round);
  };

  /** Members with the same group share a query. */
  const groupOf = (member: string): Group => {
    const outlier = outliers.get(member);
    if (outlier === undefined) return 'clean';
    return outlier.kind === 'apart' || outlier.isSeparate ? outlier.set : outlier.kind;
  };

  const divide = (
    members: ReadonlyMap<string, unknown>,
    { pack, packKey }: MergedRound,
    due: ReadonlySet<string>,
  ): typeof lists => {
    if (due.size === 0 && last?.members === members && last.packKey === packKey && last.version === version)
      return lists;
    const others = [...members.keys()].filter((member) => !due.has(member));
    const groups = new Map<Group, readonly string[]>([['clean', []], ...groupBy(others, groupOf)]);
    lists = [...groups].flatMap(([group, all]) =>
      pack(all, group === 'clean').map((list) => ({
        members: list,
        kind: typeof group === 'string' ? group : (outliers.get(list[0] ?? '')?.kind ?? 'apart'),
      })),
    );
    last = due.size === 0 ? { members, packKey, version } : null;
    return lists;
  };

  return {
    sendLists: (members, round) => {
      if (round.round !== lastRound) now += 1;
      lastRound = round.round;
      const answers = new Map<string, Promise<Answer>>();
      const add = (list: readonly string[], sent: Promise<Found>): void => {
        const found = sent.catch(failed);
        for (const member of list)
          answers.set(
            member,
            found.then(({ of }) => of(member)),
          );
      };
      for (const outlier of takeDue(members, round)) add(outlier.set, sendDue(outlier, round));
      for (const { members: list, kind } of divide(members, round, new Set(answers.keys()))) {
        const sent =
          kind === 'clean'
            ? round.queryMembers(list).then((timed) => examine(list, timed, round))
            : sendOutliers(list, kind, round);
        add(list, sent);
      }
      return answers;
    },
  };
}

/** Returns whether this number of queries is left, and takes them from the budget. */
function spend(budget: SplitBudget, queries: number): boolean {
  if (Math.min(budget.left, budget.source.left) < queries) return false;
  budget.left -= queries;
  budget.source.left -= queries;
  return true;
}

/** Only members with the same kind of answer share a query. `clean`: the answer is a value, or has no series. */
type AnswerKind = 'clean' | 'partial' | 'invalid' | FailureReason;

/**
 * These failures usually concern the whole source, and some take long. Therefore the search for the members that cause
 * them splits at most one query in each round.
 */
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

/** Returns the kind of an answer; null: the answer says nothing about the members of the query. */
function kindOf({ answer, seconds }: TimedAnswer): AnswerKind | null {
  if (answer.class === 'value' || answer.class === 'missing') return 'clean';
  if (seconds === null) return null;
  if (answer.class !== 'failed') return answer.class;
  return OF_SOURCE.has(answer.reason) ? null : answer.reason;
}

function isBadQuery(answer: Answer): boolean {
  return answer.class === 'failed' && answer.reason === 'bad_query';
}

/** Returns the answer to a shared query for a member, with a note that another member may be the cause. */
function sharedAnswer(answer: Answer, count: number, noun: string): Answer {
  if (count === 1) return answer;
  const note = ` (one query for ${count} ${noun}; it is not known yet which of these is the cause)`;
  if (answer.class === 'partial') return withFields(answer, { why: answer.why + note });
  return 'message' in answer ? { ...answer, message: answer.message + note } : answer;
}

/**
 * Replaces the failure in the answer of a shared query by the failure of the last query for this member alone. In a
 * partial answer, replaces the reason.
 */
function withOwnWords(answer: Answer, own: Answer): Answer {
  if (answer.class === 'partial' && own.class === 'partial') return withFields(answer, { why: own.why });
  return 'message' in answer ? own : answer;
}
