import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Identity } from '../access/viewer.js';

/**
 * Messages between replicas are encrypted and authenticated by AES-256-GCM. The key of each message is derived from the
 * shared key and random bytes, so no key encrypts two messages with one IV. Source: reliability.md, S28.
 */

/** A request of one replica to another. */
export interface PeerQuestion {
  /** Identity of the recipient. Any other replica rejects the request. */
  readonly to: string;
  /** Wall-clock time of the request in milliseconds. */
  readonly atMs: number;
  readonly path: string;
  /** The last received event; null: only new events, or the request is not about events. */
  readonly lastId: string | null;
  /** The client on whose behalf the replica sends the request. */
  readonly identity: Identity;
}

/** The shared key and the nonce of a request, which encrypt its answer. */
export interface SealedBy {
  readonly key: Buffer;
  readonly nonce: Buffer;
}

export interface AnswerHead {
  readonly status: number;
  readonly type: string;
}

const NONCE_BYTES = 32;
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
/** The server of the other replica accepts 8 KiB of headers. */
const MOST_HEADER_CHARACTERS = 7000;
const MOST_QUESTION_BYTES = 256 * 1024;

/** Returns the header for a request. Throws `RangeError` if a user has too many groups for a header. */
export function sealQuestion(
  question: PeerQuestion,
  key: Buffer,
): { readonly header: string; readonly by: SealedBy } {
  const nonce = randomBytes(NONCE_BYTES);
  const text = deflateRawSync(JSON.stringify(question));
  const sealed = encrypt(text, messageKey(key, nonce, 'question'), 0);
  const header = Buffer.concat([nonce, sealed]).toString('base64url');
  if (header.length > MOST_HEADER_CHARACTERS)
    throw new RangeError('the identity of the client is too long for a header');
  return { header, by: { key, nonce } };
}

/** Decrypts the peer request in a header; null if no key decrypts it. */
export function openQuestion(
  header: string,
  keys: readonly Buffer[],
): { readonly question: PeerQuestion; readonly by: SealedBy } | null {
  const bytes = Buffer.from(header, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  for (const key of keys) {
    try {
      const text = decrypt(bytes.subarray(NONCE_BYTES), messageKey(key, nonce, 'question'), 0);
      const json = inflateRawSync(text, { maxOutputLength: MOST_QUESTION_BYTES }).toString('utf8');
      // Only a replica can have encrypted it.
      return { question: JSON.parse(json) as PeerQuestion, by: { key, nonce } };
    } catch {
      // Encrypted with another key, or not encrypted.
    }
  }
  return null;
}

/** Encrypts an answer chunk by chunk. */
interface AnswerSealer {
  readonly seal: (bytes: Buffer) => Buffer;
  /** Returns the last chunk. An answer without it counts as truncated. */
  readonly end: () => Buffer;
}

/**
 * An answer consists of random bytes and frames: the length of the ciphertext, the ciphertext and its tag. The IV of a
 * frame is its position, so no frame can be repeated, moved or removed. The first frame contains the head, the last one
 * is empty.
 */
export function createAnswerSealer({ key, nonce }: SealedBy, head: () => AnswerHead): AnswerSealer {
  const salt = randomBytes(SALT_BYTES);
  const frameKey = messageKey(key, Buffer.concat([nonce, salt]), 'answer');
  let position = 0;
  const frame = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length + TAG_BYTES);
    const sealed = Buffer.concat([length, encrypt(bytes, frameKey, position)]);
    position += 1;
    return sealed;
  };
  const begun = (): readonly Buffer[] =>
    position === 0 ? [salt, frame(Buffer.from(JSON.stringify(head())))] : [];
  return {
    seal: (bytes) => Buffer.concat([...begun(), ...(bytes.length === 0 ? [] : [frame(bytes)])]),
    end: () => Buffer.concat([...begun(), frame(Buffer.alloc(0))]),
  };
}

/** Decrypts an answer as it arrives. */
export interface AnswerReader {
  /** Returns the authenticated bytes that this chunk completes. Throws if the answer is not from a replica. */
  readonly push: (piece: Buffer) => readonly Buffer[];
  /** Null: the head has not arrived yet. */
  readonly head: () => AnswerHead | null;
  /** Whether the last frame has arrived. */
  readonly isWhole: () => boolean;
}

export function createAnswerReader({ key, nonce }: SealedBy, mostFrameBytes: number): AnswerReader {
  let pieces: Buffer[] = [];
  let waiting = 0;
  let needed = SALT_BYTES;
  let frameKey: Buffer | null = null;
  let isLength = false;
  let position = 0;
  let head: AnswerHead | null = null;
  let isWhole = false;

  const take = (): Buffer => {
    const all = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
    const taken = all.subarray(0, needed);
    pieces = [all.subarray(needed)];
    waiting -= needed;
    return taken;
  };
  const open = (sealed: Buffer): readonly Buffer[] => {
    if (frameKey === null) {
      frameKey = messageKey(key, Buffer.concat([nonce, sealed]), 'answer');
      return [];
    }
    const bytes = decrypt(sealed, frameKey, position);
    position += 1;
    if (position === 1) {
      head = JSON.parse(bytes.toString('utf8')) as AnswerHead;
      return [];
    }
    isWhole = bytes.length === 0;
    return isWhole ? [] : [bytes];
  };

  return {
    push: (piece) => {
      pieces.push(piece);
      waiting += piece.length;
      const opened: Buffer[] = [];
      while (waiting >= needed && !isWhole) {
        const taken = take();
        if (isLength) {
          needed = taken.readUInt32BE();
          if (needed < TAG_BYTES || needed > mostFrameBytes) throw new Error('a frame has an invalid length');
        } else {
          opened.push(...open(taken));
          needed = LENGTH_BYTES;
        }
        isLength = !isLength;
      }
      return opened;
    },
    head: () => head,
    isWhole: () => isWhole,
  };
}

const LEAST_KEY_CHARACTERS = 32;
const MOST_KEYS = 4;

/**
 * Parses a key file: one key per line, with at least 32 characters. The first key encrypts and all keys decrypt, so a
 * key can be replaced while all replicas understand each other.
 */
export function readPeerKeys(text: string | null): readonly Buffer[] {
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  return lines
    .filter(({ length }) => length >= LEAST_KEY_CHARACTERS)
    .slice(0, MOST_KEYS)
    .map((line) => Buffer.from(line));
}

function messageKey(key: Buffer, salt: Buffer, purpose: 'question' | 'answer'): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `promscaler peer ${purpose}`, 32));
}

function ivOf(position: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(position, 8);
  return iv;
}

function encrypt(bytes: Buffer, key: Buffer, position: number): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, ivOf(position), { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Throws if the bytes were not encrypted with this key at this position. */
function decrypt(sealed: Buffer, key: Buffer, position: number): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, ivOf(position), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
}
