import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Identity } from '../access/viewer.js';

/**
 * Messages between replicas are encrypted and authenticated with AES-256-GCM. The key of each message is derived from
 * the shared key and from random bytes, so that two messages are never encrypted with the same key and IV. Source:
 * reliability.md, S28.
 */

/** A request that one replica sends to another. */
export interface PeerMessage {
  /** The identity of the receiver. All other replicas reject the request. */
  readonly to: string;
  /** Wall-clock time of the request in Unix milliseconds. */
  readonly atMs: number;
  readonly path: string;
  /** The ID of the last event that was received; null: only new events are requested, or no events at all. */
  readonly lastId: string | null;
  /** The identity of the client whose request the replica forwards. */
  readonly identity: Identity;
}

/** The shared key and the nonce of a request. Its answer is encrypted with them. */
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
/** Maximum length of the header with a request: the HTTP server of a replica accepts headers of 8 KiB in total. */
const MOST_HEADER_CHARACTERS = 7000;
const MOST_QUESTION_BYTES = 256 * 1024;

/** Encrypts a request as a header. Throws `RangeError` if a user has too many groups for a header. */
export function encryptRequest(
  question: PeerMessage,
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

/** Decrypts the request in a header; null: it was encrypted with none of the keys. */
export function decryptRequest(
  header: string,
  keys: readonly Buffer[],
): { readonly question: PeerMessage; readonly by: SealedBy } | null {
  const bytes = Buffer.from(header, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  for (const key of keys) {
    try {
      const text = decrypt(bytes.subarray(NONCE_BYTES), messageKey(key, nonce, 'question'), 0);
      const json = inflateRawSync(text, { maxOutputLength: MOST_QUESTION_BYTES }).toString('utf8');
      // The cast is safe, because only a replica can have encrypted the text.
      return { question: JSON.parse(json) as PeerMessage, by: { key, nonce } };
    } catch {
      // The request was encrypted with another key, or not at all.
    }
  }
  return null;
}

/** Encrypts an answer in chunks. */
interface ResponseEncryptor {
  readonly seal: (bytes: Buffer) => Buffer;
  /** Returns the last chunk, without which the answer counts as truncated. */
  readonly end: () => Buffer;
}

/**
 * Encrypts an answer as random bytes and frames. A frame consists of the length of its ciphertext, the ciphertext and a
 * tag. The IV of a frame is its position, so that no frame can be repeated, moved or removed. The first frame contains
 * the head of the answer; the last one is empty.
 */
export function createResponseEncryptor({ key, nonce }: SealedBy, head: () => AnswerHead): ResponseEncryptor {
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

/** Decrypts an answer while it arrives. */
export interface AnswerReader {
  /** Returns the authenticated bytes that a chunk completes. Throws if the answer is not from a replica. */
  readonly push: (piece: Buffer) => readonly Buffer[];
  /** Returns the status and media type of the answer; null: they have not arrived yet. */
  readonly head: () => AnswerHead | null;
  /** Returns whether the last frame has arrived. */
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
 * Parses a file of keys, with one key in each line and at least 32 characters in each key. The first key encrypts and
 * all keys decrypt, so that a key can be replaced without interrupting requests between old and new replicas.
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

/** Decrypts a frame. Throws if it was not encrypted with this key for this position. */
function decrypt(sealed: Buffer, key: Buffer, position: number): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, ivOf(position), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
}
